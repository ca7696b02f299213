// SPDX-License-Identifier: Apache-2.0
// The result of a sweep as tables for LaTeX.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/measure/sweep_text.h"
#include "cli/output.h"

namespace joulecast::cli {
namespace {

constexpr std::array<const char*, 3> kUnits{"s", "J", "Js"};

// A tabular of more rows runs off the page.
constexpr std::size_t kMostRows = 40;

struct LatexTable {
  std::string comment, columns, head;
  std::vector<std::string> rows;

  [[nodiscard]] bool is_long() const { return rows.size() > kMostRows; }
};

// A longtable repeats its head on each page.
std::string latex_lines(const LatexTable& table) {
  const char* name = table.is_long() ? "longtable" : "tabular";
  std::string out = fmt::format(
      "% {}\n{{\\small\\setlength{{\\tabcolsep}}{{2pt}}\n\\begin{{{}}}{{{}}}\n\\hline\n{} \\\\\n\\hline\n{}",
      table.comment, name, table.columns, table.head, table.is_long() ? "\\endhead\n\\hline\n\\endfoot\n" : "");
  for (const std::string& row : table.rows) out += row + "\n";
  return out + fmt::format("{}\\end{{{}}}\n}}\n", table.is_long() ? "" : "\\hline\n", name);
}

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

// As verdict_text(), in a column's width.
const char* latex_verdict(SweepVerdict verdict) {
  switch (verdict) {
    case SweepVerdict::kReferenceIsBest:
      return "reference";
    case SweepVerdict::kGain:
      return "gain";
    case SweepVerdict::kGainElsewhere:
      return "gain elsewhere";
    case SweepVerdict::kNoMeasurableGain:
      return "none sure";
    case SweepVerdict::kTooFewRuns:
      break;
  }
  return "too few runs";
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
                     latex_verdict(optimum.verdict));
}

// A group's name stands over its rows: beside them it would make the table too wide for a page.
LatexTable latex_optima(const std::vector<SweepGroup>& groups) {
  LatexTable out{"optima: mean and standard deviation, how sure the place is, what it saves against the reference",
                 "lllrrl",
                 "least & at & mean & sure & saves & verdict",
                 {}};
  for (const SweepGroup& group : groups) {
    out.rows.push_back(fmt::format("\\multicolumn{{6}}{{l}}{{{}}} \\\\*", latex_text(group.group)));
    for (std::size_t goal = 0; goal < kSweepGoals.size(); ++goal) {
      const bool last = goal + 1 == kSweepGoals.size();  // the others keep the group on one page
      out.rows.push_back(fmt::format("\\quad {} \\\\{}", latex_optimum(group, goal), last ? "" : "*"));
    }
  }
  return out;
}

std::string latex_difference(const std::optional<SweepDifference>& difference) {
  if (!difference) return "0";
  const bool sure = difference->p && *difference->p < 0.05;
  return fmt::format("${:+.1f}{}$", difference->percent, sure ? "^{*}" : "");
}

LatexTable latex_differences(const SweepGroup& group) {
  LatexTable out{fmt::format("differences to {} in percent; * p < 0.05, Holm",
                             latex_text(group.settings[group.reference].setting)),
                 "lrrr",
                 latex_text(group.group) + " & time & energy & EDP",
                 {}};
  for (std::size_t i = 0; i < group.settings.size(); ++i) {
    const SweepSetting& setting = group.settings[i];
    const std::string name = latex_text(setting.setting);
    std::string row = i == group.reference ? fmt::format("\\textbf{{{}}}", name) : name;
    for (std::size_t g = 0; g < kSweepGoals.size(); ++g) {
      row += " & " + (g < setting.differences.size() ? latex_difference(setting.differences[g]) : std::string("--"));
    }
    out.rows.push_back(row + " \\\\");
  }
  return out;
}

LatexTable latex_correlations(const std::vector<SweepGroup>& groups) {
  LatexTable out{"correlation of power and SM clock", "lrr", "run & $r$ & runs", {}};
  for (const SweepGroup& group : groups) {
    const std::string cells =
        group.power_clock ? fmt::format("${:.3f}$ & {}", group.power_clock->r, group.power_clock->pairs) : "-- & --";
    out.rows.push_back(fmt::format("{} & {} \\\\", latex_text(group.group), cells));
  }
  return out;
}

}  // namespace

std::string sweep_latex(const std::vector<SweepGroup>& groups) {
  std::vector<LatexTable> tables{latex_optima(groups)};
  for (const SweepGroup& group : groups) tables.push_back(latex_differences(group));
  tables.push_back(latex_correlations(groups));
  const bool any_long = std::any_of(tables.begin(), tables.end(), [](const LatexTable& one) { return one.is_long(); });
  std::string out = any_long ? "% needs \\usepackage{longtable}, which two columns do not have (\\onecolumn)\n"
                             : "% needs no package\n";
  for (const LatexTable& table : tables) out += "\n" + latex_lines(table);
  return out;
}

}  // namespace joulecast::cli
