// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/canvas.h"

#include <fmt/format.h>

#include <algorithm>

namespace joulecast::tensorflow {
namespace {

constexpr std::uint32_t kNoNode = 0xFFFFFFFFU;

std::string key_of(const Layout& layout, std::size_t rank) {
  std::string out;
  for (std::size_t i = 0; i < rank; ++i) out += static_cast<char>('0' + layout.of_tensor(i));
  return out;
}

// The numbers of `contents`, row-major in `shape`, in the order of `layout`.
template <typename T>
std::vector<T> permuted(const std::vector<T>& list, const Shape& shape, const Layout& layout) {
  if (list.empty() || layout.plain()) return list;
  const Shape held = layout.held(shape);
  std::vector<std::size_t> stride(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) stride[i - 1] = stride[i] * static_cast<std::size_t>(shape[i]);
  std::vector<T> out;
  out.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::size_t rest = i;
    std::size_t from = 0;
    for (std::size_t axis = held.size(); axis-- > 0;) {
      const auto extent = static_cast<std::size_t>(held[axis]);
      from += (rest % extent) * stride[layout.of_tensor(axis)];
      rest /= extent;
    }
    out.push_back(list[from]);
  }
  return out;
}

}  // namespace

ValueId Canvas::add_input(std::string_view name, GraphInput input, const SampleTypes* types) {
  Guess guess{input.element, std::nullopt, false, {}};
  if (types != nullptr) guess.rank = (*types)[0].shape.size();
  const ValueId id = builder.add_input(name, std::move(input), guess);
  if (types != nullptr) samples_.add_input(id, *types);
  return id;
}

std::vector<ValueId> Canvas::add_node(Operator op, std::vector<ValueId> inputs, const std::vector<std::string>& names,
                                      std::string_view node_name) {
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  std::vector<ValueId> outputs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    outputs.push_back(names[i].empty() ? kNoValue
                                       : builder.add_computed(names[i], builder.guess_output(op, inputs, i)));
  }
  const auto place = static_cast<std::uint32_t>(builder.graph.nodes.size());
  builder.add_node(Node{std::move(op), std::move(inputs), outputs, std::string(node_name)});
  samples_.add_node(builder.graph, builder.graph.nodes.back());
  producers_.resize(builder.graph.values.size(), kNoNode);
  for (const ValueId id : outputs) {
    if (id != kNoValue) producers_[index(id)] = place;
  }
  return outputs;
}

const Node* Canvas::producer(ValueId id) const {
  if (id == kNoValue || index(id) >= producers_.size() || producers_[index(id)] == kNoNode) return nullptr;
  return &builder.graph.nodes[producers_[index(id)]];
}

ValueId Canvas::add_constant(std::string_view name, const TensorType& type, Contents contents) {
  const ValueId id = builder.add_constant(name, type, std::move(contents), ValueKind::kConstant);
  samples_.add_source(builder.graph, id);
  return id;
}

// What has not the axes that an operator works on stays as it is, which the operator's types tell.
ValueId Canvas::arranged(const Tensor& tensor, const Layout& layout) {
  if (const auto rank = this->rank(tensor); rank && !layout.fits(*rank)) return arranged(tensor, {});
  if (tensor.is_source()) return form(*tensor.source, tensor.view, layout);
  if (!tensor.is_value()) return kNoValue;
  return tensor.layout == layout ? tensor.id : rearrange(tensor, layout);
}

ValueId Canvas::form(const Source& source, const Shape& view, const Layout& layout) {
  return add_form(source, layout.held(view), layout, view);
}

ValueId Canvas::reshaped(const Source& source, const Shape& shape) {
  return add_form(source, shape, {}, {});
}

// `view` is empty where the contents are of no interest.
ValueId Canvas::add_form(const Source& source, const Shape& shape, const Layout& layout, const Shape& view) {
  const std::string key = text(shape) + key_of(layout, shape.size());
  const auto [it, fresh] = forms_.try_emplace({&source, key}, kNoValue);
  if (!fresh) return it->second;
  const TensorType type{source.type.element, shape};
  std::optional<Contents> contents;
  if (source.contents && (view == shape || !view.empty())) {
    contents = Contents{permuted(source.contents->ints, view, layout), permuted(source.contents->reals, view, layout)};
  }
  if (outer_ != nullptr && (!contents || source.kind == ValueKind::kParameter)) {
    const ValueId outside = outer_->add_form(source, shape, layout, view);
    GraphInput input{kNoValue, type.element, {}};
    for (const std::int64_t extent : shape) input.dimensions.push_back({extent, ""});
    const SampleTypes types{type, type};
    const Guess guess{type.element, shape.size(), source.kind == ValueKind::kParameter, {}};
    it->second = builder.add_input(source.name, std::move(input), guess);
    samples_.add_input(it->second, types);
    captures.emplace_back(Tensor::value(outside), it->second);
    return it->second;
  }
  it->second = builder.add_constant(source.name, type, std::move(contents), source.kind);
  samples_.add_source(builder.graph, it->second);
  return it->second;
}

