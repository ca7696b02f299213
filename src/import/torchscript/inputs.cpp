// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of the network. Traced modules have examples of their inputs in the archive; of scripted ones the
// code tells no more than that they are tensors, and the operator that reads one first tells its shape.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "import/text.h"
#include "import/torchscript/importer.h"

namespace joulecast::torchscript {
namespace {

constexpr std::size_t kMaxDepth = 32;

// The examples of forward() among those of all methods; nullptr where there are none.
const PickleValue* examples_of(const Pickle& pickle) {
  const PickleValue* found = pickle.attribute(pickle.root(), "forward");
  const bool list = found != nullptr && (found->kind == PickleKind::kList || found->kind == PickleKind::kTuple);
  return list ? found : nullptr;
}

// Of several for arguments of other types (LSTM, GRU), the first is the one for tensors.
const Function* forward_of(const ClassRef& type) {
  for (const std::string_view name : {"forward", "forward__0"}) {
    if (type.type == nullptr) break;
    if (const auto found = type.type->methods.find(name); found != type.type->methods.end()) return &found->second;
  }
  return nullptr;
}

std::string shown(const std::vector<Dimension>& dimensions) {
  std::string out;
  for (const Dimension& dimension : dimensions) {
    out += fmt::format("{}{}", out.empty() ? "" : " x ",
                       dimension.extent ? fmt::to_string(*dimension.extent) : dimension.symbol);
  }
  return out;
}

}  // namespace

Result<Graph> Importer::run(std::string_view name) {
  builder_.graph.name = printable(name, kLongestInGraph);
  const Pickle& data = archive_.pickle(PickleFile::kData);
  JC_ASSIGN_OR_RETURN(const Item root, object(PickleFile::kData, data.root(), "", 0));
  const auto* module = held<ObjectRef>(root);
  if (module == nullptr) return invalid("data.pkl: holds no module");
  const ClassRef type = instances_[module->instance].type;
  const Function* forward = forward_of(type);
  if (forward == nullptr) return unsupported(fmt::format("'{}' has no method 'forward'", printable(type.name)));
  JC_ASSIGN_OR_RETURN(Arguments arguments, inputs_of(*type.source, *forward));
  JC_ASSIGN_OR_RETURN(const Item result, call_method(*module, forward->name, std::move(arguments)));
  JC_RETURN_IF_ERROR(add_outputs(result, 0));
  for (const auto& [input, hint] : hints_.shapes) {
    if (hint.supposed && !asked_.contains(input))
      return unsupported(fmt::format("the file does not say the shape of input '{}'", input));
  }
  if (builder_.graph.outputs.empty()) return unsupported("'forward' returns no tensor");
  for (const std::string& text : notes_) builder_.graph.notes.push_back({text});
  return std::move(builder_.graph);
}

Result<Arguments> Importer::inputs_of(const Source& source, const Function& forward) {
  Arguments out;
  const PickleValue* examples = archive_.has_inputs() ? examples_of(archive_.pickle(PickleFile::kInputs)) : nullptr;
  const auto parameters = source.parameters_of(forward);
  for (std::size_t i = 1; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const std::string name = printable(parameter.name, kLongestInGraph);
    if (examples != nullptr && i - 1 < examples->items.size()) {
      JC_ASSIGN_OR_RETURN(Item item, input_like(name, examples->items[i - 1], 0));
      out.named.emplace_back(parameter.name, item);
      continue;
    }
    if (parameter.absent != kNoExpr) continue;
    const bool tensor = parameter.type != kNoExpr && source.expr(parameter.type).text == "Tensor";
    if (!tensor) return unsupported(fmt::format("'forward' wants '{}', which is no tensor and has no default", name));
    // The element type is still for the operator that reads it to tell.
    if (asked_.contains(name)) hints_.shapes.try_emplace(name, as_asked(name, {ElementType::kFloat32, {}, true}));
    if (const auto hint = hints_.shapes.find(name); hint != hints_.shapes.end()) {
      std::vector<Dimension> dimensions = hinted_dimensions(name, hint->second);
      note_shape(name, shown(dimensions));
      out.named.emplace_back(parameter.name, add_input(name, hint->second.element, std::move(dimensions)));
      cells_.back().input = name;
      continue;
    }
    cells_.push_back({kNoValue, std::nullopt, name});
    out.named.emplace_back(parameter.name, Item(TensorRef{static_cast<std::uint32_t>(cells_.size() - 1)}));
  }
  return out;
}

void Importer::note_shape(const std::string& input, std::string shape) {
  if (asked_.contains(input)) {
    note(fmt::format("the file does not say the shape of input '{}': taken as {}, as was asked for", input, shape));
    return;
  }
  guessed_.push_back({input, std::move(shape)});
  note(note_of(guessed_.back()));
}

// Errors that say what to give say enough.
Error Importer::with_guesses(Error error) const {
  if (guessed_.empty() || error.text().find("--shapes") != std::string::npos) return error;
  return {error.code(), fmt::format("{}; {}", error.text(), advice_on(guessed_))};
}

// Lists of tensors are an input each; numbers and strings stay what they were.
Result<Item> Importer::input_like(const std::string& name, PickleId example, std::size_t depth) {
  const Pickle& pickle = archive_.pickle(PickleFile::kInputs);
  const PickleValue& value = pickle.value(example);
  if (depth > kMaxDepth) return unsupported(fmt::format("input '{}' is nested too deep", name));
  JC_RETURN_IF_ERROR(count_step());
  if (value.kind == PickleKind::kTensor) {
    const TensorType& type = pickle.tensor(value).type;
    return add_input(name, type.element, open_dimensions(name, type));
  }
  const bool list = value.kind == PickleKind::kList || value.kind == PickleKind::kTuple;
  if (!list && value.kind != PickleKind::kDict) return object(PickleFile::kInputs, example, name, depth);
  std::vector<Item> items;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const bool key = value.kind == PickleKind::kDict && i % 2 == 0;
    const PickleId id = value.items[i];
    std::string part = fmt::format("{}_{}", name, i);
    if (value.kind == PickleKind::kDict && !key && pickle.value(value.items[i - 1]).kind == PickleKind::kText) {
      part = fmt::format("{}_{}", name, printable(pickle.value(value.items[i - 1]).text, kLongestInGraph));
    }
    JC_ASSIGN_OR_RETURN(Item item,
                        key ? object(PickleFile::kInputs, id, part, depth) : input_like(part, id, depth + 1));
    items.push_back(item);
  }
  const ListKind kind = value.kind == PickleKind::kDict   ? ListKind::kDict
                        : value.kind == PickleKind::kList ? ListKind::kList
                                                          : ListKind::kTuple;
  return new_list(kind, std::move(items));
}

