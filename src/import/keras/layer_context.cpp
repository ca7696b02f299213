// SPDX-License-Identifier: Apache-2.0
#include "import/keras/layer_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/keras/layers.h"
#include "import/tensorflow/operators.h"
#include "import/text.h"

namespace joulecast::keras {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;  // no number of a real layer comes near

}  // namespace

tl::unexpected<Error> LayerContext::wrong(std::string_view key, std::string_view what) const {
  return invalid(fmt::format("'{}' {}", key, what));
}

Result<std::int64_t> LayerContext::integer(std::string_view key, std::int64_t absent) const {
  const Json* found = config().find(key);
  if (found == nullptr) return absent;
  if (found->is(JsonKind::kReal) &&
      found->real() == static_cast<double>(static_cast<std::int64_t>(std::clamp(found->real(), -1e12, 1e12)))) {
    return static_cast<std::int64_t>(found->real());
  }
  if (!found->is(JsonKind::kInteger)) return wrong(key, "is no integer");
  if (found->whole() < -kLargest || found->whole() > kLargest) return wrong(key, fmt::format("is {}", found->whole()));
  return found->whole();
}

Result<std::int64_t> LayerContext::integer(std::string_view key) const {
  JC_ASSIGN_OR_RETURN(const std::int64_t value, integer(key, -1));
  if (config().find(key) == nullptr) return wrong(key, "is missing");
  if (value < 1) return wrong(key, fmt::format("is {}", value));
  return value;
}

Result<bool> LayerContext::flag(std::string_view key, bool absent) const {
  const Json* found = config().find(key);
  if (found == nullptr) return absent;
  if (!found->is(JsonKind::kBool)) return wrong(key, "is neither true nor false");
  return found->truth();
}

Result<double> LayerContext::real(std::string_view key, double absent) const {
  const Json* found = config().find(key);
  if (found == nullptr) return absent;
  if (found->is(JsonKind::kInteger)) return static_cast<double>(found->whole());
  // Keras 2 writes numbers of numpy as {"class_name": "__numpy__", "config": {"value": ...}} or leaves them lists.
  if (!found->is(JsonKind::kReal)) return absent;
  return found->real();
}

Result<std::string_view> LayerContext::text(std::string_view key, std::string_view absent) const {
  const Json* found = config().find(key);
  if (found == nullptr) return absent;
  if (!found->is(JsonKind::kText)) return wrong(key, "is no text");
  return found->text();
}

Result<IntList> LayerContext::integers(std::string_view key) const {
  const Json* found = config().find(key);
  if (found == nullptr) return IntList{};
  if (found->is(JsonKind::kInteger)) return IntList{found->whole()};
  constexpr std::size_t kMost = 100;
  if (!found->is(JsonKind::kArray) || found->members().size() > kMost) return wrong(key, "is no list of integers");
  IntList out;
  for (const JsonMember& member : found->members()) {
    if (!member.value.is(JsonKind::kInteger)) return wrong(key, "is no list of integers");
    const std::int64_t value = member.value.whole();
    if (value < -kLargest || value > kLargest) return wrong(key, fmt::format("has {}", value));
    out.push_back(value);
  }
  return out;
}

Result<IntList> LayerContext::per_axis(std::string_view key, std::size_t count, std::int64_t absent) const {
  JC_ASSIGN_OR_RETURN(IntList out, integers(key));
  if (out.empty()) return IntList(count, absent);
  if (out.size() == 1) out.resize(count, out[0]);
  if (out.size() != count) return wrong(key, fmt::format("has {} entries for {} axes", out.size(), count));
  return out;
}

Result<bool> LayerContext::channels_first() const {
  JC_ASSIGN_OR_RETURN(const std::string_view format, text("data_format", "channels_last"));
  return format == "channels_first";
}

Result<std::size_t> LayerContext::rank(const Tensor& tensor) const {
  if (const auto shape = extents(tensor)) return shape->size();
  if (tensor.is_value()) {
    if (const auto known = node_.canvas().builder.guess(tensor.id).rank) return *known;
  }
  return unsupported("the shape of its input is not known here");
}

Result<std::int64_t> LayerContext::extent(const Tensor& tensor, std::int64_t axis) const {
  const auto shape = extents(tensor);
  if (!shape) return unsupported("the shape of its input is not known here");
  const auto place = tensorflow::axis_of(axis, shape->size());
  if (!place) return invalid(fmt::format("has axis {} of an input of {} axes", axis, shape->size()));
  if ((*shape)[*place] < 0) return unsupported(fmt::format("extent {} of its input is open", *place));
  return (*shape)[*place];
}

Result<Tensor> LayerContext::weight(const std::string& name, const Shape& shape) {
  auto& weights = call_.layer->weights;
  auto it = weights.find(name);
  if (it == weights.end()) {
    if (!checked_elements(shape)) {
      return invalid(fmt::format("weight '{}' would have the shape {}", name, joulecast::text(shape)));
    }
    tensorflow::Source source{
        fmt::format("{}/{}", call_.layer->name, name), {ElementType::kFloat32, shape}, {}, ValueKind::kParameter};
    it = weights.emplace(name, std::move(source)).first;
  }
  if (it->second.type.shape != shape) {
    return invalid(fmt::format("is called on inputs that ask for weights '{}' of {} and of {}", name,
                               joulecast::text(it->second.type.shape), joulecast::text(shape)));
  }
  return Tensor::of(it->second);
}

