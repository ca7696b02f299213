// SPDX-License-Identifier: Apache-2.0
// What a table says beyond our columns, as one line of text: "gated=True; layers=32". In keys and values '%', ';', '='
// (in keys) and control characters are written %XX.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/result.h"

namespace joulecast {

// Appends an entry; nothing for an empty value.
void add_detail(std::string& details, std::string_view key, std::string_view value);

// Errors: kInvalidInput for an entry without '=', an empty key or a bad %XX.
Result<std::vector<std::pair<std::string, std::string>>> parse_details(std::string_view text);

}  // namespace joulecast