Item Importer::add_input(const std::string& name, ElementType element, std::vector<Dimension> dimensions) {
  SampleTypes types;
  for (std::size_t i = 0; i < kSamples; ++i) {
    types[i].element = element;
    for (const Dimension& d : dimensions) {
      types[i].shape.push_back(d.extent ? *d.extent : open_sizes_.at(d.symbol)[i]);
    }
  }
  const Guess guess{element, dimensions.size(), false, {}};
  const ValueId id = builder_.add_input(name, {{}, element, std::move(dimensions)}, guess);
  samples_.add_input(id, types);
  names_[name] = 1;
  return new_tensor(id);
}

// A trace holds for other batches, and token ids for other lengths, unless it turns out that it does not; other extents
// of the example often stand in the code.
std::vector<Dimension> Importer::open_dimensions(const std::string& name, const TensorType& example) {
  std::vector<Dimension> out;
  const bool tokens = example.shape.size() == 2 && is_integer(example.element);
  const std::size_t batch = batch_place(name, example.shape.size());
  if (batch != 0 && !fixed_) {
    note(
        fmt::format("the batch of input '{}' is its second axis: a recurrent layer takes the first one as time", name));
  }
  for (std::size_t axis = 0; axis < example.shape.size(); ++axis) {
    const std::int64_t extent = example.shape[axis];
    const bool open = !fixed_ && extent > 0 && (axis == batch || (tokens && axis < 2));
    if (!open) {
      out.push_back({extent, {}});
      continue;
    }
    const std::array<std::int64_t, kSamples> sizes{extent,
                                                   axis == batch ? extent * 2 : std::max<std::int64_t>(1, extent / 2)};
    std::string symbol = axis == batch ? "batch" : "sequence";
    const auto found = open_sizes_.find(symbol);
    const bool other = found != open_sizes_.end() && found->second != sizes;
    if (other && axis == batch) {  // a table, or edges of a graph: no row an example
      out.push_back({extent, {}});
      continue;
    }
    if (other) symbol = fmt::format("{}_axis{}", name, axis);
    open_sizes_.emplace(symbol, sizes);
    out.push_back({std::nullopt, std::move(symbol)});
  }
  return out;
}

