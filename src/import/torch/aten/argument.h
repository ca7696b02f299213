// SPDX-License-Identifier: Apache-2.0
// What an operator of PyTorch is called with, whatever file the call stands in.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "joulecast/graph.h"

namespace joulecast::aten {

// A number, or a scalar of the graph that holds it (an extent only known when the network is run).
struct Integer {
  std::int64_t value = 0;
  ValueId id = kNoValue;

  [[nodiscard]] bool symbolic() const { return id != kNoValue; }
  bool operator==(const Integer&) const = default;
};

// Device, layout, memory format and what else does not change the work.
struct Setting {};

// ValueId: a tensor, or a symbolic float or bool as a scalar one. Lists of tensors hold kNoValue for None.
using Argument = std::variant<std::monostate, ValueId, std::vector<ValueId>, Integer, std::vector<Integer>, bool,
                              double, std::vector<double>, std::string_view, ElementType, Setting>;

}  // namespace joulecast::aten
