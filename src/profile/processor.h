// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace joulecast::profile {

// The first model name in a file like /proc/cpuinfo, as "AMD EPYC 7B13"; empty where it has none (as on ARM).
std::string processor_name(const std::string& cpuinfo = "/proc/cpuinfo");

}  // namespace joulecast::profile
