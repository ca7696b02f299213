// SPDX-License-Identifier: Apache-2.0
// Which ONNX operator is lowered by which function. The functions stand in lower_<family>.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "import/onnx/node_context.h"

namespace joulecast::onnx {

using LowerFunction = Result<void> (*)(NodeContext&);

struct OperatorEntry {
  std::string_view domain;  // "" is ONNX's own
  std::string_view name;
  std::size_t inputs;  // that must be there at least
  LowerFunction lower;
};

// Sorted by domain, then name.
std::span<const OperatorEntry> operator_list();
// nullptr where there is no entry; such a node is kept as Opaque.
const OperatorEntry* find_operator(std::string_view domain, std::string_view name);

}  // namespace joulecast::onnx
