// SPDX-License-Identifier: Apache-2.0
// Einsum of two operands as transposes, one matrix product and reshapes, as torch.einsum does it.
#include <algorithm>
#include <string>

#include "import/onnx/lowerings.h"

namespace joulecast::onnx {
namespace {

struct Equation {
  std::string a, b, out;
};

bool distinct(const std::string& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels.find(labels[i], i + 1) != std::string::npos) return false;
  }
  return true;
}
bool letters(const std::string& labels) {
  return std::all_of(labels.begin(), labels.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}
bool has(const std::string& labels, char c) {
  return labels.find(c) != std::string::npos;
}

// Two operands, an explicit result, no diagonals, no ellipsis.
std::optional<Equation> parse(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c != ' ') all += c;
  }
  const std::size_t arrow = all.find("->");
  const std::size_t comma = all.find(',');
  if (arrow == std::string::npos || comma == std::string::npos || comma > arrow) return std::nullopt;
  Equation out{all.substr(0, comma), all.substr(comma + 1, arrow - comma - 1), all.substr(arrow + 2)};
  for (const std::string* part : {&out.a, &out.b, &out.out}) {
    if (part->size() > kMaxRank || !letters(*part) || !distinct(*part)) return std::nullopt;
  }
  return out;
}

// Labels by the part they play: in both and the result, in one and the result, in both and summed.
struct Roles {
  std::string batch, rows, columns, summed;
};

std::optional<Roles> roles(const Equation& e) {
  Roles out;
  for (const char c : e.out) {
    if (!has(e.a, c) && !has(e.b, c)) return std::nullopt;
    std::string& role = has(e.a, c) ? (has(e.b, c) ? out.batch : out.rows) : out.columns;
    role += c;
  }
  for (const char c : e.a) {
    if (has(e.out, c)) continue;
    if (!has(e.b, c)) return std::nullopt;  // summed over one operand alone
    out.summed += c;
  }
  for (const char c : e.b) {
    if (!has(e.out, c) && !has(e.a, c)) return std::nullopt;
  }
  return out;
}

IntList order_of(const std::string& from, const std::string& to) {
  IntList out;
  for (const char c : to) out.push_back(static_cast<std::int64_t>(from.find(c)));
  return out;
}

ValueId transposed(NodeContext& node, ValueId x, const std::string& from, const std::string& to) {
  return from == to ? x : node.step(Transpose{order_of(from, to)}, {x}, "transposed");
}

// At most one label each for rows, columns and sum: then no reshape is needed and every extent stays as it is.
bool is_plain_product(const Roles& r) {
  return r.rows.size() == 1 && r.columns.size() == 1 && r.summed.size() == 1;
}

// `count` axes from `first` become one; none become an axis of 1.
ValueId merged(NodeContext& node, ValueId x, std::size_t first, std::size_t count) {
  const auto axis = static_cast<std::int64_t>(first);
  if (count == 1) return x;
  if (count == 0) return node.step(Unsqueeze{{axis}}, {x}, "merged");
  return node.step(Flatten{axis, axis + static_cast<std::int64_t>(count) - 1}, {x}, "merged");
}

// The extents of `rows` labels of a, then of the `columns` last ones of b.
ValueId joined_shape(NodeContext& node, ValueId a, std::size_t rows, ValueId b, std::size_t columns) {
  std::vector<ValueId> parts;
  if (rows > 0) parts.push_back(node.step(ShapeOf{0, static_cast<std::int64_t>(rows), false}, {a}, "rows"));
  if (columns > 0) {
    parts.push_back(node.step(ShapeOf{-static_cast<std::int64_t>(columns), std::nullopt, false}, {b}, "columns"));
  }
  if (parts.empty()) return node.int_vector({});
  return parts.size() == 1 ? parts[0] : node.step(Concat{0}, parts, "shape");
}

// [batch..., rows...] x [batch..., columns...] with rows, columns and sum merged to one axis each.
Result<void> lower_general_einsum(NodeContext& node, const Equation& e, const Roles& r) {
  const std::size_t batch = r.batch.size();
  const ValueId a = transposed(node, node.input(0), e.a, r.batch + r.rows + r.summed);
  const ValueId b = transposed(node, node.input(1), e.b, r.batch + r.summed + r.columns);
  const ValueId left = merged(node, merged(node, a, batch, r.rows.size()), batch + 1, r.summed.size());
  const ValueId right = merged(node, merged(node, b, batch, r.summed.size()), batch + 1, r.columns.size());
  const ValueId product = node.step(MatMul{}, {left, right}, "product");
  const ValueId shape = joined_shape(node, a, batch + r.rows.size(), b, r.columns.size());
  const std::string made = r.batch + r.rows + r.columns;
  if (made == e.out) return node.emit(Reshape{.allow_zero = true}, {product, shape});
  const ValueId parted = node.step(Reshape{.allow_zero = true}, {product, shape}, "parted");
  return node.emit(Transpose{order_of(made, e.out)}, {parted});
}

}  // namespace

Result<void> lower_einsum(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::string_view text, node.string("equation"));
  const auto equation = parse(text);
  if (!equation || node.input_count() != 2) return node.opaque();
  const auto parts = roles(*equation);
  if (!parts) return node.opaque();
  if (parts->summed.empty() && parts->rows.empty() && parts->columns.empty()) {  // "ij,ij->ij"
    const ValueId a = transposed(node, node.input(0), equation->a, equation->out);
    const ValueId b = transposed(node, node.input(1), equation->b, equation->out);
    return node.emit(Binary{BinaryKind::kMul}, {a, b});
  }
  if (!is_plain_product(*parts)) return lower_general_einsum(node, *equation, *parts);
  const ValueId a = transposed(node, node.input(0), equation->a, parts->batch + parts->rows + parts->summed);
  const ValueId b = transposed(node, node.input(1), equation->b, parts->batch + parts->summed + parts->columns);
  const std::string made = parts->batch + parts->rows + parts->columns;
  if (made == equation->out) return node.emit(MatMul{}, {a, b});
  const ValueId product = node.step(MatMul{}, {a, b}, "product");
  return node.emit(Transpose{order_of(made, equation->out)}, {product});
}

}  // namespace joulecast::onnx
