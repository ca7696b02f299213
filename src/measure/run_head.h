// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "power/sensor.h"

namespace joulecast {

// What a recording says about the run before it begins: command, machine, devices as they were found, what cannot be
// read here, the rank in a job of many.
nlohmann::ordered_json run_head(const std::vector<std::string>& command, const Found& found,
                                const std::string& tool_version);

// This process's number in a job of many, as torchrun, MPI or Slurm say it; "0" outside of one.
std::string own_rank();

// "2026-11-21T22:15:03.250Z" of microseconds since 1970.
std::string iso_utc(std::int64_t microseconds);

}  // namespace joulecast
