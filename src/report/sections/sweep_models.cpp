// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "report/html.h"
#include "report/sweep_view.h"

namespace joulecast::report {
namespace {

std::string r2_text(const std::optional<double>& r2) {
  return r2 ? fmt::format("{:.3f}", *r2) : "–";
}

// "0.31 + 0.69 x − 0.02 y": coefficients in front of what they are of, the first of nothing.
std::string sum_text(const std::vector<double>& coefficients, const std::vector<std::string>& of) {
  std::string out;
  for (std::size_t i = 0; i < coefficients.size() && i < of.size(); ++i) {
    const bool minus = coefficients[i] < 0;
    const std::string number = fmt::format("{:.3g}", minus ? -coefficients[i] : coefficients[i]);
    out += (out.empty() ? (minus ? "−" : "") : (minus ? " − " : " + ")) + number + of[i];
  }
  return out;
}

std::string model_table(const series::SweepModels& m) {
  HtmlTable table({{"model"}, {"is"}, {"R²", true}});
  table.add({"clock",
             "f = " + sum_text(m.clock.coefficients, {"", " min(limit / (u P_max), 1)"}) + ", at most 1, of f_max",
             r2_text(m.clock_r2)});
  table.add({"power", "P = P_idle + (" + sum_text(m.power.coefficients, {"", " u f", " u f²", " u f³"}) + ") P_max",
             r2_text(m.power_r2)});
  table.add({"delay", "t = (" + sum_text(m.delay.coefficients, {"", " / f"}) + ") t_ref", r2_text(m.time_r2)});
  table.add({"energy", "E = P t", r2_text(m.energy_r2)});
  table.add({"EDP", "E t", r2_text(m.energy_delay_r2)});
  return table.html();
}

std::string basis_text(const series::SweepModels& m) {
  constexpr double kMega = 1e-6;
  return fmt::format(
      "Over the power limit, of each GPU. f_max = {:.0f} MHz, P_max = {:.0f} W, P_idle = {:.1f} W, u = {:.2f} (share "
      "of "
      "the GPU's power that the command uses), t_ref = {:.4g} s at {:.0f} W. Least energy at {:.0f} W, least EDP at "
      "{:.0f} "
      "W.",
      m.highest_clock.value() * kMega, m.basis.highest.value(), m.basis.idle.value(), m.basis.utilization,
      m.reference_time.value(), m.highest_limit.value(), series::best_limit(m, series::Optimum::kEnergy).value(),
      series::best_limit(m, series::Optimum::kEnergyDelay).value());
}

std::string correlation_text(const series::Correlation& correlation) {
  std::string out = fmt::format("Power and SM clock: r = {:.3f} over {} runs", correlation.r, correlation.pairs);
  if (correlation.p) out += fmt::format(", p = {:.2g}", *correlation.p);
  return out + ".";
}

}  // namespace

std::string sweep_models_section(const SweepGroup& group) {
  std::string out = element("h4", "Models");
  if (group.models) {
    out += model_table(*group.models) + element("p", basis_text(*group.models), "caption");
  } else {
    out += element("p", "No models of clock, power and delay: " + group.no_models, "caption");
  }
  if (group.power_clock) out += element("p", correlation_text(*group.power_clock), "caption");
  return out;
}

}  // namespace joulecast::report
