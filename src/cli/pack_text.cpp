// SPDX-License-Identifier: Apache-2.0
#include "cli/pack_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/csv.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/table.h"
#include "predict/pack_names.h"

namespace joulecast::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr auto kLeft = Table::Align::kLeft;
constexpr auto kRight = Table::Align::kRight;

// Packs come from anywhere: what is not there, or is something else, is null.
const Json& at(const Json& json, const std::string& key) {
  static const Json kNone = nullptr;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? *found : kNone;
}

std::string text(const Json& json) {
  return json.is_string() ? printable(json.get<std::string>()) : std::string();
}

std::string count(const Json& json) {
  return json.is_number_unsigned() ? std::to_string(json.get<std::uint64_t>()) : "-";
}

std::string percent(const Json& share, int digits = 1) {
  if (!share.is_number()) return "-";
  const double value = share.get<double>() * 100.0;
  return std::abs(value) < 1e5 ? fmt::format("{:.{}f}", value, digits) : fmt::format("{:.0e}", value);
}

std::string r2(const Json& value) {
  if (!value.is_number()) return "-";
  const double number = value.get<double>();
  return std::abs(number) < 100.0 ? fmt::format("{:.3f}", number) : fmt::format("{:.0e}", number);
}

Result<Json> json_of(const Pack& pack, std::string_view section) {
  JC_ASSIGN_OR_RETURN(const std::string_view text, pack.json(section));
  // What lies deeper is nothing of ours, and printing it would take as deep a stack.
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth < 32; };
  return Json::parse(text, shallow, false);
}

Result<Json> report_of(const Pack& pack) {
  JC_ASSIGN_OR_RETURN(Json report, json_of(pack, pack_names::kReport));
  if (at(report, "schema") != "joulecast.pack-report/1") return invalid("the pack's report is none of ours");
  return report;
}

// What corrected single GPUs; empty for a pack that nothing did.
Result<Json> corrected_of(const Pack& pack) {
  const std::vector<std::string_view> texts = pack.jsons();
  if (std::find(texts.begin(), texts.end(), pack_names::kCorrected) == texts.end()) return Json::object();
  return json_of(pack, pack_names::kCorrected);
}

std::string corrected_text(const Json& corrected) {
  Table table({{"GPU", kLeft, 30},
               {"rows", kRight},
               {"time", kRight},
               {"after", kRight},
               {"power", kRight},
               {"after", kRight}});
  if (!corrected.is_object()) return {};
  for (const auto& [gpu, said] : corrected.items()) {
    const Json& time = at(said, "time");
    const Json& power = at(said, "power");
    table.add({printable(gpu), count(at(time, "rows")), percent(at(time, "mape_before")),
               percent(at(time, "mape_after")), percent(at(power, "mape_before")), percent(at(power, "mape_after"))});
  }
  if (table.row_count() == 0) return {};
  return "\nCorrected by measurements there; mean errors in percent, before, and after each\nby a correction made with "
         "the others.\n" +
         table.text(2);
}

std::string sources_text(const Json& fitted_on) {
  Table table({{"layout"}, {"used", kRight}, {"not needed", kRight}, {"left out", kRight}, {"refused", kRight}});
  for (const Json& source : at(fitted_on, "sources")) {
    table.add({text(at(source, "layout")), count(at(source, "used")), count(at(source, "not_needed")),
               count(at(source, "left_out")), count(at(source, "refused"))});
  }
  if (table.row_count() == 0) return {};
  return "\nRows. Not needed: more than enough are used of what is measured alike.\n" + table.text(2);
}

struct Reason {
  std::uint64_t rows;
  std::string text;
};

std::string reasons_text(const Json& fitted_on) {
  constexpr std::size_t kShown = 12;
  std::vector<Reason> reasons;
  for (const Json& source : at(fitted_on, "sources")) {
    for (const Json& because : at(source, "refused_because")) {
      const Json& rows = at(because, "rows");
      if (!rows.is_number_unsigned()) continue;
      reasons.push_back({rows.get<std::uint64_t>(), fmt::format("{} of {}: {}", count(rows), text(at(source, "layout")),
                                                                text(at(because, "reason")))});
    }
  }
  std::stable_sort(reasons.begin(), reasons.end(), [](const Reason& a, const Reason& b) { return a.rows > b.rows; });
  std::string out = reasons.empty() ? "" : "\nRefused:\n";
  for (std::size_t i = 0; i < std::min(kShown, reasons.size()); ++i)
    out += wrapped("  " + reasons[i].text, kWidth, 4) + "\n";
  if (reasons.size() > kShown)
    out += fmt::format("  and {} further reasons: --json lists them all\n", reasons.size() - kShown);
  return out;
}

