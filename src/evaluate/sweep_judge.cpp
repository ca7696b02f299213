// SPDX-License-Identifier: Apache-2.0
#include "evaluate/sweep_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "predict/pack/pack.h"
#include "predict/pack_names.h"
#include "predict/settings/apply.h"
#include "predict/settings/foretell.h"
#include "predict/settings/law.h"
#include "predict/settings/mean_curve.h"
#include "predict/settings/setting_row.h"

namespace joulecast {
namespace {

using settings::Foretold;
using settings::Sweep;

std::string subject_of(const Sweep& sweep, const Setting& at) {
  std::string out = fmt::format("{}, {}", sweep.workload, sweep.variant);
  if (at.sm_clock) out += fmt::format(", {:.0f} MHz", at.sm_clock->value() / 1e6);
  if (at.power_limit) out += fmt::format(", {:g} W", at.power_limit->value());
  return out;
}

// `log_width`: what the settings alone cause. Beside it stands how well the known setting was measured.
JudgedQuantity quantity(double log_measured, double log_found, double log_width, const settings::Sides& measured_to) {
  return {.measured = std::exp(log_measured),
          .found = std::exp(log_found),
          .lo = std::exp(log_found - std::hypot(log_width, measured_to.down)),
          .hi = std::exp(log_found + std::hypot(log_width, measured_to.up))};
}

// As `predict --measured` has it.
settings::BaseWidths of_measured() {
  const MeasuredRun run{.setting = {}, .time = Seconds{1.0}, .power = Watts{1.0}};
  return settings::base_widths({}, 0.0, std::span(&run, 1));
}

}  // namespace

Result<SweepJudge> SweepJudge::open(const std::string& pack, const Catalogue& catalogue) {
  JC_ASSIGN_OR_RETURN(const Pack opened, Pack::open(pack));
  SweepJudge out(catalogue);
  const std::vector<std::string_view> tables = opened.tables();
  if (std::find(tables.begin(), tables.end(), pack_names::kSettings) == tables.end()) return out;
  const auto read = [&]() -> Result<void> {
    JC_ASSIGN_OR_RETURN(const TableView table, opened.table(pack_names::kSettings));
    JC_ASSIGN_OR_RETURN(out.model_, settings::SettingsModel::from(table));
    return {};
  };
  if (auto ok = read(); !ok) return tl::unexpected(std::move(ok).error().in(pack));
  return out;
}

bool SweepJudge::takes(const MeasuredOther& row) const {
  return model_.has_value() && settings::sweep_rank(row.from.table).has_value();
}

std::vector<JudgedRow> SweepJudge::judge(const Sweep& sweep) const {
  std::vector<JudgedRow> out;
  const settings::BaseWidths measured_to = of_measured();
  const std::size_t known[] = {sweep.last()};
  const settings::SettingLaw law(model_->constants(*sweep.gpu));
  const Foretold foretold = foretell(sweep, law, model_->prior(), known);
  const settings::SettingWidths& widths = model_->widths(*sweep.gpu, false);
  const double watts = std::log(sweep.limit_w);
  for (const std::size_t i : judged_settings(sweep, known)) {
    const double away = settings::distance(foretold.curve, i, known);
    const double power = foretold.curve.log_power[i] + watts;
    JudgedRow row;
    row.line = sweep.lines[i];
    row.subject = subject_of(sweep, sweep.settings[i]);
    row.gpu = sweep.gpu_label;
    row.mode = sweep.mode;
    row.precision = sweep.precision;
    row.batch = sweep.batch.value_or(0);
    row.variant = kSettingsVariant;
    row.support = model_->swept(*sweep.gpu) ? "seen" : "unseen-gpu";
    row.power = quantity(*sweep.log_power[i] + watts, power, widths.power * away, measured_to.power);
    if (sweep.has_times()) {
      const double time = foretold.curve.log_time[i];
      row.baseline = std::exp(*sweep.log_time[sweep.last()]);
      row.time = quantity(*sweep.log_time[i], time, widths.time * away, measured_to.time);
      row.energy = quantity(*sweep.log_time[i] + *sweep.log_power[i] + watts, time + power, widths.energy * away,
                            measured_to.energy);
    }
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace joulecast
