// SPDX-License-Identifier: Apache-2.0
// One call of a layer while it is lowered: its configuration, its weights, and TensorFlow's operators to write it with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/keras/model.h"
#include "import/tensorflow/attribute_writer.h"
#include "import/tensorflow/lowerings.h"

namespace joulecast::keras {

using tensorflow::Attributes;
using tensorflow::NodeContext;
using tensorflow::Tensor;
using ImageLayout = tensorflow::Layout;

class LayerContext {
 public:
  // Requires: the node is a call.
  explicit LayerContext(NodeContext& node) : node_(node), call_(*node_call(node.node())) {}

  [[nodiscard]] NodeContext& node() { return node_; }
  [[nodiscard]] Layer& layer() { return *call_.layer; }
  [[nodiscard]] const Json& config() const { return *call_.layer->config; }
  [[nodiscard]] const Json* arguments() const { return call_.arguments; }
  // Argument i of the call, or the one of that name; nullptr where it is not given, or null.
  [[nodiscard]] const Json* argument(std::size_t i, std::string_view name) const;
  // The same where it is a tensor of another layer.
  [[nodiscard]] std::optional<Tensor> tensor_argument(std::size_t i, std::string_view name);
  // What is called: tensors of other layers, numbers and constants, in the order of the arguments.
  [[nodiscard]] std::vector<Tensor> operands();

  // The configuration. Each fails if the value is there with another type; null is absent.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view key, std::int64_t absent) const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view key) const;  // at least 1
  [[nodiscard]] Result<bool> flag(std::string_view key, bool absent) const;
  [[nodiscard]] Result<double> real(std::string_view key, double absent) const;
  [[nodiscard]] Result<std::string_view> text(std::string_view key, std::string_view absent) const;
  // A number for each of `count` axes, or one for all.
  [[nodiscard]] Result<IntList> per_axis(std::string_view key, std::size_t count, std::int64_t absent) const;
  [[nodiscard]] Result<IntList> integers(std::string_view key) const;  // a number or a list of them
  [[nodiscard]] Result<bool> channels_first() const;
  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view key, std::string_view what) const;

  // Inputs.
  [[nodiscard]] const Tensor& input(std::size_t i = 0) const { return node_.input(i); }
  [[nodiscard]] std::optional<Shape> extents(const Tensor& tensor) const { return node_.canvas().extents(tensor); }
  [[nodiscard]] Result<std::size_t> rank(const Tensor& tensor) const;
  // A known extent; `axis` may count from the end.
  [[nodiscard]] Result<std::int64_t> extent(const Tensor& tensor, std::int64_t axis) const;

  // A weight of the layer: the same for all its calls.
  Result<Tensor> weight(const std::string& name, const Shape& shape);
  Tensor ints(IntList values) { return node_.int_tensor(std::move(values)); }
  Tensor matrix(const IntList& values, std::int64_t columns);
  Tensor number(double value);

  // An operator of TensorFlow on `inputs`; its first output.
  Result<Tensor> apply(std::string_view op, std::vector<Tensor> inputs, Attributes attributes = {});
  // The same, with all of its `outputs`.
  Result<std::vector<Tensor>> apply_all(std::string_view op, std::vector<Tensor> inputs, Attributes attributes,
                                        std::size_t outputs);
  // One of ours; the value has its axes in the order of `layout`.
  Tensor add(Operator op, std::vector<ValueId> inputs, const ImageLayout& layout = {});
  ValueId plain(const Tensor& tensor) { return node_.canvas().plain(tensor); }
  // Another layer inside of this one, called on `inputs`.
  Result<std::vector<Tensor>> call(Layer& part, std::vector<Tensor> inputs);
  // The activation that the configuration names.
  Result<Tensor> activate(const Tensor& x, std::string_view key = "activation");
  Result<Tensor> activate_by(const Tensor& x, const Json& activation);

  // Output i of the layer.
  Result<void> finish(const Tensor& tensor, std::size_t i = 0);
  // Kept under the name of its class, of the shapes that the file tells, else that of its input.
  Result<void> opaque();
  Result<Tensor> opaque(const Tensor& x, std::string_view name);

 private:
  [[nodiscard]] std::string step_name(std::string_view op) const;
  void add_operands(const Json& value, std::size_t& next, std::vector<Tensor>& out);
  Tensor constant(const Json& config);
  [[nodiscard]] std::vector<TensorType> declared_outputs(bool& guessed) const;

  NodeContext& node_;
  const Call& call_;
};

}  // namespace joulecast::keras
