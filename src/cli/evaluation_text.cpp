// SPDX-License-Identifier: Apache-2.0
#include "cli/evaluation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "cli/json.h"
#include "cli/output.h"
#include "cli/table.h"
#include "joulecast/predict.h"

namespace joulecast::cli {
namespace {

constexpr std::size_t kWidth = 80;

// The quantities of a group, by name.
std::array<std::pair<std::string_view, const Judgement*>, 4> quantities(const EvaluationGroup& g) {
  return {{{"time", &g.time}, {"power", &g.power}, {"energy", &g.energy}, {"memory", &g.memory}}};
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json judgement_json(const Judgement& j) {
  return {{"n", j.figures.count},
          {"r2", optional_json(j.figures.r2)},
          {"mape", optional_json(j.figures.mape)},
          {"median_ape", optional_json(j.figures.median)},
          {"p90_ape", optional_json(j.figures.p90)},
          {"max_ape", optional_json(j.figures.max)},
          {"bias", optional_json(j.figures.bias)},
          {"coverage", optional_json(j.coverage)}};
}

// What a workload is hardly matters to what a setting does to it.
std::string mode_text(const EvaluationGroup& g) {
  if (g.variant == kSettingsVariant) return std::string(kSettingsVariant);
  return g.variant.empty() ? std::string(name(g.mode)) : fmt::format("{}, {}", name(g.mode), g.variant);
}

Json reasons_json(const Evaluation& e) {
  Json reasons = Json::array();
  for (const Refusal& r : e.refused.by_frequency())
    reasons.push_back({{"reason", r.reason}, {"rows", r.count}, {"first_line", r.first_line}});
  return reasons;
}

Json table_json(const std::string& table, const Evaluation& e) {
  Json groups = Json::array();
  for (const EvaluationGroup& g : e.groups) {
    groups.push_back({{"gpu", g.gpu},
                      {"mode", name(g.mode)},
                      {"variant", g.variant},
                      {"n", g.n},
                      {"unmapped", g.unmapped},
                      {"set_aside", g.set_aside},
                      {"time", judgement_json(g.time)},
                      {"power", judgement_json(g.power)},
                      {"energy", judgement_json(g.energy)},
                      {"memory", judgement_json(g.memory)}});
  }
  return {{"schema", "joulecast.evaluation/1"},
          {"table", table},
          {"layout", e.layout},
          {"level", kIntervalLevel},
          {"fitted_on", e.fitted_on},
          {"unread", e.unread},
          {"unmapped_because", reasons_json(e)},
          {"groups", std::move(groups)}};
}

// Three digits are enough beyond 100 %.
std::string percent(const std::optional<double>& value) {
  if (!value) return "-";
  const double hundredths = *value * 100.0;
  if (std::abs(hundredths) < 0.05) return "0.0";  // and not -0.0
  if (std::abs(hundredths) < 99.95) return fmt::format("{:.1f}", hundredths);
  return std::abs(hundredths) < 1e5 ? fmt::format("{:.0f}", hundredths) : fmt::format("{:.1e}", hundredths);
}

std::string number(const std::optional<double>& value) {
  if (!value) return "-";
  return std::abs(*value) < 100.0 ? fmt::format("{:.3f}", *value) : fmt::format("{:.1e}", *value);
}

std::string rows_text(std::size_t count) {
  return fmt::format("{} row{}", count, count == 1 ? "" : "s");
}

std::string group_text(const EvaluationGroup& g) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"what"},
               {"n", kRight},
               {"R2", kRight},
               {"MAPE", kRight},
               {"median", kRight},
               {"p90", kRight},
               {"max", kRight},
               {"bias", kRight},
               {"cov", kRight}});
  for (const auto& [what, j] : quantities(g)) {
    if (j->figures.count == 0) continue;
    table.add({std::string(what), std::to_string(j->figures.count), number(j->figures.r2), percent(j->figures.mape),
               percent(j->figures.median), percent(j->figures.p90), percent(j->figures.max), percent(j->figures.bias),
               percent(j->coverage)});
  }
  std::string out = fmt::format("\n{}, {}\n", shortened(printable(g.gpu), 40), mode_text(g));
  if (table.row_count() > 0) out += table.text(2);
  if (g.set_aside > 0)
    out += fmt::format("  {} set aside: {}\n", rows_text(g.set_aside),
                       g.variant == kSettingsVariant ? kSettingsSetAside : "not the primary runs of the table");
  if (g.unmapped > 0) out += fmt::format("  {} could not be predicted\n", rows_text(g.unmapped));
  return out;
}

