// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/calibrated.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/channel_series.h"
#include "measure/calibration_store.h"

#include "analysis/run_device.h"

namespace joulecast::cli {
namespace {

// Sources of NVIDIA's driver: asked for by us, by nvidia-smi and by GPyJoules.
constexpr std::array kOfNvml{"nvml-", "smi-", "gpyjoules-"};

std::string line_text(const series::CalibrationLine& line) {
  return fmt::format("(reading {} {:.4g} W) / {:.5g}", line.offset < Watts{0} ? "+" : "-",
                     std::abs(line.offset.value()), line.gain);
}

const AppliedLine* find_line(const std::vector<AppliedLine>& lines, const std::string& device,
                             const std::string& source) {
  const auto at = std::find_if(lines.begin(), lines.end(),
                               [&](const AppliedLine& one) { return one.device == device && one.source == source; });
  return at == lines.end() ? nullptr : &*at;
}

}  // namespace

tl::expected<std::vector<AppliedLine>, Failure> stored_lines(const Recording& recording) {
  const auto path = calibration_file();
  if (!path) return tl::unexpected<Failure>(Error(path.error()));
  const auto stored = load_calibration(*path);
  if (!stored) return tl::unexpected<Failure>(Failure{stored.error(), "mend it, or remove it and fit again"});
  std::vector<AppliedLine> out;
  for (const Channel& channel : recording.channels) {
    const std::string uuid = uuid_of(recording, channel.device);
    if (!tells_energy(channel) || uuid.empty()) continue;
    for (const StoredLine& line : *stored) {
      if (line.card.uuid == uuid && line.card.source == channel.source)
        out.push_back({channel.device, channel.source, line.card.line});
    }
  }
  return out;
}

std::vector<std::string> calibration_notes(const Recording& recording, const RunSummary& summary,
                                           const std::vector<AppliedLine>& lines) {
  std::vector<std::string> out;
  for (const DeviceSummary& device : summary.devices) {
    if (!names_a_gpu(device.device) || device.runs.empty() || device.runs.front().energy.empty()) continue;
    const std::string& source = device.runs.front().energy.front().source;
    if (const AppliedLine* line = find_line(lines, device.device, source)) {
      out.push_back(fmt::format("{}: {} is corrected by the card's calibration line: {}", device.device, source,
                                line_text(line->line)));
      continue;
    }
    const std::string uuid = uuid_of(recording, device.device);
    out.push_back(fmt::format("{}: not calibrated: there is no line for {} of {}. {}", device.device, source,
                              uuid.empty() ? "a card whose UUID the recording does not say" : uuid,
                              series::warning_advice(series::Warning::kNotCalibrated)));
  }
  return out;
}

std::vector<std::string> gain_notes(const RunSummary& summary) {
  const auto by_nvml = [](const DeviceSummary& device) {
    if (!names_a_gpu(device.device) || !device.energy_j) return false;
    const std::string& source = device.runs.front().energy.front().source;
    return std::any_of(kOfNvml.begin(), kOfNvml.end(), [&](const char* prefix) { return source.starts_with(prefix); });
  };
  if (std::none_of(summary.devices.begin(), summary.devices.end(), by_nvml)) return {};
  return {
      "± is how well the readings are known; the gain of the card's own sensor, unknown by some 5 %, is not in it: "
      "calibration takes it out (docs/formats/calibration.md)"};
}

}  // namespace joulecast::cli
