// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/json.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "dataset/table.h"
#include "fit/settings/fit_settings.h"
#include "fit/settings/judge.h"
#include "predict/pack/writer.h"
#include "predict/pack_names.h"

namespace joulecast::cli {
namespace {

using settings::JudgedSweep;
using settings::ScenarioFigures;
using settings::SettingsModel;
using settings::Sweep;
using settings::SweepSet;

struct TrainSettingsVerb {
  std::vector<std::string> tables;
  std::string out, pack;
  bool quick = false;
  Form form;
};

std::string percent(std::optional<double> share, int digits) {
  return share ? fmt::format("{:.{}f}", *share * 100.0, digits) : "-";
}

using Align = Table::Align;

std::string curves_table(const std::vector<ScenarioFigures>& figures) {
  Table table({{"known", Align::kLeft, 40}, {"T", Align::kRight}, {"P", Align::kRight}, {"no gain", Align::kRight}});
  for (const ScenarioFigures& f : figures) {
    if (!f.time_error) continue;  // rules predict no curve
    table.add({std::string(name(f.scenario)), percent(f.time_error, 1), percent(f.power_error, 1),
               fmt::format("{}/{}", f.gain_right, f.gain_judged)});
  }
  return table.text();
}

std::string regrets_table(const std::vector<ScenarioFigures>& figures) {
  Table table({{"known", Align::kLeft, 40},
               {"E", Align::kRight},
               {"<=1/3", Align::kRight},
               {"smooth", Align::kRight},
               {"<=1/3", Align::kRight},
               {"EDP", Align::kRight},
               {"<=1/3", Align::kRight},
               {"smooth", Align::kRight},
               {"<=1/3", Align::kRight}});
  for (const ScenarioFigures& f : figures) {
    std::vector<std::string> cells{std::string(name(f.scenario))};
    for (const ScenarioFigures::Regret* r : {&f.energy, &f.energy_smooth, &f.edp, &f.edp_smooth}) {
      cells.push_back(percent(r->mean, 1));
      cells.push_back(fmt::format("{}/{}", percent(r->within_1, 0), percent(r->within_3, 0)));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string text(const std::vector<ScenarioFigures>& figures) {
  if (figures.empty()) return {};
  return fmt::format(
      "{} sweeps that limits act on, each with its workload left out; errors in percent.\n"
      "known: GPU swept or not, and the limits measured beside the default, in percent.\n"
      "T, P: mean error of time and power from half of the default limit up.\n"
      "no gain: whether a saving of at most 2 % was said where it is so, of all sweeps.\n\n{}\n"
      "E, EDP: lost at the recommended limit, the mean and the shares of sweeps within\n"
      "1 and 3 %; on measured values and on smoothed curves.\n\n{}",
      figures.front().sweeps, curves_table(figures), regrets_table(figures));
}

Json regret_json(const ScenarioFigures::Regret& r) {
  return {{"mean", r.mean}, {"within_1_percent", r.within_1}, {"within_3_percent", r.within_3}};
}

Json figures_json(const std::vector<ScenarioFigures>& figures) {
  Json out = Json::array();
  for (const ScenarioFigures& f : figures) {
    out.push_back({{"scenario", name(f.scenario)},
                   {"sweeps", f.sweeps},
                   {"time_error", f.time_error ? Json(*f.time_error) : Json(nullptr)},
                   {"power_error", f.power_error ? Json(*f.power_error) : Json(nullptr)},
                   {"energy_regret", regret_json(f.energy)},
                   {"energy_regret_smooth", regret_json(f.energy_smooth)},
                   {"edp_regret", regret_json(f.edp)},
                   {"edp_regret_smooth", regret_json(f.edp_smooth)},
                   {"gain_right", f.gain_right},
                   {"gain_judged", f.gain_judged}});
  }
  return out;
}

Json counts_json(const SweepSet& set) {
  Json out = Json::object();
  for (const auto& [layout, rows] : set.used) out[layout]["used"] = rows;
  for (const auto& [layout, refused] : set.refused) {
    out[layout]["refused"] = refused.rows();
    for (const Refusal& refusal : refused.by_frequency()) out[layout]["because"][refusal.reason] = refusal.count;
  }
  return out;
}

Json report(const SweepSet& set, const std::vector<ScenarioFigures>& figures) {
  return {{"schema", "joulecast.settings-report/1"},
          {"rows", counts_json(set)},
          {"sweeps", set.sweeps.size()},
          {"left_out", figures_json(figures)}};
}

// Every judged sweep, a line each.
std::string csv(const std::vector<JudgedSweep>& judged) {
  std::string out =
      "scenario,gpu,workload,variant,active,time_error,power_error,energy_regret,edp_regret,energy_regret_smooth,"
      "edp_regret_smooth,gain_right\r\n";
  const auto optional = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string(); };
  for (const JudgedSweep& j : judged) {
    out += fmt::format("{},{},{},{},{:d},{},{},{},{},{},{},{}\r\n", csv_field(name(j.scenario)), j.sweep->gpu->id,
                       csv_field(j.sweep->workload), csv_field(j.sweep->variant), j.active, optional(j.time_error),
                       optional(j.power_error), j.energy_regret, j.edp_regret, j.energy_regret_smooth,
                       j.edp_regret_smooth, optional(j.gain_right));
  }
  return out;
}

// Without judging the wide defaults stay.
void add_widths(const std::vector<JudgedSweep>& judged, SettingsModel& model) {
  using settings::Scenario;
  if (judged.empty()) return;
  model.set_widths(true, false, settings::widths_of(judged, Scenario::kKnownGpu));
  model.set_widths(true, true, settings::widths_of(judged, Scenario::kKnownGpuOne));
  model.set_widths(false, false, settings::widths_of(judged, Scenario::kUnseenGpu));
  model.set_widths(false, true, settings::widths_of(judged, Scenario::kUnseenGpuOne));
}

Result<void> write_pack(const TrainSettingsVerb& options, const SweepSet& set, const std::vector<JudgedSweep>& judged,
                        const Json& told) {
  settings::SweepViews all;
  for (const Sweep& sweep : set.sweeps) all.push_back(&sweep);
  SettingsModel model = settings::fit_settings(all);
  add_widths(judged, model);
  PackWriter writer;
  if (!options.pack.empty()) {
    JC_ASSIGN_OR_RETURN(const Pack pack, Pack::open(options.pack));
    JC_RETURN_IF_ERROR(writer.add_sections_of(pack, pack_names::kSettings));
  }
  JC_RETURN_IF_ERROR(writer.add_table(std::string(pack_names::kSettings), model.numbers()));
  JC_RETURN_IF_ERROR(writer.add_json(std::string(pack_names::kSettings), told.dump(1)));
  return writer.write(options.out);
}

Result<SweepSet> read_sweeps(const std::vector<std::string>& tables) {
  settings::SweepRows rows;
  for (const std::string& path : tables) {
    std::size_t found = 0;
    TableSink sink;
    sink.other = [&](const MeasuredOther& row) {
      if (!settings::sweep_rank(row.from.table)) return;
      ++found;
      rows.add(row);
    };
    JC_ASSIGN_OR_RETURN(const joulecast::Table table, read_table(path, sink));
    if (found == 0)
      return invalid(fmt::format("{}: a table of '{}' has no sweeps of clocks or limits", path, table.layout));
  }
  return rows.sweeps(Catalogue::shipped());
}

Outcome run_train_settings(const TrainSettingsVerb& options, Output& output) {
  JC_ASSIGN_OR_RETURN(const SweepSet set, read_sweeps(options.tables));
  std::vector<JudgedSweep> judged;
  if (!options.quick) judged = settings::judge(set, [&](const std::string& step) { output.note(step); });
  const std::vector<ScenarioFigures> figures =
      judged.empty() ? std::vector<ScenarioFigures>() : settings::figures_of(judged);
  const Json told = report(set, figures);
  if (!options.out.empty()) JC_RETURN_IF_ERROR(write_pack(options, set, judged, told));
  output.write(options.form.json ? json_text(told) : options.form.csv ? csv(judged) : text(figures));
  return {};
}

}  // namespace

Action define_train_settings(CLI::App& app) {
  auto options = std::make_shared<TrainSettingsVerb>();
  app.add_option("TABLE", options->tables, "sweeps of clocks and power limits, recognised by their header")
      ->required()
      ->type_name(kFile);
  app.add_option("-o,--output", options->out, "pack to write the settings to (default: only judge)")->type_name(kFile);
  app.add_option("--pack", options->pack, "pack whose other sections the written one takes over")->type_name(kFile);
  app.add_flag("--quick", options->quick, "no judging on what was left out")->option_text(" ");
  add_form(app, options->form);
  add_examples(app, {"joulecast train-settings zeus_power_limit_sweep.csv perseus_*.csv",
                     "joulecast train-settings zeus_power_limit_sweep.csv --quick --pack my.jcpack -o my.jcpack"});
  return [options](Output& output) { return run_train_settings(*options, output); };
}

}  // namespace joulecast::cli
