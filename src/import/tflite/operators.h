// SPDX-License-Identifier: Apache-2.0
// Which operator of TensorFlow Lite becomes which nodes. The functions stand in convert_<family>.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "import/tensorflow/operators.h"
#include "import/tflite/convert.h"

namespace joulecast::tflite {

using ConvertFunction = Result<void> (*)(OperatorConverter&);

struct BuiltinEntry {
  std::int64_t code;  // of BuiltinOperator in the schema
  std::string_view name;
  std::string_view target;  // of TensorFlow, or of lite_operator()
  std::size_t inputs;       // that must be there
  ConvertFunction convert;  // nullptr: kept under its own name
};

// Sorted by code.
std::span<const BuiltinEntry> builtin_list();
const BuiltinEntry* find_builtin(std::int64_t code);

// Operators that TensorFlow has no counterpart of, under their own names; nullptr for any other.
const tensorflow::OperatorEntry* lite_operator(std::string_view name);

}  // namespace joulecast::tflite
