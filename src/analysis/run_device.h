// SPDX-License-Identifier: Apache-2.0
// What a recording's head says of a device.
#pragma once

#include <string>

#include "recording/recording.h"

namespace joulecast {

// Its entry, an object; null where the head has none, which no head can be trusted to.
const nlohmann::json* find_device(const Recording& recording, const std::string& device);
// "NVIDIA H100 80GB HBM3", "GPU-8f3a..."; empty where it does not say.
std::string name_of(const Recording& recording, const std::string& device);
std::string uuid_of(const Recording& recording, const std::string& device);

}  // namespace joulecast