// The most frequent reasons; a table of a thousand networks has a thousand of them.
std::string reasons_text(const Evaluation& e) {
  constexpr std::size_t kShown = 8;
  const std::vector<Refusal> sorted = e.refused.by_frequency();
  std::string out = sorted.empty() ? "" : "\n";
  for (std::size_t i = 0; i < std::min(kShown, sorted.size()); ++i)
    out += wrapped(printable(refusal_text(sorted[i])), kWidth, 2) + "\n";
  if (sorted.size() > kShown)
    out += fmt::format("and {} further reasons: --json lists them all\n", sorted.size() - kShown);
  return out;
}

constexpr std::string_view kCsvHeader = "gpu,mode,quantity,n,r2,mape,median_ape,p90_ape,max_ape,bias,coverage,variant";

// Every line begins with `before`.
std::string csv_lines(const Evaluation& e, std::string_view before) {
  std::string out;
  for (const EvaluationGroup& g : e.groups) {
    for (const auto& [what, j] : quantities(g)) {
      out += fmt::format("{}{},{},{},{}", before, csv_field(g.gpu), name(g.mode), what, j->figures.count);
      for (const auto& value : {j->figures.r2, j->figures.mape, j->figures.median, j->figures.p90, j->figures.max,
                                j->figures.bias, j->coverage}) {
        out += value ? fmt::format(",{}", *value) : ",";
      }
      out += fmt::format(",{}\r\n", g.variant);
    }
  }
  return out;
}

// Lines of one table under all headings, so that their columns stand below each other.
std::vector<std::string> group_lines(std::span<const TableEvaluation> tables) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"GPU, mode", Table::Align::kLeft, 34},
               {"n", kRight},
               {"time", kRight},
               {"median", kRight},
               {"cov", kRight},
               {"power", kRight},
               {"energy", kRight}});
  for (const TableEvaluation& t : tables) {
    if (!t.not_judged.empty()) continue;
    for (const EvaluationGroup& g : t.evaluation->groups) {
      if (g.n == 0) continue;
      table.add({fmt::format("{}, {}", printable(g.gpu), mode_text(g)), std::to_string(g.n),
                 percent(g.time.figures.mape), percent(g.time.figures.median), percent(g.time.coverage),
                 percent(g.power.figures.mape), percent(g.energy.figures.mape)});
    }
  }
  std::istringstream text(table.text(2));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::string left_out_text(const Evaluation& e) {
  if (e.refused.rows() == 0) return {};
  const std::vector<Refusal> sorted = e.refused.by_frequency();
  std::string text = fmt::format("  not predicted: {}", refusal_text(sorted.front()));
  if (const std::size_t more = e.refused.rows() - sorted.front().count; more > 0) {
    text +=
        fmt::format("; {} for {} further reason{}", rows_text(more), sorted.size() - 1, sorted.size() == 2 ? "" : "s");
  }
  return wrapped(printable(text), kWidth, 4) + "\n";
}

constexpr std::string_view kOfSettings =
    "settings: of each sweep of clocks or power limits the highest setting is known, the others are foretold from it";

bool has_settings(const Evaluation& e) {
  return std::any_of(e.groups.begin(), e.groups.end(),
                     [](const EvaluationGroup& g) { return g.variant == kSettingsVariant && g.n > 0; });
}

