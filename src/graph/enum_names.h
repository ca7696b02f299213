// SPDX-License-Identifier: Apache-2.0
// The text names of enum values, in the order of the enum: said once, used by the printer and the parser.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "joulecast/operators.h"

namespace joulecast {

template <typename E>
struct EnumNames;

template <>
struct EnumNames<PoolKind> {
  static constexpr std::array<std::string_view, 3> kNames{"max", "average", "lp"};
};
template <>
struct EnumNames<ActivationKind> {
  static constexpr std::array<std::string_view, 23> kNames{
      "relu",      "relu6",      "leaky_relu",  "prelu",     "elu",         "selu",    "celu", "gelu",
      "gelu_tanh", "quick_gelu", "silu",        "hardswish", "hardsigmoid", "sigmoid", "tanh", "softplus",
      "softsign",  "mish",       "log_sigmoid", "clip",      "threshold",   "shrink",  "glu"};
};
template <>
struct EnumNames<UnaryKind> {
  static constexpr std::array<std::string_view, 30> kNames{
      "neg",  "abs",   "exp",  "log",         "sqrt",   "rsqrt",  "reciprocal", "erf",    "sign",  "floor",
      "ceil", "round", "not",  "bitwise_not", "is_nan", "is_inf", "sin",        "cos",    "tan",   "asin",
      "acos", "atan",  "sinh", "cosh",        "asinh",  "acosh",  "atanh",      "square", "log1p", "expm1"};
};
template <>
struct EnumNames<BinaryKind> {
  static constexpr std::array<std::string_view, 23> kNames{
      "add", "sub",         "mul",        "div",         "pow",        "mod",           "fmod", "min",
      "max", "equal",       "less",       "less_equal",  "greater",    "greater_equal", "and",  "or",
      "xor", "bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right",   "atan2"};
};
template <>
struct EnumNames<GatherKind> {
  static constexpr std::array<std::string_view, 3> kNames{"slices", "elements", "nd"};
};
template <>
struct EnumNames<ReduceKind> {
  static constexpr std::array<std::string_view, 14> kNames{"sum",     "mean",    "max",        "min",     "prod",
                                                           "l1",      "l2",      "sum_square", "log_sum", "log_sum_exp",
                                                           "arg_max", "arg_min", "any",        "all"};
};
template <>
struct EnumNames<ResizeKind> {
  static constexpr std::array<std::string_view, 3> kNames{"nearest", "linear", "cubic"};
};
template <>
struct EnumNames<RnnKind> {
  static constexpr std::array<std::string_view, 3> kNames{"rnn", "lstm", "gru"};
};

template <typename E>
constexpr std::string_view enum_name(E value) {
  return EnumNames<E>::kNames[static_cast<std::size_t>(value)];
}

template <typename E>
constexpr std::optional<E> parse_enum(std::string_view text) {
  const auto& names = EnumNames<E>::kNames;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace joulecast
