// SPDX-License-Identifier: Apache-2.0
#include "import/torch/aten/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "import/text.h"

namespace joulecast::aten {
namespace {

std::vector<std::string_view> split(std::string_view parameters) {
  std::vector<std::string_view> out;
  if (parameters.empty()) return out;
  out.reserve(static_cast<std::size_t>(std::count(parameters.begin(), parameters.end(), ',')) + 1);
  while (!parameters.empty()) {
    const std::size_t end = std::min(parameters.find(','), parameters.size());
    out.push_back(parameters.substr(0, end));
    parameters.remove_prefix(std::min(parameters.size(), end + 2));
  }
  return out;
}

// Whether `names` is "name", "name|other" or "other|name".
bool names_include(std::string_view names, std::string_view name) {
  if (names.size() < name.size()) return false;
  while (true) {
    const std::size_t end = names.find('|');
    if (names.substr(0, end) == name) return true;
    if (end == std::string_view::npos) return false;
    names.remove_prefix(end + 1);
  }
}

}  // namespace

Call::Call(GraphBuilder& builder, std::string target, std::string_view parameters, std::vector<Output> outputs)
    : builder_(builder),
      target_(std::move(target)),
      parameters_(split(parameters)),
      arguments_(parameters_.size()),
      outputs_(std::move(outputs)),
      results_(outputs_.size(), kNoValue) {}

Result<void> Call::set_positional(std::size_t place, Argument argument) {
  if (place < arguments_.size()) {
    arguments_[place] = std::move(argument);
  } else if (parameters_.empty()) {
    arguments_.push_back(std::move(argument));  // an operator without a schema
  } else {
    return invalid(fmt::format("has more than {} arguments", arguments_.size()));
  }
  return {};
}

void Call::set_named(std::string_view name, Argument argument) {
  if (parameters_.empty()) {
    arguments_.push_back(std::move(argument));
    return;
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!names_include(parameters_[i], name)) continue;
    arguments_[i] = std::move(argument);
    return;
  }
}

const Argument& Call::argument(std::string_view name) const {
  static const Argument kNone;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (names_include(parameters_[i], name)) return arguments_[i];
  }
  return kNone;
}

bool Call::has(std::string_view name) const {
  return !is<std::monostate>(name);
}

tl::unexpected<Error> Call::wrong(std::string_view name, std::string_view what) const {
  return invalid(fmt::format("argument '{}' {}", name, what));
}

Result<ValueId> Call::tensor(std::string_view name) const {
  const Argument& value = argument(name);
  if (const auto* id = std::get_if<ValueId>(&value); id != nullptr && *id != kNoValue) return *id;
  if (const auto* number = std::get_if<Integer>(&value); number != nullptr && number->symbolic()) return number->id;
  return wrong(name, has(name) ? "is not a tensor" : "is missing");
}

Result<ValueId> Call::optional_tensor(std::string_view name) const {
  if (!has(name)) return kNoValue;
  return tensor(name);
}

Result<std::vector<ValueId>> Call::tensors(std::string_view name) const {
  const Argument& value = argument(name);
  if (const auto* list = std::get_if<std::vector<ValueId>>(&value)) return *list;
  // What an empty list is a list of, a file may not say.
  const auto* numbers = std::get_if<std::vector<Integer>>(&value);
  if (numbers != nullptr && numbers->empty()) return std::vector<ValueId>{};
  if (is<ValueId>(name)) return std::vector<ValueId>{std::get<ValueId>(value)};
  return wrong(name, has(name) ? "is not a list of tensors" : "is missing");
}

Result<Integer> Call::integer(std::string_view name, std::int64_t absent) const {
  const Argument& value = argument(name);
  if (const auto* number = std::get_if<Integer>(&value)) return *number;
  if (const auto* truth = std::get_if<bool>(&value)) return Integer{*truth ? 1 : 0};
  if (const auto* id = std::get_if<ValueId>(&value)) return Integer{0, *id};
  if (!has(name)) return Integer{absent};
  return wrong(name, "is not an integer");
}

