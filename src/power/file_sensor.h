// SPDX-License-Identifier: Apache-2.0
// A sensor whose channels are files of /sys with one number each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "power/sensor.h"
#include "power/sys_file.h"

namespace joulecast {

struct FileChannel {
  Channel channel;
  SysFile file;
  double scale = 1.0;  // steps of the channel's signal for 1 in the file
};

// Readings outside what anything on a desk or in a rack can have (hwmon gives 4294967295000 for "not known") are
// absent.
std::unique_ptr<Sensor> file_sensor(std::vector<FileChannel> channels, Lane lane, std::chrono::microseconds period);

}  // namespace joulecast
