// SPDX-License-Identifier: Apache-2.0
// One node of the file while it is lowered: its inputs, its attributes, and where its operators go.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/tensorflow/importer.h"

namespace joulecast::tensorflow {

class NodeContext {
 public:
  NodeContext(Importer& importer, Scope& scope, const NodeView& node, std::uint64_t used, std::vector<Tensor> inputs)
      : importer_(importer), scope_(scope), node_(node), used_(used), inputs_(std::move(inputs)) {}

  [[nodiscard]] const NodeView& node() const { return node_; }
  [[nodiscard]] Importer& importer() { return importer_; }
  [[nodiscard]] Scope& scope() { return scope_; }
  [[nodiscard]] Canvas& canvas() { return *scope_.canvas; }
  [[nodiscard]] const Canvas& canvas() const { return *scope_.canvas; }

  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  [[nodiscard]] const std::vector<Tensor>& inputs() const { return inputs_; }
  [[nodiscard]] const Tensor& input(std::size_t i) const;
  // Somebody reads output i.
  [[nodiscard]] bool used(std::size_t i) const { return (used_ >> std::min<std::size_t>(i, 63) & 1U) != 0; }

  // What is known about input i; nothing where it is absent.
  [[nodiscard]] std::optional<Shape> extents(std::size_t i) const { return canvas().extents(input(i)); }
  [[nodiscard]] std::optional<std::size_t> rank(std::size_t i) const;
  [[nodiscard]] ElementType element(std::size_t i) const { return canvas().element(input(i)); }
  [[nodiscard]] std::optional<IntList> integers(std::size_t i) const;  // all of them known
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t i) const;
  [[nodiscard]] std::optional<double> real(std::size_t i) const;  // one constant

  // The value of input i, its axes in their own order or as `layout` has them.
  ValueId value(std::size_t i, const Layout& layout = {}) { return canvas().arranged(input(i), layout); }

  // Attributes. Each fails if the attribute is there with another type. Files leave out those that have their default.
  [[nodiscard]] const AttributeView* find(std::string_view name) const;
  [[nodiscard]] Result<std::int64_t> attribute(std::string_view name, std::int64_t absent) const;
  [[nodiscard]] Result<double> attribute(std::string_view name, double absent) const;
  [[nodiscard]] Result<bool> flag(std::string_view name, bool absent) const;
  [[nodiscard]] Result<std::string_view> attribute(std::string_view name, std::string_view absent) const;
  [[nodiscard]] Result<IntList> list(std::string_view name) const;  // empty if missing
  [[nodiscard]] Result<std::vector<std::string_view>> strings(std::string_view name) const;
  [[nodiscard]] Result<std::int64_t> data_type(std::string_view name, std::int64_t absent) const;  // a DataType
  [[nodiscard]] Result<PartialShape> shape(std::string_view name) const;
  [[nodiscard]] Result<const FunctionView*> function(std::string_view name);  // never nullptr
  // The declared shape of output i.
  [[nodiscard]] Result<PartialShape> output_shape(std::size_t i) const;
  [[nodiscard]] tl::unexpected<Error> wrong_attribute(std::string_view name, std::string_view what) const;

  // A convolution that is lowered with another dilation and padding than its node has.
  void dilate(const Dilation* dilation) { dilation_ = dilation; }
  [[nodiscard]] const Dilation* dilation() const { return dilation_; }

  // Adds `op`; its outputs are the node's and have their axes in the order of `layout`.
  Result<void> emit(Operator op, std::vector<ValueId> inputs, const Layout& layout = {}, std::size_t outputs = 1);
  // Adds `op` with an output that only this lowering knows.
  ValueId step(Operator op, std::vector<ValueId> inputs, std::string_view suffix);
  std::vector<ValueId> steps(Operator op, std::vector<ValueId> inputs, std::size_t outputs, std::string_view suffix);
  // Output i of the node is this, no operator needed.
  Result<void> output(std::size_t i, const Tensor& tensor);
  // Keeps the node under its own name, with the types that the file declares.
  Result<void> opaque();

  ValueId int_vector(IntList values);
  ValueId int_scalar(std::int64_t value);
  ValueId real_scalar(double value);
  // A constant that is read in the form that its reader wants.
  Tensor int_tensor(IntList values);

  [[nodiscard]] std::string output_name(std::size_t i) const;
  std::vector<Tensor> take_outputs() { return std::move(outputs_); }

 private:
  [[nodiscard]] Result<std::optional<AttributeValue>> typed(std::string_view name, AttributeValue::Kind kind) const;
  [[nodiscard]] Result<std::vector<TensorType>> declared_types() const;

  Importer& importer_;
  Scope& scope_;
  const NodeView& node_;
  std::uint64_t used_;
  const Dilation* dilation_ = nullptr;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
};

}  // namespace joulecast::tensorflow
