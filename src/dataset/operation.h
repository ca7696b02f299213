// SPDX-License-Identifier: Apache-2.0
// Builds the graphs of single operations.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast {

// One node and its inputs, added in the operator's order.
//
//   OperationBuilder builder(ElementType::kFloat32);
//   builder.input({32, 128}).parameter({256, 128}).no_input();
//   Graph graph = std::move(builder).build(Linear{});
class OperationBuilder {
 public:
  explicit OperationBuilder(ElementType element) : element_(element) {}

  OperationBuilder& input(const Shape& shape) { return input(shape, element_); }
  OperationBuilder& input(const Shape& shape, ElementType element);
  OperationBuilder& parameter(const Shape& shape) { return parameter(shape, element_); }
  OperationBuilder& parameter(const Shape& shape, ElementType element);
  OperationBuilder& scalar(double value);      // a constant of no extents
  OperationBuilder& integers(IntList values);  // a constant with one axis
  OperationBuilder& no_input();                // an optional one that is absent
  Graph build(Operator op) &&;

 private:
  ValueId add(ValueKind kind, std::string_view prefix, const TensorType& type);

  ElementType element_;
  Graph graph_;
  Node node_;
};

// The same operation is built once and shared, for as long as the pool has room: then it starts anew.
class OperationPool {
 public:
  // Errors: those of `make`, a callable that gives Result<Graph>; and of infer_types(): shapes of a table may not fit.
  template <typename Make>
  Result<std::shared_ptr<const Graph>> get(const std::string& key, Make make) {
    const auto found = graphs_.find(key);
    if (found != graphs_.end()) return found->second;
    JC_ASSIGN_OR_RETURN(Graph graph, make());
    JC_RETURN_IF_ERROR(infer_types(graph, {}));
    if (graphs_.size() == kMaxGraphs) graphs_.clear();
    return graphs_.emplace(key, std::make_shared<const Graph>(std::move(graph))).first->second;
  }

 private:
  static constexpr std::size_t kMaxGraphs = std::size_t{1}
                                            << 17;  // about 200 MB; published tables have at most 107,443
  std::map<std::string, std::shared_ptr<const Graph>> graphs_;
};

// x [m, k] by weight [n, k].
Graph linear_operation(std::int64_t m, std::int64_t n, std::int64_t k, ElementType element, bool bias);
Graph linear_operation(std::int64_t m, std::int64_t n, std::int64_t k, ElementType element, ElementType weight);

struct AttentionShape {
  std::int64_t batch = 1, queries = 1, keys = 1, heads = 1, kv_heads = 1, head = 1;
  std::int64_t window = 0;  // keys that a query sees, the last ones; 0: no limit
  bool causal = false;
};
Graph attention_operation(const AttentionShape& shape, ElementType element, ElementType kv_element);

}  // namespace joulecast
