// SPDX-License-Identifier: Apache-2.0
// Entries of the lists of layers and operations.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "import/keras/lowerings.h"

namespace joulecast::keras {

// A name of TensorFlow's as an argument of a template.
template <std::size_t kLength>
struct Name {
  std::array<char, kLength> characters{};
  consteval Name(const char (&name)[kLength]) { std::copy_n(name, kLength, characters.begin()); }
  [[nodiscard]] constexpr std::string_view text() const { return {characters.data(), kLength - 1}; }
};

template <auto kLower>
Result<void> lowered(NodeContext& node) {
  LayerContext layer(node);
  return kLower(layer);
}

template <auto kLower, Name kOperator>
Result<void> lowered_as(NodeContext& node) {
  LayerContext layer(node);
  return kLower(layer, kOperator.text());
}

template <Name kOperator>
Result<void> merged(NodeContext& node) {
  return lowered_as<lower_merge, kOperator>(node);
}

}  // namespace joulecast::keras
