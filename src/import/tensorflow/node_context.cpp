// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/node_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/text.h"

namespace joulecast::tensorflow {

using Kind = AttributeValue::Kind;

const Tensor& NodeContext::input(std::size_t i) const {
  static const Tensor kAbsent;
  return i < inputs_.size() ? inputs_[i] : kAbsent;
}

std::optional<std::size_t> NodeContext::rank(std::size_t i) const {
  return canvas().rank(input(i));
}

std::optional<IntList> NodeContext::integers(std::size_t i) const {
  const auto numbers = canvas().numbers(input(i));
  if (!numbers) return std::nullopt;
  IntList out;
  for (const auto& number : *numbers) {
    if (!number) return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

std::optional<std::int64_t> NodeContext::integer(std::size_t i) const {
  const auto all = integers(i);
  return all && all->size() == 1 ? std::optional((*all)[0]) : std::nullopt;
}

std::optional<double> NodeContext::real(std::size_t i) const {
  const Tensor& tensor = input(i);
  if (!tensor.is_source() || !tensor.source->contents || tensor.source->contents->reals.size() != 1) return {};
  return tensor.source->contents->reals[0];
}

const AttributeView* NodeContext::find(std::string_view name) const {
  const auto it = std::find_if(node_.attributes.begin(), node_.attributes.end(),
                               [&](const AttributeView& attribute) { return attribute.name == name; });
  return it == node_.attributes.end() ? nullptr : &*it;
}

tl::unexpected<Error> NodeContext::wrong_attribute(std::string_view name, std::string_view what) const {
  return invalid(fmt::format("attribute '{}' {}", name, what));
}

Result<std::optional<AttributeValue>> NodeContext::typed(std::string_view name, Kind kind) const {
  const AttributeView* attribute = find(name);
  if (attribute == nullptr) return std::optional<AttributeValue>();
  auto value = read_attribute(attribute->value);
  if (!value) return tl::unexpected(std::move(value).error().in(fmt::format("attribute '{}'", name)));
  if (value->kind != kind) return wrong_attribute(name, "is not of the type it should have");
  return std::optional(std::move(*value));
}

Result<std::int64_t> NodeContext::attribute(std::string_view name, std::int64_t absent) const {
  JC_ASSIGN_OR_RETURN(const auto value, typed(name, Kind::kInt));
  return value ? value->integer : absent;
}

Result<double> NodeContext::attribute(std::string_view name, double absent) const {
  JC_ASSIGN_OR_RETURN(const auto value, typed(name, Kind::kFloat));
  return value ? value->number : absent;
}

Result<bool> NodeContext::flag(std::string_view name, bool absent) const {
  JC_ASSIGN_OR_RETURN(const auto value, typed(name, Kind::kBool));
  return value ? value->integer != 0 : absent;
}

Result<std::string_view> NodeContext::attribute(std::string_view name, std::string_view absent) const {
  JC_ASSIGN_OR_RETURN(const auto value, typed(name, Kind::kString));
  return value ? value->string : absent;
}

Result<IntList> NodeContext::list(std::string_view name) const {
  JC_ASSIGN_OR_RETURN(auto value, typed(name, Kind::kList));
  return value ? std::move(value->integers) : IntList{};
}

Result<std::vector<std::string_view>> NodeContext::strings(std::string_view name) const {
  JC_ASSIGN_OR_RETURN(auto value, typed(name, Kind::kList));
  return value ? std::move(value->strings) : std::vector<std::string_view>{};
}

Result<std::int64_t> NodeContext::data_type(std::string_view name, std::int64_t absent) const {
  JC_ASSIGN_OR_RETURN(const auto value, typed(name, Kind::kType));
  return value ? value->integer : absent;
}

Result<PartialShape> NodeContext::shape(std::string_view name) const {
  JC_ASSIGN_OR_RETURN(const auto value, typed(name, Kind::kShape));
  return value ? value->shape : PartialShape{};
}

Result<const FunctionView*> NodeContext::function(std::string_view name) {
  JC_ASSIGN_OR_RETURN(const auto value, typed(name, Kind::kFunction));
  if (!value) return wrong_attribute(name, "is missing");
  const FunctionView* found = importer_.find_function(value->string);
  if (found == nullptr) return wrong_attribute(name, fmt::format("names no function: '{}'", printable(value->string)));
  return found;
}

Result<PartialShape> NodeContext::output_shape(std::size_t i) const {
  JC_ASSIGN_OR_RETURN(const auto value, typed("_output_shapes", Kind::kList));
  return value && i < value->shapes.size() ? value->shapes[i] : PartialShape{};
}

std::string NodeContext::output_name(std::size_t i) const {
  std::string out = scope_.prefix + printable(node_.name, kLongestInGraph);
  if (i > 0) out += fmt::format(":{}", i);
  return out;
}

// Outputs that nobody reads are left out, except the first: the text form and the reports want something to name.
Result<void> NodeContext::emit(Operator op, std::vector<ValueId> inputs, const Layout& layout, std::size_t outputs) {
  const bool split = std::holds_alternative<Split>(op);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < outputs; ++i) names.push_back(i == 0 || used(i) ? output_name(i) : "");
  while (!split && names.size() > 1 && names.back().empty()) names.pop_back();
  const auto ids = canvas().add_node(std::move(op), std::move(inputs), names, output_name(0));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != kNoValue) JC_RETURN_IF_ERROR(output(i, Tensor::value(ids[i], layout)));
  }
  return {};
}

