// SPDX-License-Identifier: Apache-2.0
// A network that is written down layer by layer, with the operators that PyTorch runs for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/builder.h"
#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast::huggingface {

// Heads of an attention: as many of queries as of keys, or a multiple.
struct Heads {
  std::int64_t count = 1, key_value_count = 1, width = 1;
};

class Net {
 public:
  explicit Net(std::string_view name);

  // An input [extents...]; each a number, or the name of what a Binding sets.
  ValueId input(std::string_view name, ElementType element, std::vector<Dimension> dimensions);
  ValueId weight(std::string_view name, const Shape& shape);
  ValueId buffer(std::string_view name, const Shape& shape);  // nothing that is trained
  ValueId integers(IntList values);
  ValueId number(double value);

  ValueId add(Operator op, std::vector<ValueId> inputs);
  std::vector<ValueId> add(Operator op, std::vector<ValueId> inputs, std::size_t outputs);
  ValueId binary(BinaryKind kind, ValueId a, ValueId b) { return add(Binary{kind}, {a, b}); }
  ValueId sum(ValueId a, ValueId b) { return binary(BinaryKind::kAdd, a, b); }
  ValueId product(ValueId a, ValueId b) { return binary(BinaryKind::kMul, a, b); }

  // x [..., in] -> [..., out]. Weights are NAME.weight and NAME.bias.
  ValueId linear(std::string_view name, ValueId x, std::int64_t in, std::int64_t out, bool bias);
  ValueId layer_norm(std::string_view name, ValueId x, std::int64_t width);
  ValueId rms_norm(std::string_view name, ValueId x, std::int64_t width);
  ValueId embedding(ValueId table, ValueId ids) { return add(Embedding{}, {table, ids}); }
  ValueId dropout(ValueId x, double probability);
  // An activation by transformers' name ("gelu_new"), with the kernels that it runs. Errors: kUnsupported.
  Result<ValueId> activation(std::string_view name, ValueId x);

  // 0, 1, 2, ... [1, length] of tokens [batch, length].
  ValueId positions(ValueId tokens);

  ValueId reshape(ValueId x, IntList extents) { return add(Reshape{}, {x, integers(std::move(extents))}); }
  ValueId transpose(ValueId x, IntList order) { return add(Transpose{std::move(order)}, {x}); }
  // Part of an axis, from `begin` to before `end`.
  ValueId slice(ValueId x, std::int64_t axis, std::int64_t begin, std::int64_t end);
  // An extent as a vector of one.
  ValueId extent(ValueId x, std::int64_t axis) { return add(ShapeOf{axis, axis + 1}, {x}); }

  // [batch, length, heads * width] -> [batch, heads, length, width], and back.
  ValueId split_heads(ValueId x, std::int64_t heads, std::int64_t width);
  ValueId join_heads(ValueId x, std::int64_t width_of_all);
  // Of split heads; fewer of keys than of queries are repeated.
  ValueId attention(ValueId query, ValueId key, ValueId value, const Heads& heads, bool causal, ValueId bias = kNoValue,
                    double dropout = 0.0);

  void output(ValueId id) { builder_.graph.outputs.push_back(id); }
  void note(std::string text) { builder_.graph.notes.push_back({std::move(text)}); }
  // Errors: kInvalidInput where the parts do not fit each other.
  Result<Graph> finish();

 private:
  GraphBuilder builder_;
};

}  // namespace joulecast::huggingface
