// SPDX-License-Identifier: Apache-2.0
// What a While does with its variables, and how often it runs, as far as its two functions tell.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "import/tensorflow/graph_def.h"

namespace joulecast::tensorflow {

// kFilled: a list that gets an element a round.
enum class LoopRole : std::uint8_t { kInvariant, kCounter, kFilled, kState };

// One for each variable.
std::vector<LoopRole> loop_roles(const FunctionView& body);

// The loop runs while a counter is below this: a variable, or a number.
struct LoopLimit {
  std::size_t variable = 0;
  std::optional<std::int64_t> constant;
};

// Nothing where the condition asks for anything else.
std::optional<LoopLimit> loop_limit(const FunctionView& condition, const std::vector<LoopRole>& roles);

}  // namespace joulecast::tensorflow