std::vector<ValueId> NodeContext::steps(Operator op, std::vector<ValueId> inputs, std::size_t outputs,
                                        std::string_view suffix) {
  const std::string name = fmt::format("{}/{}", output_name(0), suffix);
  return canvas().add_node(std::move(op), std::move(inputs), std::vector<std::string>(outputs, name), name);
}

ValueId NodeContext::step(Operator op, std::vector<ValueId> inputs, std::string_view suffix) {
  return steps(std::move(op), std::move(inputs), 1, suffix)[0];
}

Result<void> NodeContext::output(std::size_t i, const Tensor& tensor) {
  if (outputs_.size() <= i) outputs_.resize(i + 1);
  outputs_[i] = tensor;
  // A file whose operators contradict each other's ranks: what is wrong the types tell.
  if (const auto rank = canvas().rank(tensor); rank && !tensor.layout.fits(*rank)) outputs_[i].layout = {};
  return {};
}

// Types are told by attributes whose names vary: of one output mostly T or dtype.
Result<std::vector<TensorType>> NodeContext::declared_types() const {
  ElementType element = ElementType::kUnknown;
  for (const std::string_view name : {"dtype", "Tout", "output_type", "out_type", "T"}) {
    const AttributeView* attribute = find(name);
    if (attribute == nullptr || element != ElementType::kUnknown) continue;
    JC_ASSIGN_OR_RETURN(const AttributeValue value, read_attribute(attribute->value));
    if (value.kind == Kind::kType) element = element_type(value.integer);
  }
  JC_ASSIGN_OR_RETURN(const auto shapes, typed("_output_shapes", Kind::kList));
  std::vector<TensorType> out;
  if (!shapes) return out;
  for (const PartialShape& shape : shapes->shapes) {
    if (!shape.known_rank) break;
    out.push_back({element, shape.extents});
  }
  return out;
}

Result<void> NodeContext::opaque() {
  Opaque op;
  op.name = printable(node_.op);
  JC_ASSIGN_OR_RETURN(op.output_types, declared_types());
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (const ValueId id = value(i); id != kNoValue) inputs.push_back(id);
  }
  std::size_t outputs = std::max<std::size_t>(1, op.output_types.size());
  for (std::size_t i = outputs; i < 63; ++i) outputs = used(i) ? i + 1 : outputs;
  return emit(std::move(op), std::move(inputs), {}, outputs);
}

ValueId NodeContext::int_vector(IntList values) {
  const TensorType type{ElementType::kInt64, Shape{static_cast<std::int64_t>(values.size())}};
  return canvas().add_constant(output_name(0) + "/ints", type, Contents{std::move(values), {}});
}
ValueId NodeContext::int_scalar(std::int64_t value) {
  return canvas().add_constant(output_name(0) + "/int", TensorType{ElementType::kInt64, {}}, Contents{{value}, {}});
}
ValueId NodeContext::real_scalar(double value) {
  return canvas().add_constant(output_name(0) + "/real", TensorType{ElementType::kFloat32, {}}, Contents{{}, {value}});
}

Tensor NodeContext::int_tensor(IntList values) {
  Source source;
  source.name = output_name(0);
  source.type = {ElementType::kInt64, Shape{static_cast<std::int64_t>(values.size())}};
  source.contents = Contents{std::move(values), {}};
  return Tensor::of(importer_.add_source(std::move(source)));
}

}  // namespace joulecast::tensorflow
