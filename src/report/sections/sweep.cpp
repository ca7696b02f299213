// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "report/html.h"
#include "report/sweep_view.h"
#include "report/text.h"

namespace joulecast::report {
namespace {

constexpr std::array kUnits{"s", "J", "Js"};
constexpr double kSignificance = 0.05;
constexpr const char* kNothing = "–";

std::string estimate_text(const SweepEstimate& estimate, const char* unit) {
  std::string out = quantity(estimate.mean, unit);
  if (estimate.high) out += fmt::format(" ±{:.1f} %", 100 * (*estimate.high - estimate.mean) / estimate.mean);
  return out;
}

std::string difference_text(const std::optional<SweepDifference>& difference) {
  if (!difference) return kNothing;
  std::string out = fmt::format("{:+.1f} %", difference->percent);
  if (difference->low) out += fmt::format(" ({:+.1f} to {:+.1f})", *difference->low, *difference->high);
  return out + (difference->p && *difference->p < kSignificance ? " *" : "");
}

// Columns of energy stand only where it was measured.
std::string setting_table(const SweepGroup& group) {
  std::vector<HtmlTable::Column> columns{{"setting"}, {"runs", true}};
  for (const SweepGoal goal : group.goals) columns.push_back({std::string(name_of(goal)), true});
  if (group.goals.size() > 1) columns.push_back({"W", true});
  columns.push_back({"SM MHz", true});
  HtmlTable table(columns);
  for (std::size_t i = 0; i < group.settings.size(); ++i) {
    const SweepSetting& setting = group.settings[i];
    std::vector<std::string> row{setting.setting + (i == group.reference ? " (reference)" : ""),
                                 std::to_string(setting.estimates[0].count)};
    for (std::size_t goal = 0; goal < setting.estimates.size(); ++goal) {
      row.push_back(estimate_text(setting.estimates[goal], kUnits[goal]));
    }
    if (group.goals.size() > 1) row.push_back(setting.power_w ? fmt::format("{:.0f}", *setting.power_w) : kNothing);
    row.push_back(setting.sm_clock_mhz ? fmt::format("{:.0f}", *setting.sm_clock_mhz) : kNothing);
    table.add(std::move(row));
  }
  return table.html();
}

// Beside the estimates they would not fit a page.
std::string difference_table(const SweepGroup& group) {
  if (group.settings.size() < 2) return {};
  std::vector<HtmlTable::Column> columns{{"against " + group.settings[group.reference].setting}};
  for (const SweepGoal goal : group.goals) columns.push_back({std::string(name_of(goal)), true});
  HtmlTable table(columns);
  for (std::size_t i = 0; i < group.settings.size(); ++i) {
    if (i == group.reference) continue;
    std::vector<std::string> row{group.settings[i].setting};
    for (const auto& difference : group.settings[i].differences) row.push_back(difference_text(difference));
    table.add(std::move(row));
  }
  return table.html() + element("p",
                                "With 95 % of all settings together (Bonferroni). An asterisk: more than chance, "
                                "p < 0.05, adjusted for all settings (Holm).",
                                "caption");
}

std::string optimum_table(const SweepGroup& group) {
  HtmlTable table({{"least"}, {"at"}, {"sure", true}, {"saves", true}, {"which is"}, {"or"}});
  for (const SweepOptimum& optimum : group.optima) {
    std::string rivals;
    for (const std::size_t rival : optimum.rivals)
      rivals += (rivals.empty() ? "" : "; ") + group.settings[rival].setting;
    table.add({std::string(name_of(optimum.goal)), group.settings[optimum.setting].setting,
               optimum.confidence ? fmt::format("{:.0f} %", 100 * *optimum.confidence) : kNothing,
               fmt::format("{:.1f} %", optimum.gain_percent), verdict_text(optimum.verdict), rivals});
  }
  return table.html();
}

std::string curve_table(const SweepGroup& group) {
  HtmlTable table({{"fit of"},
                   {"degree", true},
                   {"least at", true},
                   {"R²", true},
                   {"degrees of freedom", true},
                   {"off at a setting it has not seen", true}});
  for (const SweepCurve& curve : group.curves) {
    const auto& fit = curve.fit;
    table.add({std::string(name_of(curve.goal)), std::to_string(curve.degree),
               fmt::format("{:.0f} {}{}", curve.least_at, group.axis == "limit_w" ? "W" : "MHz",
                           curve.at_the_edge ? " (the edge)" : ""),
               fit.fit.r2 ? fmt::format("{:.3f}", *fit.fit.r2) : kNothing, std::to_string(fit.fit.degrees_of_freedom),
               fit.leave_one_x_out ? fmt::format("{:.1f} %", 100 * *fit.leave_one_x_out / curve.least) : kNothing});
  }
  return table.html();
}

}  // namespace

std::string sweep_section(const SweepGroup& group) {
  const std::string few = group.too_few_runs();
  return setting_table(group) + difference_table(group) + element("h4", "The best settings") + optimum_table(group) +
         (few.empty() ? std::string() : element("p", few + ".", "caption")) + curve_table(group);
}

}  // namespace joulecast::report