Result<std::int64_t> Call::number(std::string_view name, std::int64_t absent) const {
  JC_ASSIGN_OR_RETURN(const Integer value, integer(name, absent));
  if (value.symbolic()) return unsupported(fmt::format("argument '{}' depends on the inputs", name));
  return value.value;
}

Result<std::int64_t> Call::number(std::string_view name) const {
  if (!has(name)) return wrong(name, "is missing");
  return number(name, 0);
}

Result<std::vector<Integer>> Call::integers(std::string_view name) const {
  const Argument& value = argument(name);
  if (const auto* list = std::get_if<std::vector<Integer>>(&value)) return *list;
  if (const auto* list = std::get_if<std::vector<ValueId>>(&value)) {
    std::vector<Integer> out;
    for (const ValueId id : *list) out.push_back({0, id});
    return out;
  }
  if (!has(name)) return std::vector<Integer>{};
  JC_ASSIGN_OR_RETURN(const Integer one, integer(name, 0));
  return std::vector<Integer>{one};
}

Result<IntList> Call::numbers(std::string_view name) const {
  std::vector<Integer> converted;
  const auto* list = std::get_if<std::vector<Integer>>(&argument(name));
  if (list == nullptr) {
    JC_ASSIGN_OR_RETURN(converted, integers(name));
    list = &converted;
  }
  IntList out;
  out.reserve(list->size());
  for (const Integer& value : *list) {
    if (value.symbolic()) return unsupported(fmt::format("argument '{}' depends on the inputs", name));
    out.push_back(value.value);
  }
  return out;
}

Result<double> Call::real(std::string_view name, double absent) const {
  const Argument& value = argument(name);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<Integer>(&value); number != nullptr && !number->symbolic()) {
    return static_cast<double>(number->value);
  }
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1.0 : 0.0;
  if (!has(name)) return absent;
  if (is<ValueId>(name) || is<Integer>(name)) return unsupported(fmt::format("argument '{}' is computed", name));
  return wrong(name, "is not a number");
}

Result<std::vector<double>> Call::reals(std::string_view name) const {
  const Argument& value = argument(name);
  if (const auto* list = std::get_if<std::vector<double>>(&value)) return *list;
  if (!has(name)) return std::vector<double>{};
  JC_ASSIGN_OR_RETURN(const IntList whole, numbers(name));
  return std::vector<double>(whole.begin(), whole.end());
}

Result<bool> Call::flag(std::string_view name, bool absent) const {
  const Argument& value = argument(name);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth;
  if (const auto* number = std::get_if<Integer>(&value)) return number->value != 0;
  if (!has(name)) return absent;
  return wrong(name, "is not true or false");
}

Result<std::string_view> Call::text(std::string_view name, std::string_view absent) const {
  const Argument& value = argument(name);
  if (const auto* found = std::get_if<std::string_view>(&value)) return *found;
  if (!has(name)) return absent;
  return wrong(name, "is not a string");
}

Result<ElementType> Call::element(std::string_view name, ElementType absent) const {
  const Argument& value = argument(name);
  if (const auto* found = std::get_if<ElementType>(&value)) return *found;
  if (!has(name)) return absent;
  return wrong(name, "is not an element type");
}

Result<ValueId> Call::operand(std::string_view name, ValueId like) {
  const Argument& value = argument(name);
  const ElementType wanted = like == kNoValue ? ElementType::kUnknown : guess(like).element;
  const ElementType floating = is_floating(wanted) ? wanted : ElementType::kFloat32;
  if (const auto* number = std::get_if<double>(&value)) return real_scalar(*number, floating);
  const auto* whole = std::get_if<Integer>(&value);
  const bool plain = whole != nullptr && !whole->symbolic();
  if (plain && is_floating(wanted)) return real_scalar(static_cast<double>(whole->value), wanted);
  if (plain) return int_scalar(whole->value);
  if (const auto* truth = std::get_if<bool>(&value)) {
    if (is_floating(wanted)) return real_scalar(*truth ? 1.0 : 0.0, wanted);
    return constant("bool", TensorType{ElementType::kBool, {}}, Contents{{*truth ? 1 : 0}, {}});
  }
  return tensor(name);
}

