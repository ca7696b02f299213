// SPDX-License-Identifier: Apache-2.0
// Operators of TensorFlow itself in a TensorFlow Lite model ("FlexErf"): what their options hold.
#pragma once

#include <optional>
#include <string_view>

namespace joulecast::tflite {

// The NodeDef in the options of such an operator: the second of two strings in a FlexBuffer. Nothing for other bytes.
std::optional<std::string_view> flex_node(std::string_view options);

}  // namespace joulecast::tflite
