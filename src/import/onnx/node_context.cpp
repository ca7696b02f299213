// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/node_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "import/onnx/importer.h"
#include "import/text.h"

namespace joulecast::onnx {

Guess NodeContext::guess_of(ValueId id) const {
  return id == kNoValue ? Guess{} : scope_.builder->guess(id);
}

const TensorType* NodeContext::type(std::size_t i) const {
  return has(i) ? scope_.builder->type(inputs_[i]) : nullptr;
}

const Contents* NodeContext::known(std::size_t i) const {
  return has(i) ? scope_.builder->known(inputs_[i]) : nullptr;
}

bool NodeContext::used(std::size_t i) const {
  return i < node_.outputs.size() && !node_.outputs[i].empty() && scope_.used.contains(node_.outputs[i]);
}

bool NodeContext::any_used_after(std::size_t first) const {
  for (std::size_t i = first + 1; i < node_.outputs.size(); ++i) {
    if (used(i)) return true;
  }
  return false;
}

std::string NodeContext::output_name(std::size_t i) const {
  return fmt::format("{}{}", scope_.prefix, i < node_.outputs.size() ? node_.outputs[i] : std::string_view{});
}

void NodeContext::add_node(Operator op, std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  scope_.builder->add_node(Node{std::move(op), std::move(inputs), std::move(outputs),
                                scope_.prefix + printable(node_.name, kLongestInGraph)});
}

// Outputs that nobody reads are left out, except the first: the text form and the reports want something to name.
Result<void> NodeContext::emit(Operator op, std::vector<ValueId> inputs, std::size_t outputs) {
  const std::size_t count = std::min(outputs, node_.outputs.size());
  std::vector<ValueId> ids(count, kNoValue);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = node_.outputs[i];
    if (name.empty() || (i > 0 && !used(i))) continue;
    ids[i] = scope_.builder->add_computed(output_name(i), scope_.builder->guess_output(op, inputs, i));
    scope_.values.emplace(name, ids[i]);
  }
  const bool split = std::holds_alternative<Split>(op);
  while (!split && ids.size() > 1 && ids.back() == kNoValue) ids.pop_back();
  add_node(std::move(op), std::move(inputs), std::move(ids));
  return {};
}

Result<void> NodeContext::emit_output(std::size_t i, Operator op, std::vector<ValueId> inputs) {
  if (i >= node_.outputs.size() || node_.outputs[i].empty()) return {};
  const ValueId id = scope_.builder->add_computed(output_name(i), scope_.builder->guess_output(op, inputs, 0));
  scope_.values.emplace(node_.outputs[i], id);
  add_node(std::move(op), std::move(inputs), {id});
  return {};
}

std::vector<ValueId> NodeContext::steps(Operator op, std::vector<ValueId> inputs, std::size_t outputs,
                                        std::string_view suffix) {
  std::vector<ValueId> ids;
  for (std::size_t i = 0; i < outputs; ++i) {
    ids.push_back(scope_.builder->add_computed(fmt::format("{}/{}", output_name(0), suffix),
                                               scope_.builder->guess_output(op, inputs, i)));
  }
  add_node(std::move(op), std::move(inputs), ids);
  return ids;
}

ValueId NodeContext::step(Operator op, std::vector<ValueId> inputs, std::string_view suffix) {
  return steps(std::move(op), std::move(inputs), 1, suffix)[0];
}

Result<void> NodeContext::alias(std::size_t i, ValueId id) {
  if (i < node_.outputs.size() && !node_.outputs[i].empty() && id != kNoValue) {
    scope_.values.emplace(node_.outputs[i], id);
  }
  return {};
}

Result<void> NodeContext::constant_output(const TensorType& type, std::optional<Contents> contents, ValueKind kind) {
  return alias(0, scope_.builder->add_constant(output_name(0), type, std::move(contents), kind));
}

namespace {

// Extents that the file does not tell are -1: infer() takes them from the first input.
TensorType declared_type(const ValueInfoView& info) {
  TensorType out{info.element, {}};
  for (const DimensionView& dimension : info.dimensions) {
    const bool told = dimension.symbol.empty() && dimension.extent && *dimension.extent >= 0;
    out.shape.push_back(told ? *dimension.extent : -1);
  }
  return out;
}

}  // namespace

