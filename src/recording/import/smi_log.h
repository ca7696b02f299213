// SPDX-License-Identifier: Apache-2.0
// What `nvidia-smi --query-gpu=... --format=csv -lms N` printed.
#pragma once

#include <string>
#include <string_view>

#include "recording/import/import.h"

namespace joulecast {

// Columns in any order, with header or with options.columns, with units or without. `name` is for messages. Errors:
// kInvalidInput with the line.
Result<Recording> parse_smi_log(std::string_view text, const ImportOptions& options, const std::string& name);
Result<Recording> import_smi_log(const std::string& path, const ImportOptions& options);

// Whether it begins like one; without a header only where it begins with a time.
bool looks_like_smi_log(std::string_view text);

}  // namespace joulecast