// The shape to reshape to, where the axes that change places have one entry: -1 for one open extent.
std::optional<std::vector<std::int64_t>> Canvas::as_reshape(const Tensor& tensor, const Layout& layout) const {
  const auto shape = extents(tensor);
  if (!shape || !tensor.layout.fits(shape->size())) return std::nullopt;
  std::vector<std::size_t> before, after;
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    if ((*shape)[tensor.layout.of_tensor(i)] != 1) before.push_back(tensor.layout.of_tensor(i));
    if ((*shape)[layout.of_tensor(i)] != 1) after.push_back(layout.of_tensor(i));
    out.push_back((*shape)[layout.of_tensor(i)]);
  }
  if (before != after || std::count(out.begin(), out.end(), -1) > 1) return std::nullopt;
  return out;
}

ValueId Canvas::rearrange(const Tensor& tensor, const Layout& layout) {
  const auto both = samples_.types(tensor.id);
  const std::size_t rank = both ? (*both)[0].shape.size() : builder.guess(tensor.id).rank.value_or(0);
  // A transposition that has not been written yet is another layout of the same value.
  const std::string key = key_of(tensor.layout, rank) + ">" + key_of(layout, rank);
  const auto [it, fresh] = arranged_.try_emplace({static_cast<std::uint32_t>(tensor.id), key}, kNoValue);
  if (!fresh) return it->second;
  const std::string name = builder.graph.value(tensor.id).name + "/layout";
  if (auto shape = as_reshape(tensor, layout)) {
    const TensorType type{ElementType::kInt64, Shape{static_cast<std::int64_t>(shape->size())}};
    const ValueId target = add_constant(name + "_shape", type, Contents{std::move(*shape), {}});
    return it->second = add_node(Reshape{}, {tensor.id, target}, {name}, name)[0];
  }
  moved_ += both ? static_cast<double>((*both)[0].elements()) : 1.0;
  return it->second = add_node(Transpose{tensor.layout.order_to(layout, rank)}, {tensor.id}, {name}, name)[0];
}

std::optional<SampleTypes> Canvas::types(const Tensor& tensor) const {
  if (tensor.is_source())
    return SampleTypes{TensorType{tensor.source->type.element, tensor.view},
                       TensorType{tensor.source->type.element, tensor.view}};
  auto out = tensor.is_value() ? samples_.types(tensor.id) : std::nullopt;
  if (!out) return out;
  for (TensorType& type : *out) type.shape = tensor.layout.tensor(type.shape);
  return out;
}

std::optional<Shape> Canvas::extents(const Tensor& tensor) const {
  if (tensor.is_source()) return tensor.view;
  if (!tensor.is_value()) return std::nullopt;
  const auto held = samples_.extents(tensor.id);
  return held ? std::optional(tensor.layout.tensor(*held)) : std::nullopt;
}

std::optional<std::size_t> Canvas::rank(const Tensor& tensor) const {
  if (const auto shape = extents(tensor)) return shape->size();
  return tensor.is_value() ? builder.guess(tensor.id).rank : std::nullopt;
}

std::optional<std::vector<std::optional<std::int64_t>>> Canvas::numbers(const Tensor& tensor) const {
  if (tensor.is_source()) {
    if (!tensor.source->contents || !tensor.source->contents->reals.empty()) return std::nullopt;
    const std::vector<std::int64_t>& ints = tensor.source->contents->ints;
    return std::vector<std::optional<std::int64_t>>(ints.begin(), ints.end());
  }
  return tensor.is_value() && tensor.layout.plain() ? samples_.numbers(tensor.id) : std::nullopt;
}

std::optional<std::array<IntList, kSamples>> Canvas::samples(const Tensor& tensor) const {
  std::array<IntList, kSamples> out;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const Contents* contents = nullptr;
    if (tensor.is_source() && tensor.source->contents) contents = &*tensor.source->contents;
    if (tensor.is_value() && tensor.layout.plain()) contents = samples_.known(tensor.id, i);
    if (contents == nullptr || !contents->reals.empty()) return std::nullopt;
    out[i] = contents->ints;
  }
  return out;
}

ElementType Canvas::element(const Tensor& tensor) const {
  if (tensor.is_source()) return tensor.source->type.element;
  if (!tensor.is_value()) return ElementType::kUnknown;
  const auto both = samples_.types(tensor.id);
  return both ? (*both)[0].element : builder.guess(tensor.id).element;
}

}  // namespace joulecast::tensorflow