// The declared type of output i; else the fallback; else that of the first input, as far as its rank is known.
std::optional<TensorType> NodeContext::output_type(std::size_t i, const std::vector<TensorType>& fallback) const {
  const auto found = scope_.declared.find(node_.outputs[i]);
  if (found != scope_.declared.end()) {
    const ValueInfoView& info = *found->second;
    if (info.tensor && info.has_shape && info.dimensions.size() <= kMaxRank) return declared_type(info);
  }
  if (i < fallback.size()) return fallback[i];
  const auto rank = guess(0).rank;
  if (!rank) return std::nullopt;
  TensorType out{found == scope_.declared.end() ? ElementType::kUnknown : found->second->element, {}};
  for (std::size_t axis = 0; axis < *rank; ++axis) out.shape.push_back(-1);
  return out;
}

Result<void> NodeContext::opaque(const std::vector<TensorType>& fallback) {
  const std::string_view domain = canonical_domain(node_.domain);
  Opaque op;
  op.name =
      domain.empty() ? printable(node_.op_type) : fmt::format("{}.{}", printable(domain), printable(node_.op_type));
  for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
    const auto type = output_type(i, fallback);
    if (!type) break;
    op.output_types.push_back(*type);
  }
  return emit(std::move(op), inputs_, node_.outputs.size());
}

ValueId NodeContext::constant(std::string_view suffix, const TensorType& type, Contents contents) {
  return scope_.builder->add_constant(fmt::format("{}/{}", output_name(0), suffix), type, std::move(contents),
                                      ValueKind::kConstant);
}

ValueId NodeContext::int_vector(IntList values) {
  const TensorType type{ElementType::kInt64, Shape{static_cast<std::int64_t>(values.size())}};
  return constant("ints", type, Contents{std::move(values), {}});
}
ValueId NodeContext::int_scalar(std::int64_t value) {
  return constant("int", TensorType{ElementType::kInt64, {}}, Contents{{value}, {}});
}
ValueId NodeContext::real_vector(std::vector<double> values) {
  const TensorType type{ElementType::kFloat32, Shape{static_cast<std::int64_t>(values.size())}};
  return constant("reals", type, Contents{{}, std::move(values)});
}
ValueId NodeContext::real_scalar(double value, ElementType element) {
  return constant("real", TensorType{element, {}}, Contents{{}, {value}});
}

const std::vector<ValueId>* NodeContext::sequence(std::size_t i) {
  return i < node_.inputs.size() ? Importer::find_sequence(node_.inputs[i], scope_) : nullptr;
}

Result<void> NodeContext::count_work(std::size_t steps) {
  return importer_.count_work(steps);
}

Result<void> NodeContext::emit_sequence(std::vector<ValueId> elements) {
  JC_RETURN_IF_ERROR(importer_.count_work(10 * elements.size()));
  if (!node_.outputs.empty()) scope_.sequences.insert_or_assign(node_.outputs[0], std::move(elements));
  return {};
}

std::optional<std::int64_t> NodeContext::evaluated_integer(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  const auto only = [](const Contents& contents) {
    return contents.ints.size() == 1 ? std::optional(contents.ints[0]) : std::nullopt;
  };
  if (const Contents* contents = known(i)) return only(*contents);
  // Chains of constants may be as dear as hundreds of nodes.
  if (!importer_.count_work(5000)) return std::nullopt;
  const auto contents = scope_.builder->evaluate(inputs_[i]);
  return contents ? only(*contents) : std::nullopt;
}

Result<void> NodeContext::unroll(std::string_view attribute, std::int64_t trips) {
  JC_ASSIGN_OR_RETURN(const GraphView* view, graph(attribute));
  return importer_.unroll(*view, node_, inputs_, trips, scope_);
}

void NodeContext::note(std::string text) {
  importer_.note(std::move(text));
}

Result<NodeContext::Body> NodeContext::body(std::string_view attribute) {
  JC_ASSIGN_OR_RETURN(const GraphView* view, graph(attribute));
  auto out = importer_.body(*view, scope_);
  if (!out) return tl::unexpected(std::move(out).error().in(fmt::format("attribute '{}'", attribute)));
  return out;
}

}  // namespace joulecast::onnx