std::string groups_text(const Json& groups) {
  Table table({{"group"},
               {"rows", kRight},
               {"with power", kRight},
               {"operations", kRight},
               {"GPUs", kRight},
               {"features", kRight},
               {"trees", kRight}});
  if (!groups.is_object()) return {};
  for (const auto& [name, group] : groups.items()) {
    const Json& time = at(group, "time");
    const Json& power = at(group, "power");
    table.add({printable(name), count(at(group, "rows")), count(at(group, "rows_with_power")),
               count(at(group, "operations")), std::to_string(at(group, "gpus").size()),
               fmt::format("{}+{}", at(time, "features").size(), at(power, "features").size()),
               fmt::format("{}+{}", count(at(time, "trees")), count(at(power, "trees")))});
  }
  return "\nGroups of operations; features and trees of time + power.\n" + table.text(2);
}

// Of "aic_gemm/a100_sxm/inference".
struct CellName {
  std::string layout, rest;
};
CellName cell_name(std::string_view key) {
  const std::size_t first = std::min(key.find('/'), key.size());
  const std::size_t last = key.rfind('/');
  if (last == std::string_view::npos || last == first) return {std::string(), printable(key)};
  return {printable(key.substr(0, first)),
          printable(fmt::format("  {}, {}", key.substr(first + 1, last - first - 1), key.substr(last + 1)))};
}

std::string cells_text(const Json& cells, const std::string& how) {
  Table table({{"layout, GPU, mode", kLeft, 60},
               {"n", kRight},
               {"bound", kRight},
               {"time", kRight},
               {"median", kRight},
               {"R2", kRight},
               {"power", kRight},
               {"energy", kRight}});
  if (!cells.is_object()) return {};
  std::string layout;
  for (const auto& [key, cell] : cells.items()) {
    const Json& time = at(cell, "time");
    const CellName name = cell_name(key);
    if (name.layout != layout) table.add({layout = name.layout, "", "", "", "", "", "", ""});
    table.add({name.rest, count(at(time, "n")), percent(at(at(cell, "time_bound_alone"), "mape")),
               percent(at(time, "mape")), percent(at(time, "median_ape")), r2(at(time, "r2")),
               percent(at(at(cell, "power"), "mape")), percent(at(at(cell, "energy"), "mape"))});
  }
  if (table.row_count() == 0) return {};
  return fmt::format(
      "\n{}:\n"
      "mean error in percent of the bound alone, of time, power and energy; median and\n"
      "R2 of time.\n{}",
      wrapped("Held out, " + how, kWidth - 1, 0), table.text());
}

std::string curves_text(const Json& scenarios) {
  Table table({{"known"}, {"T", kRight}, {"P", kRight}, {"no gain", kRight}});
  for (const Json& f : scenarios) {
    if (!at(f, "time_error").is_number()) continue;  // rules predict no curve
    table.add({text(at(f, "scenario")), percent(at(f, "time_error")), percent(at(f, "power_error")),
               fmt::format("{}/{}", count(at(f, "gain_right")), count(at(f, "gain_judged")))});
  }
  return table.text(2);
}

std::string regrets_text(const Json& scenarios) {
  Table table({{"known"},
               {"E", kRight},
               {"<=1/3", kRight},
               {"smooth", kRight},
               {"<=1/3", kRight},
               {"EDP", kRight},
               {"<=1/3", kRight},
               {"smooth", kRight},
               {"<=1/3", kRight}});
  for (const Json& f : scenarios) {
    std::vector<std::string> cells{text(at(f, "scenario"))};
    for (const char* key : {"energy_regret", "energy_regret_smooth", "edp_regret", "edp_regret_smooth"}) {
      const Json& regret = at(f, key);
      cells.push_back(percent(at(regret, "mean")));
      cells.push_back(
          fmt::format("{}/{}", percent(at(regret, "within_1_percent"), 0), percent(at(regret, "within_3_percent"), 0)));
    }
    table.add(std::move(cells));
  }
  return table.text(2);
}

std::string settings_text(const Json& settings) {
  if (!settings.is_object()) return "\nNothing is known of clocks and power limits.\n";
  std::string out = fmt::format("\nClocks and power limits: fitted to {} sweeps on {} GPUs.\n",
                                count(at(settings, "sweeps")), at(settings, "gpus").size());
  const Json& scenarios = at(settings, "left_out");
  if (!scenarios.is_array() || scenarios.empty()) return out;
  out += fmt::format(
      "Judged on {} of them, those that limits act on, each with its workload left out;\nerrors in percent.\n"
      "known: GPU swept or not, and the limits measured beside the default, in percent.\n"
      "T, P: mean error of time and power from half of the default limit up.\n"
      "no gain: whether a saving of at most 2 % was said where it is so, of all sweeps.\n{}",
      count(at(scenarios.front(), "sweeps")), curves_text(scenarios));
  out += fmt::format(
      "E, EDP: lost at the recommended limit, the mean and the shares of sweeps within\n"
      "1 and 3 %; on measured values and on smoothed curves.\n{}",
      regrets_text(scenarios));
  return out;
}

