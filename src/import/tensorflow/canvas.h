// SPDX-License-Identifier: Apache-2.0
// The graph while it is made, and the tensors of the file as values of it in one order of axes or another.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/builder.h"
#include "import/samples.h"
#include "import/tensorflow/layout.h"

namespace joulecast::tensorflow {

// A weight or constant of the file. It becomes a value when somebody reads it, in the form in which it is read.
struct Source {
  std::string name;
  TensorType type;
  std::optional<Contents> contents;
  ValueKind kind = ValueKind::kConstant;
};

// What an output of a node stands for.
struct Tensor {
  enum class Kind : std::uint8_t {
    kNone,    // nothing we have
    kValue,   // a value of the graph, its axes in the order of `layout`
    kSource,  // a weight or constant; `view` is its shape after reshapes
    kHandle,  // a variable, as ReadVariableOp wants it
    kList,    // a TensorList or TensorArray: the value holds its elements along axis 0
  };
  Kind kind = Kind::kNone;
  ValueId id = kNoValue;
  Layout layout;
  const Source* source = nullptr;
  Shape view;
  ValueId item = kNoValue;  // of a list: what was put in last

  static Tensor value(ValueId id, const Layout& layout = {}) {
    return {Kind::kValue, id, layout, nullptr, {}, kNoValue};
  }
  static Tensor of(const Source& source) { return {Kind::kSource, kNoValue, {}, &source, source.type.shape, kNoValue}; }
  [[nodiscard]] bool is_value() const { return kind == Kind::kValue; }
  [[nodiscard]] bool is_source() const { return kind == Kind::kSource; }
  [[nodiscard]] bool is_tensor() const { return is_value() || is_source(); }
};

class Canvas {
 public:
  // `outer`: of the body of a loop or branch, the graph that it belongs to.
  explicit Canvas(Canvas* outer = nullptr) : outer_(outer) {}

  ValueId add_input(std::string_view name, GraphInput input, const SampleTypes* types);
  std::vector<ValueId> add_node(Operator op, std::vector<ValueId> inputs, const std::vector<std::string>& names,
                                std::string_view node_name);
  ValueId add_constant(std::string_view name, const TensorType& type, Contents contents);

  // The tensor as a value with its axes in their own order, or in that of `layout`. Transposes only if it must.
  ValueId plain(const Tensor& tensor) { return arranged(tensor, {}); }
  ValueId arranged(const Tensor& tensor, const Layout& layout);
  // A weight in another form than any layout gives: the filters of a depthwise convolution.
  ValueId reshaped(const Source& source, const Shape& shape);

  // What is known of a tensor. Extents in the tensor's order, -1 where open.
  [[nodiscard]] std::optional<Shape> extents(const Tensor& tensor) const;
  // Known of some tensors whose extents are not.
  [[nodiscard]] std::optional<std::size_t> rank(const Tensor& tensor) const;
  [[nodiscard]] std::optional<std::vector<std::optional<std::int64_t>>> numbers(const Tensor& tensor) const;
  // The same for both choices of the open sizes.
  [[nodiscard]] std::optional<std::array<IntList, kSamples>> samples(const Tensor& tensor) const;
  [[nodiscard]] ElementType element(const Tensor& tensor) const;
  [[nodiscard]] std::optional<SampleTypes> types(const Tensor& tensor) const;

  // The producer of a value, by the index of the node.
  [[nodiscard]] const Node* producer(ValueId id) const;

  // Elements that transpositions move which only the order of channels asked for.
  [[nodiscard]] double moved() const { return moved_; }

  GraphBuilder builder;
  std::vector<std::pair<Tensor, ValueId>> captures;  // of the outer graph -> inputs of this one

 private:
  ValueId form(const Source& source, const Shape& view, const Layout& layout);
  ValueId add_form(const Source& source, const Shape& shape, const Layout& layout, const Shape& view);
  ValueId rearrange(const Tensor& tensor, const Layout& layout);
  std::optional<std::vector<std::int64_t>> as_reshape(const Tensor& tensor, const Layout& layout) const;

  Canvas* outer_;
  Samples samples_;
  std::map<std::pair<const Source*, std::string>, ValueId> forms_;
  std::map<std::pair<std::uint32_t, std::string>, ValueId> arranged_;
  std::vector<std::uint32_t> producers_;
  double moved_ = 0.0;
};

}  // namespace joulecast::tensorflow
