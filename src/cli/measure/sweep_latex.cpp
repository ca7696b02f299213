// SPDX-License-Identifier: Apache-2.0
// The result of a sweep as tables for LaTeX.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "cli/measure/sweep_text.h"
#include "cli/output.h"

namespace joulecast::cli {
namespace {

constexpr std::array<const char*, 3> kUnits{"s", "J", "Js"};

std::string latex_text(const std::string& text) {
  std::string out;
  for (const char letter : printable(text)) {
    if (letter == '\\') {
      out += "\\textbackslash{}";
    } else if (letter == '~' || letter == '^') {
      out += fmt::format("\\{}{{}}", letter);
    } else {
      if (std::string_view("_&%$#{}").find(letter) != std::string_view::npos) out += '\\';
      out += letter;
    }
  }
  return out.empty() ? "all" : out;
}

// "12.35 \pm 0.12", "(8.453 \pm 0.012) \times 10^{4}": four digits, and two of the standard deviation.
std::string latex_estimate(const SweepEstimate& estimate) {
  constexpr int kLeast = -3, kMost = 4;
  const int power = static_cast<int>(std::floor(std::log10(estimate.mean)));
  const bool scaled = power < kLeast || power > kMost;
  const double unit = scaled ? std::pow(10.0, power) : 1;
  std::string out = fmt::format("{:.{}f}", estimate.mean / unit, scaled ? 3 : std::max(0, 3 - power));
  if (estimate.deviation) {
    const double deviation = *estimate.deviation / unit;
    const int digits = deviation > 0 ? 1 - static_cast<int>(std::floor(std::log10(deviation))) : 0;
    out += fmt::format(" \\pm {:.{}f}", deviation, std::max(0, digits));
  }
  if (!scaled) return "$" + out + "$";
  if (estimate.deviation) out = "(" + out + ")";
  return fmt::format("${} \\times 10^{{{}}}$", out, power);
}

std::string latex_optimum(const SweepGroup& group, std::size_t goal) {
  if (goal >= group.optima.size())
    return fmt::format("{} & -- & -- & -- & -- & not measured", name_of(kSweepGoals[goal]));
  const SweepOptimum& optimum = group.optima[goal];
  const SweepSetting& best = group.settings[optimum.setting];
  const std::string sure =
      optimum.confidence ? fmt::format("{:.0f}\\,\\%", 100 * *optimum.confidence) : std::string("--");
  return fmt::format("{} & {} & {}\\,{} & {} & {:.1f}\\,\\% & {}", name_of(optimum.goal), latex_text(best.setting),
                     latex_estimate(best.estimates[goal]), kUnits[goal], sure, optimum.gain_percent,
                     verdict_text(optimum.verdict));
}

std::string latex_optima(const std::vector<SweepGroup>& groups) {
  std::string out =
      "% optima: mean and standard deviation, how sure the place is, what it saves against the reference\n"
      "\\begin{tabular}{lllrrrl}\n\\hline\n"
      "run & least & at & mean & sure & saves & which is \\\\\n\\hline\n";
  for (const SweepGroup& group : groups) {
    for (std::size_t goal = 0; goal < kSweepGoals.size(); ++goal) {
      out += fmt::format("{} & {} \\\\\n", goal == 0 ? latex_text(group.group) : std::string(),
                         latex_optimum(group, goal));
    }
  }
  return out + "\\hline\n\\end{tabular}\n";
}

std::string latex_difference(const std::optional<SweepDifference>& difference) {
  if (!difference) return "0";
  const bool sure = difference->p && *difference->p < 0.05;
  return fmt::format("${:+.1f}{}$", difference->percent, sure ? "^{*}" : "");
}

std::string latex_differences(const SweepGroup& group) {
  std::string out = fmt::format(
      "% differences to {} in percent; * p < 0.05, Holm\n\\begin{{tabular}}{{lrrr}}\n\\hline\n{} & time & energy & EDP "
      "\\\\\n\\hline\n",
      latex_text(group.settings[group.reference].setting), latex_text(group.group));
  for (std::size_t i = 0; i < group.settings.size(); ++i) {
    const SweepSetting& setting = group.settings[i];
    const std::string name = latex_text(setting.setting);
    out += i == group.reference ? fmt::format("\\textbf{{{}}}", name) : name;
    for (std::size_t g = 0; g < kSweepGoals.size(); ++g) {
      out += " & " + (g < setting.differences.size() ? latex_difference(setting.differences[g]) : std::string("--"));
    }
    out += " \\\\\n";
  }
  return out + "\\hline\n\\end{tabular}\n";
}

std::string latex_correlations(const std::vector<SweepGroup>& groups) {
  std::string out =
      "% correlation of power and SM clock\n\\begin{tabular}{lrr}\n\\hline\nrun & $r$ & runs \\\\\n\\hline\n";
  for (const SweepGroup& group : groups) {
    out += latex_text(group.group);
    out += group.power_clock ? fmt::format(" & ${:.3f}$ & {}", group.power_clock->r, group.power_clock->pairs)
                             : " & -- & --";
    out += " \\\\\n";
  }
  return out + "\\hline\n\\end{tabular}\n";
}

}  // namespace

std::string sweep_latex(const std::vector<SweepGroup>& groups) {
  std::string out = latex_optima(groups);
  for (const SweepGroup& group : groups) out += "\n" + latex_differences(group);
  return out + "\n" + latex_correlations(groups);
}

}  // namespace joulecast::cli
