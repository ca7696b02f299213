// SPDX-License-Identifier: Apache-2.0
#include "power/hwmon.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace joulecast {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::microseconds kPeriod{100'000};
constexpr double kMilliwattsOfMicrowatt = 1e-3;

}  // namespace

std::vector<HwmonChip> list_hwmon(const std::string& root) {
  std::vector<HwmonChip> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::path(root) / "sys/class/hwmon", ignored)) {
    if (const auto name = read_text(entry.path() / "name")) out.push_back({entry.path(), *name});
  }
  std::sort(out.begin(), out.end(), [](const HwmonChip& a, const HwmonChip& b) { return a.folder < b.folder; });
  return out;
}

std::vector<FileChannel> open_hwmon(const HwmonChip& chip, const std::vector<HwmonFile>& files,
                                    const std::string& device, std::vector<Missing>& missing) {
  std::vector<FileChannel> out;
  for (const HwmonFile& file : files) {
    auto opened = SysFile::open(chip.folder / file.name);
    // Some kernels have the file and no number behind it.
    if (opened && opened->number()) {
      out.push_back(
          {{device, file.signal, fmt::format("hwmon-{}", chip.name), std::nullopt}, std::move(*opened), file.scale});
    } else if (!opened && opened.error().code() != ErrorCode::kNotFound) {
      missing.push_back({fmt::format("{}: {}", device, file.name), opened.error().text(),
                         fmt::format("sudo chmod a+r {}", (chip.folder / file.name).string())});
    }
  }
  return out;
}

Result<Found> find_hwmon(const SensorOptions& options) {
  Found found;
  for (const HwmonChip& chip : list_hwmon(options.root)) {
    if (chip.name == "amdgpu") continue;
    const std::string device = fmt::format("{}-{}", chip.name, chip.folder.filename().string());
    auto files = open_hwmon(chip,
                            {{"power1_input", Signal::kPower, kMilliwattsOfMicrowatt},
                             {"power1_average", Signal::kPower, kMilliwattsOfMicrowatt},
                             {"energy1_input", Signal::kEnergy, 1.0}},
                            device, found.missing);
    if (files.empty()) continue;
    found.sensors.push_back(file_sensor(std::move(files), Lane::kPower, kPeriod));
    found.devices.push_back({device, "meter", chip.name, nlohmann::json::object()});
  }
  return found;
}

}  // namespace joulecast
