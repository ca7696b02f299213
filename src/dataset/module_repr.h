// SPDX-License-Identifier: Apache-2.0
// PyTorch modules as they print themselves: "Conv2d(3, 32, kernel_size=(3, 3), stride=(2, 2), bias=False)".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/operation.h"
#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast {

// One argument: numbers (several for a tuple; True and False are 1 and 0) or a word.
struct ReprArgument {
  std::string name;  // empty for a positional one
  std::vector<double> numbers;
  bool tuple = false;
  std::string word;  // 'none', row, None

  bool operator==(const ReprArgument&) const = default;
};

struct ModuleRepr {
  std::string name;
  std::vector<ReprArgument> arguments;

  bool operator==(const ModuleRepr&) const = default;

  [[nodiscard]] const ReprArgument* find(std::string_view name) const;
  // As it would print, without `inplace`.
  [[nodiscard]] std::string text() const;
};

// Errors name the place in the text.
Result<ModuleRepr> parse_module_repr(std::string_view text);

// The module applied to an input of this shape. Errors: kUnsupported for modules and options we have no operator for.
Result<Graph> module_operation(const ModuleRepr& module, const Shape& input, ElementType element);

}  // namespace joulecast