Result<std::size_t> Call::rank(ValueId id) const {
  const auto found = guess(id).rank;
  if (!found) return unsupported("the rank of a tensor is not known");
  return *found;
}

bool Call::any_used_after(std::size_t first) const {
  for (std::size_t i = first + 1; i < outputs_.size(); ++i) {
    if (outputs_[i].used) return true;
  }
  return false;
}

ValueId Call::folded(ValueId id, std::string_view suffix) {
  const std::string_view base = outputs_.empty() ? std::string_view(target_) : std::string_view(outputs_[0].name);
  return builder_.folded(id, fmt::format("{}/{}", base, suffix));
}

namespace {

// What the file declares is surer than what follows from the operator.
Guess declared_guess(const TensorType& type, Guess guess) {
  guess.element = type.element;
  guess.rank = type.shape.size();
  guess.extents = type.shape;
  guess.length.reset();
  if (type.shape.size() == 1 && type.shape[0] >= 0) guess.length = static_cast<std::size_t>(type.shape[0]);
  return guess;
}

}  // namespace

ValueId Call::add_output(std::size_t i, const Operator& op, const std::vector<ValueId>& inputs, std::size_t of_op) {
  Guess guess = builder_.guess_output(op, inputs, of_op);
  if (outputs_[i].declared) guess = declared_guess(*outputs_[i].declared, guess);
  results_[i] = builder_.add_computed(outputs_[i].name, guess);
  return results_[i];
}

void Call::add_node(Operator op, std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  builder_.add_node(Node{std::move(op), std::move(inputs), std::move(outputs), node_name});
}

// Outputs that nobody reads are left out, except the first: the text form and the reports want something to name.
Result<void> Call::emit(Operator op, std::vector<ValueId> inputs, std::size_t outputs) {
  const std::size_t count = std::min(outputs, outputs_.size());
  const bool split = std::holds_alternative<Split>(op);
  std::vector<ValueId> ids(count, kNoValue);
  for (std::size_t i = 0; i < count; ++i) {
    if (i == 0 || outputs_[i].used) ids[i] = add_output(i, op, inputs, i);
  }
  while (!split && ids.size() > 1 && ids.back() == kNoValue) ids.pop_back();
  add_node(std::move(op), std::move(inputs), std::move(ids));
  return {};
}

Result<void> Call::emit_output(std::size_t i, Operator op, std::vector<ValueId> inputs) {
  if (i >= outputs_.size()) return {};
  const ValueId id = add_output(i, op, inputs, 0);
  add_node(std::move(op), std::move(inputs), {id});
  return {};
}

std::vector<ValueId> Call::steps(Operator op, std::vector<ValueId> inputs, std::size_t outputs,
                                 std::string_view suffix) {
  std::vector<ValueId> ids;
  const std::string_view base = outputs_.empty() ? std::string_view(target_) : std::string_view(outputs_[0].name);
  for (std::size_t i = 0; i < outputs; ++i) {
    ids.push_back(builder_.add_computed(fmt::format("{}/{}", base, suffix), builder_.guess_output(op, inputs, i)));
  }
  add_node(std::move(op), std::move(inputs), ids);
  return ids;
}

ValueId Call::step(Operator op, std::vector<ValueId> inputs, std::string_view suffix) {
  return steps(std::move(op), std::move(inputs), 1, suffix)[0];
}

Result<void> Call::alias(std::size_t i, ValueId id) {
  if (i < results_.size()) results_[i] = id;
  return {};
}

