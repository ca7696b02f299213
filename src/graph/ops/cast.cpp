// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"
#include "graph/ops/known.h"

namespace joulecast {
namespace {

bool is_unsigned(ElementType type) {
  return type >= ElementType::kUInt64 && type <= ElementType::kUInt4;
}

// Nothing where the value does not fit: what then happens differs between frameworks.
std::optional<std::int64_t> narrowed(std::int64_t value, ElementType to) {
  if (to == ElementType::kBool) return static_cast<std::int64_t>(value != 0);
  const int bits = bit_width(to);
  if (is_unsigned(to)) {
    if (value < 0 || (bits < 63 && value >= std::int64_t{1} << bits)) return std::nullopt;
    return value;
  }
  if (bits >= 64) return value;
  const std::int64_t limit = std::int64_t{1} << (bits - 1);
  return value < -limit || value >= limit ? std::nullopt : std::optional(value);
}

std::optional<std::int64_t> narrowed(double value, ElementType to) {
  if (to == ElementType::kBool) return static_cast<std::int64_t>(value != 0.0);
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (!(value > -kLimit && value < kLimit)) return std::nullopt;
  return narrowed(static_cast<std::int64_t>(value), to);
}

template <typename T>
bool convert(const std::vector<T>& from, ElementType to, Contents& out) {
  for (const T value : from) {
    if (is_floating(to)) {
      out.reals.push_back(static_cast<double>(value));
    } else if (const auto whole = narrowed(value, to)) {
      out.ints.push_back(*whole);
    } else {
      return false;
    }
  }
  return true;
}

// Rounding to narrower floating types is not followed: shapes are whole numbers.
void follow(const Cast& op, InferContext& context) {
  const Contents* from = context.known(0);
  const bool possible = is_floating(op.to) || is_integer(op.to) || op.to == ElementType::kBool;
  if (from == nullptr || !possible || !followable_shape(context.shape(0))) return;
  Contents out;
  if (convert(from->ints, op.to, out) && convert(from->reals, op.to, out)) context.set_known(0, std::move(out));
}

}  // namespace

Result<void> infer(const Cast& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_RETURN_IF_ERROR(context.set(0, op.to, context.shape(0)));
  follow(op, context);
  return {};
}

// To the type it has already: no kernel.
Cost cost(const Cast& op, const CostContext& context) {
  if (context.input(0).element == op.to) return {};
  Cost cost = copy_cost(context, input_bytes(context), output_bytes(context));
  if (!is_floating(op.to)) cost.backward_read = cost.backward_written = Bytes{};
  return cost;
}

}  // namespace joulecast
