// SPDX-License-Identifier: Apache-2.0
// Text of others - commands, names of devices and phases - made harmless for a page.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace joulecast::report {

using Json = nlohmann::ordered_json;

// For between tags and inside quoted attributes, and harmless (base/harmless.h).
std::string html_text(std::string_view text);

// JSON that no parser of HTML or JavaScript can take for an end of the script around it: ASCII without <, > and &.
std::string script_json(const Json& json);

// "3.03 kJ": three digits and a prefix.
std::string quantity(double value, std::string_view unit);

// The text of a JSON value: strings as they are, numbers and truths as JSON writes them.
std::string plain_text(const nlohmann::json& value);

}  // namespace joulecast::report
