// SPDX-License-Identifier: Apache-2.0
// What pages with charts need from where the program is installed.
#pragma once

#include <optional>
#include <string>

#include "cli/outcome.h"

namespace joulecast::cli {

// The script that draws charts; absent where this joulecast was built without.
std::optional<std::string> drawing_script();
Failure no_drawing_script();

// The whole page or none: what was there stays until the new one is complete.
Outcome write_page(const std::string& path, const std::string& text);

}  // namespace joulecast::cli
