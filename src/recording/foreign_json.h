// SPDX-License-Identifier: Apache-2.0
// JSON that others wrote.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace joulecast {

// The object in this text, every string and key in it harmless (base/harmless.h), what is nested too deep to be walked
// left out. Null where there is none.
nlohmann::json foreign_object(std::string_view text);

// The same for one that was parsed already. Requires: nested no deeper than a stack takes.
nlohmann::json harmless(const nlohmann::json& json);

}  // namespace joulecast