std::vector<Dimension> Importer::hinted_dimensions(const std::string& name, const InputHint& hint) {
  std::vector<Dimension> out;
  const std::size_t rank = hint.extents.size();
  const std::size_t batch = batch_place(name, rank);
  const auto asked = fixed_ ? asked_.find(name) : asked_.end();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (asked != asked_.end()) {
      out.push_back({asked->second[axis], {}});
      continue;
    }
    if (hint.extents[axis]) {
      out.push_back({*hint.extents[axis], {}});
      continue;
    }
    constexpr std::int64_t kUsualImage = 224;
    if (fixed_ && rank == 4 && axis >= 2) {
      out.push_back({kUsualImage, {}});
      continue;
    }
    std::string symbol = axis == batch ? "batch" : fmt::format("{}_axis{}", name, axis);
    if (axis == 1 - batch && (rank == 3 || (rank == 2 && is_integer(hint.element)))) symbol = "sequence";
    if (rank == 4 && axis == 2) symbol = "height";
    if (rank == 4 && axis == 3) symbol = "width";
    open_sizes_.emplace(symbol, sample_extents(axis == batch ? 0 : std::max<std::size_t>(axis, 1), rank));
    out.push_back({std::nullopt, std::move(symbol)});
  }
  return out;
}

// Of what was asked for, the batch's extent stays open.
InputHint Importer::as_asked(const std::string& input, InputHint hint) const {
  const auto asked = asked_.find(input);
  if (asked == asked_.end()) return hint;
  hint.extents.assign(asked->second.begin(), asked->second.end());
  if (!hint.extents.empty()) hint.extents[batch_place(input, hint.extents.size())].reset();
  return hint;
}

void Importer::add_hint(const std::string& input, InputHint hint) {
  hints_.shapes.insert_or_assign(input, as_asked(input, std::move(hint)));
  hinted_ = true;
}

std::size_t Importer::batch_place(const std::string& input, std::size_t rank) const {
  return rank > 1 && hints_.batch_behind.contains(input) ? 1 : 0;
}

Result<void> Importer::move_batch(std::string_view name, const Arguments& arguments) {
  constexpr std::size_t kBatchFirst = 8;
  const std::vector<Item>& items = arguments.items;
  const bool recurrent = name == "lstm" || name == "gru" || name == "rnn_tanh" || name == "rnn_relu";
  const auto* tensor = recurrent && items.size() > kBatchFirst ? held<TensorRef>(items[0]) : nullptr;
  const auto* batch_first = tensor == nullptr ? nullptr : held<bool>(items[kBatchFirst]);
  const auto types = batch_first == nullptr || *batch_first ? std::nullopt : samples_.types(value_of(*tensor));
  const auto batch = open_sizes_.find("batch");
  if (!types || batch == open_sizes_.end() || !hints_.batch_behind.empty()) return {};
  const auto& [one, other] = *types;
  if (one.shape.size() != 3 || one.shape[0] != batch->second[0] || other.shape[0] != batch->second[1]) return {};
  for (const GraphInput& input : builder_.graph.inputs) {
    const bool moves = input.dimensions.size() > 1 && input.dimensions[0].symbol == "batch";
    if (moves) hints_.batch_behind.insert(builder_.graph.value(input.value).name);
  }
  for (auto& [input, hint] : hints_.shapes) hint = as_asked(input, hint);
  hinted_ = true;
  return unsupported("the batch of an input is its second axis");
}

const TensorType* Importer::type_of(const Item& item) const {
  const auto* tensor = held<TensorRef>(item);
  return tensor == nullptr || value_of(*tensor) == kNoValue ? nullptr : builder_.type(value_of(*tensor));
}

namespace {

// The place of the number of groups among the arguments.
std::size_t place_of_groups(std::string_view name) {
  return name == "_convolution" || name == "convolution" ? 8 : 6;
}

}  // namespace

