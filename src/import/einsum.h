// SPDX-License-Identifier: Apache-2.0
// Einsum of two operands as transposes, one matrix product and reshapes, as torch.einsum does it. For every importer:
// `Node` is what its lowerings are given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast {
namespace einsum {

struct Equation {
  std::string a, b, out;
};

// Labels by the part they play: in both and the result, in one and the result, in both and summed.
struct Roles {
  std::string batch, rows, columns, summed;
};

// Nothing unless there are two operands and an explicit result, and no diagonals or ellipsis.
std::optional<Equation> parse(std::string_view text);
// Nothing where a label is summed over one operand alone.
std::optional<Roles> roles(const Equation& equation);
IntList order_of(const std::string& from, const std::string& to);
// At most one label each for rows, columns and sum: then no reshape is needed and every extent stays as it is.
bool is_plain_product(const Roles& roles);

template <typename Node>
ValueId transposed(Node& node, ValueId x, const std::string& from, const std::string& to) {
  return from == to ? x : node.step(Transpose{order_of(from, to)}, {x}, "transposed");
}

// `count` axes from `first` become one; none become an axis of 1.
template <typename Node>
ValueId merged(Node& node, ValueId x, std::size_t first, std::size_t count) {
  const auto axis = static_cast<std::int64_t>(first);
  if (count == 1) return x;
  if (count == 0) return node.step(Unsqueeze{{axis}}, {x}, "merged");
  return node.step(Flatten{axis, axis + static_cast<std::int64_t>(count) - 1}, {x}, "merged");
}

// The extents of `rows` labels of a, then of the `columns` last ones of b.
template <typename Node>
ValueId joined_shape(Node& node, ValueId a, std::size_t rows, ValueId b, std::size_t columns) {
  std::vector<ValueId> parts;
  if (rows > 0) parts.push_back(node.step(ShapeOf{0, static_cast<std::int64_t>(rows), false}, {a}, "rows"));
  if (columns > 0) {
    parts.push_back(node.step(ShapeOf{-static_cast<std::int64_t>(columns), std::nullopt, false}, {b}, "columns"));
  }
  if (parts.empty()) return node.int_vector({});
  return parts.size() == 1 ? parts[0] : node.step(Concat{0}, parts, "shape");
}

// [batch..., rows...] x [batch..., columns...] with rows, columns and sum merged to one axis each.
template <typename Node>
Result<void> general(Node& node, ValueId x, ValueId y, const Equation& e, const Roles& r) {
  const std::size_t batch = r.batch.size();
  const ValueId a = transposed(node, x, e.a, r.batch + r.rows + r.summed);
  const ValueId b = transposed(node, y, e.b, r.batch + r.summed + r.columns);
  const ValueId left = merged(node, merged(node, a, batch, r.rows.size()), batch + 1, r.summed.size());
  const ValueId right = merged(node, merged(node, b, batch, r.summed.size()), batch + 1, r.columns.size());
  const ValueId product = node.step(MatMul{}, {left, right}, "product");
  const ValueId shape = joined_shape(node, a, batch + r.rows.size(), b, r.columns.size());
  const std::string made = r.batch + r.rows + r.columns;
  if (made == e.out) return node.emit(Reshape{.allow_zero = true}, {product, shape});
  const ValueId parted = node.step(Reshape{.allow_zero = true}, {product, shape}, "parted");
  return node.emit(Transpose{order_of(made, e.out)}, {parted});
}

}  // namespace einsum

// Output 0 of `node` as the product of a and b; the operator stays as it is where the equation is of another kind.
template <typename Node>
Result<void> emit_einsum(Node& node, std::string_view text, ValueId a, ValueId b) {
  const auto equation = einsum::parse(text);
  const auto parts = equation ? einsum::roles(*equation) : std::nullopt;
  if (!parts) return node.opaque();
  if (parts->summed.empty() && parts->rows.empty() && parts->columns.empty()) {  // "ij,ij->ij"
    const ValueId left = einsum::transposed(node, a, equation->a, equation->out);
    const ValueId right = einsum::transposed(node, b, equation->b, equation->out);
    return node.emit(Binary{BinaryKind::kMul}, {left, right});
  }
  if (!einsum::is_plain_product(*parts)) return einsum::general(node, a, b, *equation, *parts);
  const ValueId left = einsum::transposed(node, a, equation->a, parts->batch + parts->rows + parts->summed);
  const ValueId right = einsum::transposed(node, b, equation->b, parts->batch + parts->summed + parts->columns);
  const std::string made = parts->batch + parts->rows + parts->columns;
  if (made == equation->out) return node.emit(MatMul{}, {left, right});
  const ValueId product = node.step(MatMul{}, {left, right}, "product");
  return node.emit(Transpose{einsum::order_of(made, equation->out)}, {product});
}

}  // namespace joulecast
