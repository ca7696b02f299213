// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "power/file_sensor.h"
#include "power/sensor.h"

namespace joulecast {

// Power meters of the board and of add-in cards that the kernel shows in /sys/class/hwmon, but for GPUs.
Result<Found> find_hwmon(const SensorOptions& options);

struct HwmonChip {
  std::filesystem::path folder;
  std::string name;  // "amdgpu"
};
// Sorted by folder.
std::vector<HwmonChip> list_hwmon(const std::string& root);

// A file of hwmon: what it means and how many steps 1 of it is.
struct HwmonFile {
  const char* name;
  Signal signal;
  double scale;
};

// Those of `files` that can be read, all of one device.
std::vector<FileChannel> open_hwmon(const HwmonChip& chip, const std::vector<HwmonFile>& files,
                                    const std::string& device, std::vector<Missing>& missing);

}  // namespace joulecast