std::vector<ValueId> Call::all_tensors() const {
  std::vector<ValueId> out;
  for (const Argument& value : arguments_) {
    if (const auto* id = std::get_if<ValueId>(&value)) out.push_back(*id);
    if (const auto* list = std::get_if<std::vector<ValueId>>(&value)) {
      std::copy_if(list->begin(), list->end(), std::back_inserter(out), [](ValueId id) { return id != kNoValue; });
    }
  }
  return out;
}

// What the file declares, else a type like that of the first tensor as far as its rank is known.
std::optional<TensorType> Call::opaque_type(std::size_t i, ValueId first) const {
  if (outputs_[i].declared) return outputs_[i].declared;
  if (first == kNoValue || !guess(first).rank) return std::nullopt;
  TensorType out;
  for (std::size_t axis = 0; axis < *guess(first).rank; ++axis) out.shape.push_back(-1);
  return out;
}

Result<void> Call::opaque() {
  if (outputs_.empty()) return {};
  std::vector<ValueId> inputs = all_tensors();
  Opaque op;
  op.name = printable(target_);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto type = opaque_type(i, inputs.empty() ? kNoValue : inputs[0]);
    if (!type) break;
    op.output_types.push_back(*type);
  }
  if (!inputs.empty() && !outputs_[0].declared) {
    note(fmt::format("{} is not known: its result is taken to be shaped like its first input", op.name));
  }
  return emit(std::move(op), std::move(inputs), outputs_.size());
}

ValueId Call::constant(std::string_view suffix, const TensorType& type, Contents contents) {
  const std::string_view base = outputs_.empty() ? std::string_view(target_) : std::string_view(outputs_[0].name);
  return builder_.add_constant(fmt::format("{}/{}", base, suffix), type, std::move(contents), ValueKind::kConstant);
}

ValueId Call::int_vector(const IntList& values) {
  return constant("ints", TensorType{ElementType::kInt64, Shape{static_cast<std::int64_t>(values.size())}},
                  Contents{values, {}});
}
ValueId Call::int_scalar(std::int64_t value) {
  return constant("int", TensorType{ElementType::kInt64, {}}, Contents{{value}, {}});
}
ValueId Call::real_vector(std::vector<double> values) {
  const TensorType type{ElementType::kFloat32, Shape{static_cast<std::int64_t>(values.size())}};
  return constant("reals", type, Contents{{}, std::move(values)});
}
ValueId Call::real_scalar(double value, ElementType element) {
  return constant("real", TensorType{element, {}}, Contents{{}, {value}});
}

ValueId Call::scalar(const Integer& value) {
  return value.symbolic() ? value.id : int_scalar(value.value);
}

// Numbers beside each other are one constant.
ValueId Call::vector(const std::vector<Integer>& values) {
  std::vector<ValueId> parts;
  IntList plain;
  const auto flush = [&] {
    if (!plain.empty()) parts.push_back(int_vector(std::exchange(plain, {})));
  };
  for (const Integer& value : values) {
    if (!value.symbolic()) {
      plain.push_back(value.value);
      continue;
    }
    flush();
    parts.push_back(step(Unsqueeze{{0}}, {value.id}, "extent"));
  }
  flush();
  if (parts.empty()) return int_vector({});
  return parts.size() == 1 ? parts[0] : step(Concat{0}, std::move(parts), "shape");
}

std::optional<std::int64_t> Call::known_extent(ValueId x, std::size_t axis) const {
  const auto& extents = guess(x).extents;
  if (!extents || axis >= extents->size() || (*extents)[axis] < 0) return std::nullopt;
  return (*extents)[axis];
}

ValueId Call::extent(ValueId x, std::size_t axis) {
  if (const auto known = known_extent(x, axis)) return int_scalar(*known);
  const auto begin = static_cast<std::int64_t>(axis);
  const ValueId vector = step(ShapeOf{begin, begin + 1, false}, {x}, "extent");
  return step(Squeeze{{0}}, {vector}, "extent");
}

}  // namespace joulecast::aten
