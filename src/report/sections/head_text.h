// SPDX-License-Identifier: Apache-2.0
// What a recording's head says of command, machine and GPUs, as text that is not yet HTML. What is not there is empty.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace joulecast::report {

std::string member(const nlohmann::json& object, const char* key);
nlohmann::json part(const nlohmann::json& object, const char* key);
std::string machine_text(const nlohmann::json& machine);
// "2 × NVIDIA A30 (driver 550.54.15)", each kind once.
std::string gpus_text(const nlohmann::json& head);

}  // namespace joulecast::report
