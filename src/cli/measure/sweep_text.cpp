// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/sweep_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/table.h"

namespace joulecast::cli {
namespace {

using Align = Table::Align;

constexpr const char* kNothing = "-";
constexpr double kPercent = 100;
constexpr double kSignificance = 0.05;
constexpr const char* kUnits[] = {"s", "J", "Js"};

// "12.3 s ±0.2 %": half of the 95 % band.
std::string estimate_text(const SweepEstimate& estimate, const char* unit) {
  std::string out = with_prefix(estimate.mean, unit);
  if (estimate.high) out += fmt::format(" ±{:.1f} %", kPercent * (*estimate.high - estimate.mean) / estimate.mean);
  return out;
}

std::string watts_text(double watts) {
  constexpr double kWhole = 10;
  return watts < kWhole ? fmt::format("{:.2g}", watts) : fmt::format("{:.0f}", watts);
}

// Columns of energy stand only where it was measured.
std::string setting_table(const SweepGroup& group) {
  const bool energy = group.goals.size() > 1;
  std::vector<Table::Column> columns{{"setting"}, {"runs", Align::kRight}, {"time", Align::kRight}};
  if (energy) columns.insert(columns.end(), {{"energy", Align::kRight}, {"EDP", Align::kRight}, {"W", Align::kRight}});
  columns.push_back({"MHz", Align::kRight});
  Table table(columns);
  for (const SweepSetting& setting : group.settings) {
    std::vector<std::string> row{printable(setting.setting), std::to_string(setting.estimates[0].count),
                                 estimate_text(setting.estimates[0], kUnits[0])};
    if (energy) {
      row.push_back(estimate_text(setting.estimates[1], kUnits[1]));
      row.push_back(with_prefix(setting.estimates[2].mean, kUnits[2]));
      row.push_back(setting.power_w ? watts_text(*setting.power_w) : kNothing);
    }
    row.push_back(setting.sm_clock_mhz ? fmt::format("{:.0f}", *setting.sm_clock_mhz) : kNothing);
    table.add(std::move(row));
  }
  const bool banded = std::any_of(group.settings.begin(), group.settings.end(),
                                  [](const SweepSetting& setting) { return setting.estimates[0].high.has_value(); });
  return table.text(2) + (banded ? "  ±: half of the mean's 95 % interval, from the setting's own runs\n" : "");
}

// Without a sign where it would stand before nothing: "-0.0".
double tenths(double percent) {
  constexpr double kHalf = 0.05;
  return std::abs(percent) < kHalf ? 0.0 : percent;
}

// "-12.3 *": more than chance.
std::string difference_text(const std::optional<SweepDifference>& difference) {
  if (!difference) return kNothing;
  const bool sure = difference->p && *difference->p < kSignificance;
  return fmt::format("{:+.1f}{}", tenths(difference->percent), sure ? " *" : "  ");
}

std::string band_text(const std::optional<SweepDifference>& difference) {
  if (!difference || !difference->low) return "";
  return fmt::format("{:+.1f} {:+.1f}", tenths(*difference->low), tenths(*difference->high));
}

std::string difference_table(const SweepGroup& group) {
  const bool energy = group.goals.size() > 1;
  std::vector<Table::Column> columns{{"against " + group.settings[group.reference].setting}, {"time %", Align::kRight}};
  for (const char* name : {"energy %", "95 %", "EDP %", "95 %"}) {
    if (energy) columns.push_back({name, Align::kRight});
  }
  if (!energy) columns.push_back({"95 %", Align::kRight});
  Table table(columns);
  for (const SweepSetting& setting : group.settings) {
    const auto& d = setting.differences;
    if (!d[0]) continue;
    std::vector<std::string> row{printable(setting.setting), difference_text(d[0])};
    if (!energy) row.push_back(band_text(d[0]));
    for (std::size_t g = 1; g < d.size(); ++g) row.insert(row.end(), {difference_text(d[g]), band_text(d[g])});
    table.add(std::move(row));
  }
  return table.row_count() == 0 ? std::string() : table.text(2);
}

std::string optimum_table(const SweepGroup& group) {
  constexpr std::size_t kVerdict = 40;
  Table table({{"least"},
               {"at"},
               {"sure", Align::kRight},
               {"saves", Align::kRight},
               {"which is", Align::kLeft, kVerdict, true},
               {"or"}});
  for (const SweepOptimum& optimum : group.optima) {
    std::vector<std::string> rivals;
    for (const std::size_t rival : optimum.rivals) rivals.push_back(printable(group.settings[rival].setting));
    table.add({std::string(name_of(optimum.goal)), printable(group.settings[optimum.setting].setting),
               optimum.confidence ? fmt::format("{:.0f} %", kPercent * *optimum.confidence) : kNothing,
               fmt::format("{:.1f} %", tenths(optimum.gain_percent)), verdict_text(optimum.verdict),
               fmt::format("{}", fmt::join(rivals, "; "))});
  }
  return table.text(2);
}

std::string paragraph(const std::string& text) {
  return wrapped("  " + text, 80, 4) + "\n";
}

std::string worth_text(const SweepCurve& curve) {
  if (!curve.fit.leave_one_x_out) return "too few settings to say what it is worth between them";
  return fmt::format("off by {:.1f} % at a setting it has not seen",
                     kPercent * *curve.fit.leave_one_x_out / curve.least);
}

std::string r2_text(const std::optional<double>& r2) {
  return r2 ? fmt::format("{:.3f}", *r2) : kNothing;
}

std::string curve_lines(const SweepGroup& group) {
  const bool limit = group.axis == "limit_w";
  std::string out;
  for (const SweepCurve& curve : group.curves) {
    const auto& fit = curve.fit.fit;
    out += paragraph(fmt::format("{} over {}, degree {}: least at {:.0f} {}{}; R2 {}, {} degrees of freedom, {}",
                                 name_of(curve.goal), limit ? "limit" : "clock", curve.degree, curve.least_at,
                                 limit ? "W" : "MHz", curve.at_the_edge ? " (the edge)" : "", r2_text(fit.r2),
                                 fit.degrees_of_freedom, worth_text(curve)));
  }
  return out;
}

std::string model_lines(const SweepGroup& group) {
  if (!group.models) return paragraph("no models of clock, power and delay: " + printable(group.no_models));
  const series::SweepModels& m = *group.models;
  return paragraph(fmt::format(
      "models over the limit, u = {:.2f}: R2 of clock {}, power {}, time {}, energy {}, EDP {}; least energy at {:.0f} "
      "W, "
      "least EDP at {:.0f} W",
      m.basis.utilization, r2_text(m.clock_r2), r2_text(m.power_r2), r2_text(m.time_r2), r2_text(m.energy_r2),
      r2_text(m.energy_delay_r2), series::best_limit(m, series::Optimum::kEnergy).value(),
      series::best_limit(m, series::Optimum::kEnergyDelay).value()));
}

std::string group_text(const SweepGroup& group) {
  const std::string name = group.group.empty() ? std::string("sweep") : printable(group.group);
  std::string out = fmt::format("{}; reference: {}{}\n\n", name, printable(group.settings[group.reference].setting),
                                group.reference_is_default ? " (the default)" : "");
  out += setting_table(group) + "\n";
  if (const std::string differences = difference_table(group); !differences.empty()) {
    out += differences + "  95 %: of all settings together (Bonferroni)\n" +
           "  * more than chance: p < 0.05, adjusted for all settings (Holm)\n\n";
  }
  out += optimum_table(group);
  if (const std::string few = group.too_few_runs(); !few.empty()) out += paragraph(few + " (repetitions in the plan)");
  out += "\n" + curve_lines(group);
  if (group.power_clock) {
    out +=
        fmt::format("  power and SM clock: r = {:.3f} over {} runs{}\n", group.power_clock->r, group.power_clock->pairs,
                    group.power_clock->p ? fmt::format(", p = {:.2g}", *group.power_clock->p) : std::string());
  }
  if (group.goals.size() == 1) return out + paragraph("no energy was measured: only times are compared");
  return out + model_lines(group);
}

}  // namespace

std::string sweep_text(const std::vector<SweepGroup>& groups) {
  std::string out;
  for (const SweepGroup& group : groups) out += (out.empty() ? "" : "\n") + group_text(group);
  return out;
}

}  // namespace joulecast::cli
