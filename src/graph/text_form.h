// SPDX-License-Identifier: Apache-2.0
// What the printer and the parser of the text form agree on.
#pragma once

#include <string>
#include <string_view>

#include "joulecast/graph.h"

namespace joulecast::text_form {

// Longer texts are refused: they bound every count of the graph.
inline constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

// The type of the value of an input that says nothing else: its own where no extent is a symbol.
inline TensorType implied_type(const GraphInput& input) {
  TensorType type{input.element, {}};
  if (input.dimensions.size() > kMaxRank) return {};
  for (const Dimension& dimension : input.dimensions) {
    if (!dimension.extent) return {};
    type.shape.push_back(*dimension.extent);
  }
  return type;
}

// Whether a word is the name of an operator.
bool is_operator(std::string_view word);

// The fields of an operator that differ from their defaults, as they stand between the braces of its node; may be
// empty.
std::string fields_text(const Operator& op);

}  // namespace joulecast::text_form
