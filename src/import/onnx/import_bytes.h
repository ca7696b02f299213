// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast::onnx {

// As import_onnx() of import.h, but errors do not say which file it is. `name` is the graph's.
Result<Graph> import_bytes(std::span<const std::byte> bytes, std::string_view name);

}  // namespace joulecast::onnx