// Whether the bounds of "operation/GROUP/seen/time" follow what is foretold of each operation.
bool has_spread(std::string_view key, const std::vector<std::string_view>& forests) {
  constexpr std::string_view kBefore = "operation/", kSeen = "/seen/";
  const std::size_t seen = key.find(kSeen);
  if (!key.starts_with(kBefore) || seen == std::string_view::npos) return false;
  const std::string forest =
      pack_names::spread(key.substr(seen + kSeen.size()), key.substr(kBefore.size(), seen - kBefore.size()));
  return std::find(forests.begin(), forests.end(), forest) != forests.end();
}

// "operation/conv/seen/time" and its like: one row for the three quantities of the rest.
std::string intervals_text(const Pack& pack, const TableView& intervals) {
  Table table({{"of"}, {"time", kRight}, {"power", kRight}, {"energy", kRight}});
  constexpr std::string_view kTime = "/time";
  const std::vector<std::string_view> forests = pack.forests();
  bool any_spread = false;
  const auto factor = [&](const std::string& key) {
    const auto value = intervals.find(key);
    if (!value) return std::string("-");
    if (!has_spread(key, forests)) return fmt::format("{:.2f}", std::exp(*value));
    any_spread = true;
    return fmt::format("{:.2f}*", *value);
  };
  const auto add = [&](const std::string& shown, const std::string& before, const std::string& after) {
    table.add(
        {shown, factor(before + "time" + after), factor(before + "power" + after), factor(before + "energy" + after)});
  };
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const std::string key(intervals.key(i));
    if (!key.starts_with("operation/") || !key.ends_with(kTime)) continue;
    const std::string before = key.substr(0, key.size() - kTime.size() + 1);
    add(printable(before.substr(10, before.size() - 11)), before, "");
  }
  for (const char* support : {"inside", "edge", "outside"})
    add(fmt::format("networks, {}", support), "network/", fmt::format("/{}", support));
  return "\nIntervals of 90 %: value / factor to value x factor.\n" + table.text(2) +
         (any_spread ? "* times the operation's own spread: the factor is exp of both multiplied\n" : "");
}

}  // namespace

Result<std::string> pack_text(const Pack& pack) {
  JC_ASSIGN_OR_RETURN(const Json report, report_of(pack));
  JC_ASSIGN_OR_RETURN(const TableView intervals, pack.table(pack_names::kIntervals));
  const Json& splits = at(report, "splits");
  const std::string made_by = text(at(report, "made_by"));
  std::string out = fmt::format("Made by {}{}.\n", made_by.empty() ? "an older joulecast" : made_by,
                                at(report, "quick") == true ? ", without held-out figures" : "");
  out += sources_text(at(report, "fitted_on"));
  out += reasons_text(at(report, "fitted_on"));
  out += groups_text(at(report, "groups"));
  const auto how = [&](const char* split, const char* otherwise) {
    const std::string said = text(at(splits, split));
    return said.empty() ? std::string(otherwise) : said;
  };
  out += cells_text(at(report, "held_out_operations"), how("operations", "folds over distinct operations"));
  out += cells_text(at(report, "held_out_gpus"), how("gpus", "each GPU left out in turn"));
  out += settings_text(at(report, "settings"));
  JC_ASSIGN_OR_RETURN(const Json corrected, corrected_of(pack));
  out += corrected_text(corrected);
  out += intervals_text(pack, intervals);
  if (at(report, "calibration").is_object())
    out += "Judged on families of networks and GPUs that were left out (a calibration file).\n";
  return out;
}

Result<std::string> pack_json(const Pack& pack) {
  JC_ASSIGN_OR_RETURN(Json report, report_of(pack));
  JC_ASSIGN_OR_RETURN(const TableView intervals, pack.table(pack_names::kIntervals));
  Json factors = Json::object();
  for (std::size_t i = 0; i < intervals.size(); ++i)
    factors[std::string(intervals.key(i))] = std::exp(intervals.value(i));
  report["interval_factors"] = std::move(factors);
  JC_ASSIGN_OR_RETURN(report["corrected"], corrected_of(pack));
  return json_text(report);
}

Result<std::string> pack_csv(const Pack& pack) {
  JC_ASSIGN_OR_RETURN(const Json report, report_of(pack));
  std::string out = "held_out,table_gpu_mode,quantity,n,r2,mape,median_ape,p90_ape,bias\r\n";
  for (const char* split : {"operations", "gpus"}) {
    const Json& cells = at(report, fmt::format("held_out_{}", split));
    if (!cells.is_object()) continue;
    for (const auto& [key, cell] : cells.items()) {
      for (const char* what : {"time", "time_bound_alone", "power", "energy"}) {
        const Json& f = at(cell, what);
        out += fmt::format("{},{},{},{}", split, csv_field(key), what, count(at(f, "n")));
        for (const char* figure : {"r2", "mape", "median_ape", "p90_ape", "bias"})
          out += at(f, figure).is_number() ? fmt::format(",{}", at(f, figure).get<double>()) : ",";
        out += "\r\n";
      }
    }
  }
  return out;
}

}  // namespace joulecast::cli
