// SPDX-License-Identifier: Apache-2.0
// Programs of joulecast's that `joulecast` becomes, because their libraries would cost every other start too much.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/outcome.h"

namespace joulecast::cli {

// Becomes the program of that name, in a build tree beside this one, in an install tree in libexec. Comes back only
// with an error: kNotFound with `hint` where it is not installed.
Outcome become(const std::string& program, std::vector<std::string> arguments, const std::string& hint);

// `joulecast` itself, for its own other programs: in a build tree beside them, in an install tree in bin.
std::string joulecast_program();

inline constexpr std::string_view kDatasetProgram = "joulecast-dataset";
inline constexpr std::string_view kMeasureProgram = "joulecast-measure";
inline constexpr std::string_view kProfileProgram = "joulecast-profile";

// One of them with all of this program's arguments, the verb first.
Outcome run_elsewhere(std::string_view program, std::span<const std::string_view> arguments);

}  // namespace joulecast::cli