Tensor LayerContext::matrix(const IntList& values, std::int64_t columns) {
  Tensor out = node_.int_tensor(values);
  out.view = Shape{static_cast<std::int64_t>(values.size()) / columns, columns};
  return out;
}

Tensor LayerContext::number(double value) {
  return Tensor::value(node_.real_scalar(value));
}

std::string LayerContext::step_name(std::string_view op) const {
  return fmt::format("{}/{}", node_.node().name, op);
}

Result<Tensor> LayerContext::apply(std::string_view op, std::vector<Tensor> inputs, Attributes attributes) {
  JC_ASSIGN_OR_RETURN(const auto outputs, apply_all(op, std::move(inputs), std::move(attributes), 1));
  return outputs.empty() ? Tensor{} : outputs[0];
}

Result<std::vector<Tensor>> LayerContext::apply_all(std::string_view op, std::vector<Tensor> inputs,
                                                    Attributes attributes, std::size_t outputs) {
  std::deque<std::string> texts;
  tensorflow::NodeView view;
  const std::string name = step_name(op);
  view.name = name;
  view.op = op;
  view.attributes = attributes.written_to(texts);
  const std::uint64_t read = outputs < 64 ? (std::uint64_t{1} << outputs) - 1 : ~std::uint64_t{0};
  NodeContext inner(node_.importer(), node_.scope(), view, read, std::move(inputs));
  JC_RETURN_IF_ERROR(node_.importer().count_work(1));
  JC_RETURN_IF_ERROR(tensorflow::find_operator(op)->lower(inner));
  return inner.take_outputs();
}

Tensor LayerContext::add(Operator op, std::vector<ValueId> inputs, const ImageLayout& layout) {
  return Tensor::value(node_.step(std::move(op), std::move(inputs), "step"), layout);
}

Result<std::vector<Tensor>> LayerContext::call(Layer& part, std::vector<Tensor> inputs) {
  if (!part.network.empty()) {
    const tensorflow::FunctionView* function = node_.importer().find_function(part.network);
    return node_.importer().call(*function, std::move(inputs), node_.scope(), step_name("model"));
  }
  std::deque<std::string> texts;
  const Call call{&part, nullptr, {}};
  const std::string name =
      fmt::format("{}{}", node_.node().name, part.name.substr(std::min(part.name.size(), layer().name.size())));
  const tensorflow::NodeView view = call_node(call, name, texts);
  NodeContext inner(node_.importer(), node_.scope(), view, ~std::uint64_t{0}, std::move(inputs));
  const tensorflow::OperatorEntry* entry = layer_operator(view.op);
  LayerContext context(inner);
  JC_RETURN_IF_ERROR(node_.importer().count_work(1));
  auto done = entry == nullptr ? context.opaque() : entry->lower(inner);
  if (!done) return tl::unexpected(std::move(done).error().in(fmt::format("layer '{}'", part.name)));
  return inner.take_outputs();
}

// What the layer made last is called as the layer is.
Result<void> LayerContext::finish(const Tensor& tensor, std::size_t i) {
  GraphBuilder& builder = node_.canvas().builder;
  const bool made = tensor.is_value() && builder.graph.value(tensor.id).name.starts_with(node_.output_name(0) + "/");
  if (made) builder.rename(tensor.id, node_.output_name(i));
  return node_.output(i, tensor);
}

Result<Tensor> LayerContext::opaque(const Tensor& x, std::string_view name) {
  Opaque op;
  op.name = printable(name);
  const ElementType element = node_.canvas().element(x);
  if (const auto shape = extents(x)) op.output_types = {TensorType{element, *shape}};
  node_.importer().note(
      fmt::format("'{}' ({}) is the model's own code: taken to keep the shape of its input", layer().name, op.name));
  return add(std::move(op), {plain(x)});
}

// What the file says of the outputs, and of what it does not that they are as the first input.
std::vector<TensorType> LayerContext::declared_outputs(bool& guessed) const {
  const auto like = extents(input());
  guessed = call_.outputs.empty();
  std::vector<TensorType> out;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, call_.outputs.size()); ++i) {
    const auto told = i < call_.outputs.size() ? call_.outputs[i] : std::nullopt;
    if (!told && !like) break;
    if (!told) guessed = guessed || i == 0;
    out.push_back(told ? *told : TensorType{node_.canvas().element(input()), *like});
  }
  return out;
}

Result<void> LayerContext::opaque() {
  bool guessed = false;
  const Opaque op{printable(layer().class_name), declared_outputs(guessed)};
  const bool own = !layer().of_keras;
  node_.importer().note(fmt::format("'{}' ({}) is {}: {}", layer().name, op.name,
                                    own ? "the model's own code" : "nothing of Keras that we know",
                                    guessed ? "taken to keep the shape of its input"
                                            : "kept with the shape that the "
                                              "file tells"));
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < node_.input_count(); ++i) {
    if (const ValueId id = plain(input(i)); id != kNoValue) inputs.push_back(id);
  }
  return node_.emit(op, std::move(inputs), {}, std::max<std::size_t>(1, call_.outputs.size()));
}

}  // namespace joulecast::keras
