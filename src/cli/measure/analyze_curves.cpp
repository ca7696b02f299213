// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/whole_file.h"
#include "cli/measure/analyze_parts.h"
#include "cli/numbers.h"

namespace joulecast::cli {
namespace {

series::Interpolation interpolation_of(const std::string& word) {
  if (word == "cubic") return series::Interpolation::kNaturalCubic;
  return word == "monotone" ? series::Interpolation::kMonotoneCubic : series::Interpolation::kLinear;
}

std::string cell(const std::optional<double>& value) {
  return value ? fmt::format("{:.9g}", *value) : std::string();
}

std::string columns(const series::MeanCurve& curve, std::size_t i) {
  return fmt::format("{:.9g},{},{},{}", curve.mean[i], cell(curve.standard_deviation[i]), cell(curve.low[i]),
                     cell(curve.high[i]));
}

std::string csv(const std::vector<DeviceCurves>& all) {
  std::string out =
      "device,time_s,runs,power_w,power_stddev_w,power_low_w,power_high_w,"
      "energy_j,energy_stddev_j,energy_low_j,energy_high_j\n";
  for (const DeviceCurves& curves : all) {
    // They end together but for a rounding.
    const std::size_t count = std::min(curves.power_w.time_s.size(), curves.energy_j.time_s.size());
    for (std::size_t i = 0; i < count; ++i) {
      out += fmt::format("{},{:.9g},{},{},{}\n", csv_field(curves.device), curves.power_w.time_s[i],
                         curves.power_w.runs[i], columns(curves.power_w, i), columns(curves.energy_j, i));
    }
  }
  return out;
}

void note(const std::vector<DeviceCurves>& all, Output& output) {
  for (const DeviceCurves& curves : all) {
    if (curves.left_out > 0) {
      output.note(fmt::format("curves: {}: {} left out, whose readings cover too little", curves.device,
                              counted(curves.left_out, "run")));
    }
    for (const series::Warning warning : curves.warnings) {
      if (warning == series::Warning::kFewSamples) {
        output.note(fmt::format("curves: {}: fewer than three runs somewhere: the band says little", curves.device));
      } else {
        output.note(fmt::format("curves: {}: {} {}", curves.device, series::warning_text(warning),
                                series::warning_advice(warning)));
      }
    }
  }
}

// Empty where a recording does not say.
std::string command_of(const ReadRun& run) {
  const auto at = run.recording.head.find("command");
  return at == run.recording.head.end() ? std::string() : at->dump();
}

void note_other_commands(const std::vector<ReadRun>& runs, Output& output) {
  const auto other = std::find_if(runs.begin(), runs.end(),
                                  [&](const ReadRun& run) { return command_of(run) != command_of(runs.front()); });
  if (other == runs.end()) return;
  output.note(printable(fmt::format("curves: {} and {} are of different commands: their mean is of no work there is",
                                    runs.front().path, other->path)));
}

}  // namespace

Outcome write_curves(const std::vector<ReadRun>& runs, const AnalyzeOptions& options, Output& output) {
  std::deque<Accountant> accountants;
  std::vector<CurveRun> each;
  for (const ReadRun& run : runs) {
    const Accountant& accountant = accountants.emplace_back(run.recording, run.lines);
    for (const Phase& command : run.summary.commands) each.push_back({&run.recording, &accountant, command});
  }
  const auto curves = mean_curves(each, {Hertz{options.rate_hz}, interpolation_of(options.resample)});
  if (!curves) return tl::unexpected<Failure>(Error(curves.error()));
  note_other_commands(runs, output);
  note(*curves, output);
  if (options.output == "-") {
    output.write(csv(*curves));
    return {};
  }
  JC_RETURN_IF_FAILURE(replace_file(options.output, csv(*curves)));
  return {};
}

}  // namespace joulecast::cli