Result<void> Importer::guess_input(const std::string& input, std::string_view name, const Arguments& arguments) {
  const std::vector<Item>& items = arguments.items;
  const TensorType* weight = items.size() > 1 ? type_of(items[1]) : nullptr;
  InputHint hint;
  if (name == "embedding") {
    hint = {ElementType::kInt64, {std::nullopt, std::nullopt}};
  } else if (name == "linear" && weight != nullptr && weight->shape.size() == 2) {
    hint = {weight->element, {std::nullopt, weight->shape[1]}};
  } else if (name.find("conv") != std::string_view::npos && weight != nullptr && weight->shape.size() > 2) {
    const bool transposed = name.find("transpose") != std::string_view::npos;
    const std::size_t place = place_of_groups(name);
    const auto* groups = place < items.size() ? held<std::int64_t>(items[place]) : nullptr;
    const std::int64_t count = transposed || groups == nullptr ? 1 : std::clamp<std::int64_t>(*groups, 1, 1 << 20);
    hint.element = weight->element;
    hint.extents.resize(weight->shape.size());
    hint.extents[1] = std::min(weight->shape[transposed ? 0 : 1], kMaxElements / (1 << 20)) * count;
  } else if (name == "lstm" || name == "gru" || name == "rnn_tanh" || name == "rnn_relu") {
    const List* weights = items.size() > 2 ? list_of(items[2]) : nullptr;
    const TensorType* first = weights == nullptr || weights->items.empty() ? nullptr : type_of(weights->items[0]);
    if (first != nullptr && first->shape.size() == 2) {
      hint = {first->element, {std::nullopt, std::nullopt, first->shape[1]}};
    }
  }
  const std::string known = printable(input);
  if (hint.extents.empty() && !asked_.contains(input)) {
    return unsupported(
        fmt::format("the file does not say the shape of input '{}', and '{}' that reads it does not "
                    "tell; --shapes {}:AxBxC with all of its extents would",
                    known, printable(name), known));
  }
  add_hint(input, std::move(hint));
  return unsupported(fmt::format("the shape of input '{}' is not known", known));
}

namespace {

ValueId first_input(const Node& node) {
  return node.inputs.empty() ? kNoValue : node.inputs[0];
}

}  // namespace

Result<void> Importer::tell_integers(std::string_view name, const Arguments& arguments) {
  const bool looks_up = (name == "embedding" || name == "embedding_bag") && arguments.items.size() > 1;
  const auto* indices = looks_up ? held<TensorRef>(arguments.items[1]) : nullptr;
  ValueId id = indices == nullptr ? kNoValue : value_of(*indices);
  while (id != kNoValue && builder_.producer(id) != nullptr) id = first_input(*builder_.producer(id));
  const auto hint = id == kNoValue ? hints_.shapes.end() : hints_.shapes.find(builder_.graph.value(id).name);
  if (hint == hints_.shapes.end() || is_integer(hint->second.element)) return {};
  hint->second.element = ElementType::kInt64;
  hinted_ = true;
  return unsupported("the elements of an input are token ids");
}

Result<void> Importer::add_outputs(const Item& item, std::size_t depth) {
  if (depth > kMaxDepth) return unsupported("results nested too deep");
  JC_RETURN_IF_ERROR(count_step());
  if (const auto* tensor = held<TensorRef>(item); tensor != nullptr && value_of(*tensor) != kNoValue) {
    builder_.graph.outputs.push_back(value_of(*tensor));
  }
  if (const auto* pending = held<PendingRef>(item)) {
    const auto count = count_of(pendings_[pending->pending]);
    if (!count) return unsupported("how many tensors a list has depends on sizes");
    JC_ASSIGN_OR_RETURN(const Item made, materialize(*pending, *count));
    return add_outputs(made, depth + 1);
  }
  if (const List* list = list_of(item)) {
    for (const Item& part : list->items) JC_RETURN_IF_ERROR(add_outputs(part, depth + 1));
  }
  if (const auto* object = held<ObjectRef>(item)) {
    const Instance& instance = instances_[object->instance];
    if (instance.pickled || instance.type.type == nullptr) return {};
    for (const std::string_view field : instance.type.type->fields) {
      const auto found = instance.attributes.find(field);
      if (found != instance.attributes.end()) JC_RETURN_IF_ERROR(add_outputs(found->second, depth + 1));
    }
  }
  return {};
}

}  // namespace joulecast::torchscript