std::string figures_text(std::span<const TableEvaluation> tables) {
  const std::vector<std::string> lines = group_lines(tables);
  if (lines.size() < 2) return {};
  std::string out = fmt::format(
      "mean |error| of time, power and energy and median of time, in percent;\ncov: times inside their {:.0f} % "
      "interval\n\n{}\n",
      kIntervalLevel * 100, lines[0]);
  std::size_t next = 1;
  bool fitted_on = false;
  bool settings = false;
  for (const TableEvaluation& t : tables) {
    if (!t.not_judged.empty()) continue;
    fitted_on = fitted_on || t.evaluation->fitted_on;
    settings = settings || has_settings(*t.evaluation);
    out += fmt::format("{}{}\n", shortened(printable(t.table), kWidth - 2), t.evaluation->fitted_on ? " *" : "");
    for (const EvaluationGroup& g : t.evaluation->groups) {
      if (g.n > 0) out += lines[next++] + "\n";
    }
    out += left_out_text(*t.evaluation);
  }
  if (settings) out += fmt::format("\n{}\n", wrapped(std::string(kOfSettings), kWidth, 2));
  if (fitted_on) {
    out += "\n" +
           wrapped(
               "* the pack was fitted on a table of this layout: these are no held-out figures, docs/accuracy.md has "
               "them",
               kWidth, 2) +
           "\n";
  }
  return out;
}

std::string not_judged_text(std::span<const TableEvaluation> tables) {
  std::string out;
  for (const TableEvaluation& t : tables) {
    if (t.not_judged.empty()) continue;
    out += wrapped(printable(fmt::format("{}: {}", t.table, t.not_judged)), kWidth, 2) + "\n";
  }
  return out.empty() ? out : "\nnot judged:\n" + out;
}

}  // namespace

std::string evaluation_text(const Evaluation& e) {
  std::string out =
      fmt::format("{}: errors in percent; cov: inside the {:.0f} % interval\n", e.layout, kIntervalLevel * 100);
  for (const EvaluationGroup& g : e.groups) out += group_text(g);
  out += reasons_text(e);
  if (has_settings(e)) out += fmt::format("\n{}\n", wrapped(std::string(kOfSettings), kWidth, 2));
  if (e.fitted_on) {
    out += "\n" +
           wrapped(
               "the pack was fitted on a table of this layout: these are no held-out figures, docs/accuracy.md has "
               "them",
               kWidth, 2) +
           "\n";
  }
  return out;
}

std::string evaluation_json(const std::string& table, const Evaluation& e) {
  return json_text(table_json(table, e));
}

std::string evaluation_csv(const Evaluation& e) {
  return fmt::format("{}\r\n{}", kCsvHeader, csv_lines(e, ""));
}

std::string evaluations_text(std::span<const TableEvaluation> tables) {
  return figures_text(tables) + not_judged_text(tables);
}

std::string evaluations_json(std::span<const TableEvaluation> tables) {
  Json judged = Json::array();
  Json others = Json::array();
  for (const TableEvaluation& t : tables) {
    if (t.not_judged.empty()) {
      judged.push_back(table_json(t.table, *t.evaluation));
      continue;
    }
    others.push_back({{"table", t.table},
                      {"layout", t.evaluation ? Json(t.evaluation->layout) : Json(nullptr)},
                      {"reason", t.not_judged},
                      {"unmapped_because", t.evaluation ? reasons_json(*t.evaluation) : Json::array()}});
  }
  return json_text(
      {{"schema", "joulecast.evaluations/1"}, {"tables", std::move(judged)}, {"not_judged", std::move(others)}});
}

std::string evaluations_csv(std::span<const TableEvaluation> tables) {
  std::string out = fmt::format("table,{}\r\n", kCsvHeader);
  for (const TableEvaluation& t : tables) {
    if (t.not_judged.empty()) out += csv_lines(*t.evaluation, csv_field(t.table) + ",");
  }
  return out;
}

}  // namespace joulecast::cli
