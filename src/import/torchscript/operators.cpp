// SPDX-License-Identifier: Apache-2.0
// Calls of PyTorch's operators, through the table that programs of torch.export go through. The code names no overload:
// the few that matter are told by the arguments.
#include "import/torch/aten/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "import/text.h"
#include "import/torch/aten/scalar_type.h"
#include "import/torchscript/importer.h"

namespace joulecast::torchscript {
namespace {

// "self, dim|other, keepdim": takes the first name; empty where there is none.
std::string_view take_parameter(std::string_view& parameters) {
  const std::string_view out = parameters.substr(0, parameters.find(','));
  parameters.remove_prefix(std::min(parameters.size(), out.size() + 2));
  return out;
}

// Operators that give a list of tensors as long as their arguments say.
bool gives_list(std::string_view name) {
  constexpr std::array<std::string_view, 12> kNames{"broadcast_tensors",
                                                    "chunk",
                                                    "meshgrid",
                                                    "split",
                                                    "split_with_sizes",
                                                    "tensor_split",
                                                    "unbind",
                                                    "unsafe_chunk",
                                                    "hsplit",
                                                    "unsafe_split",
                                                    "unsafe_split_with_sizes",
                                                    "vsplit"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool has_named(const Arguments& arguments, std::string_view name) {
  return std::any_of(arguments.named.begin(), arguments.named.end(), [&](const auto& n) { return n.first == name; });
}

}  // namespace

std::string Importer::fresh_name(std::string_view base) {
  std::string name = printable(base, kLongestInGraph);
  const std::size_t count = names_[name]++;
  return count == 0 ? name : name + "_" + std::to_string(count);
}

Item Importer::new_tensor(ValueId id) {
  cells_.push_back({id, std::nullopt, {}});
  return Item(TensorRef{static_cast<std::uint32_t>(cells_.size() - 1)});
}

Item Importer::new_list(ListKind kind, std::vector<Item> items) {
  lists_.push_back({kind, std::move(items), {}});
  return Item(ListRef{static_cast<std::uint32_t>(lists_.size() - 1)});
}

List* Importer::list_of(const Item& item) {
  const auto* ref = held<ListRef>(item);
  return ref == nullptr ? nullptr : &lists_[ref->list];
}

const List* Importer::list_of(const Item& item) const {
  const auto* ref = held<ListRef>(item);
  return ref == nullptr ? nullptr : &lists_[ref->list];
}

namespace {

// The overload whose entry in the table differs from the others'.
std::string_view overload_of(std::string_view name, const Arguments& arguments, const std::vector<bool>& lists) {
  const std::vector<Item>& items = arguments.items;
  const auto tensor = [&](std::size_t i) { return i < items.size() && held<TensorRef>(items[i]) != nullptr; };
  if (name == "arange") return items.size() >= 3 ? "start_step" : items.size() == 2 ? "start" : "";
  if (name == "randint") return items.size() >= 2 && !lists[1] ? "low" : "";
  if (name == "eye") return items.size() >= 2 ? "m" : "";
  if (name == "sort" || name == "argsort") return has_named(arguments, "stable") ? "stable" : "";
  if (name == "lstm") return tensor(1) ? "data" : "";
  if (name == "gru" || name == "rnn_tanh" || name == "rnn_relu") return tensor(2) ? "data" : "";
  if (name == "to" && items.size() > 1) return held<Setting>(items[1]) != nullptr ? "device" : "";
  if (name == "to") return has_named(arguments, "dtype") ? "dtype_layout" : "";
  return {};
}

}  // namespace

Result<aten::Argument> Importer::argument(const Item& item, std::string_view parameter) {
  // Element types are numbers.
  if (const auto* whole = held<std::int64_t>(item)) {
    if (parameter.find("dtype") != std::string_view::npos && parameter.find("size") == std::string_view::npos) {
      return aten::Argument(aten::element_of(*whole));
    }
    return aten::Argument(aten::Integer{*whole});
  }
  if (const auto* truth = held<bool>(item)) return aten::Argument(*truth);
  if (const auto* real = held<double>(item)) return aten::Argument(*real);
  if (const auto* string = held<std::string_view>(item)) return aten::Argument(*string);
  if (const auto* symbol = held<Symbol>(item)) {
    const bool whole = is_integer(builder_.guess(symbol->id).element);
    return whole ? aten::Argument(aten::Integer{0, symbol->id}) : aten::Argument(symbol->id);
  }
  if (const auto* tensor = held<TensorRef>(item)) {
    if (value_of(*tensor) == kNoValue) return unsupported("reads an input whose shape is not known");
    return aten::Argument(value_of(*tensor));
  }
  if (held<std::monostate>(item) != nullptr) return aten::Argument{};
  if (const auto* pending = held<PendingRef>(item)) {
    const auto count = count_of(pendings_[pending->pending]);
    if (!count) return unsupported("how many tensors a list has depends on sizes");
    JC_ASSIGN_OR_RETURN(const Item made, materialize(*pending, *count));
    return argument(made, parameter);
  }
  const List* list = list_of(item);
  if (list == nullptr) return aten::Argument(aten::Setting{});
  const auto any = [&](auto is) { return std::any_of(list->items.begin(), list->items.end(), is); };
  const bool wholes = any([](const Item& i) { return held<std::int64_t>(i) != nullptr || held<Symbol>(i) != nullptr; });
  if (!wholes && any([](const Item& i) { return held<double>(i) != nullptr; })) {
    std::vector<double> reals;
    for (const Item& i : list->items) reals.push_back(held<double>(i) == nullptr ? 0.0 : *held<double>(i));
    return aten::Argument(std::move(reals));
  }
  if (!wholes && any([](const Item& i) { return held<TensorRef>(i) != nullptr; })) {
    std::vector<ValueId> tensors;
    for (const Item& i : list->items) {
      const auto* tensor = held<TensorRef>(i);
      if (tensor != nullptr && value_of(*tensor) == kNoValue) return unsupported("reads an input of unknown shape");
      tensors.push_back(tensor == nullptr ? kNoValue : value_of(*tensor));
    }
    return aten::Argument(std::move(tensors));
  }
  std::vector<aten::Integer> out;
  out.reserve(list->items.size());
  for (const Item& i : list->items) {
    if (const auto* whole = held<std::int64_t>(i)) out.push_back({*whole});
    if (const auto* truth = held<bool>(i)) out.push_back({*truth ? 1 : 0});
    if (const auto* symbol = held<Symbol>(i)) out.push_back({0, symbol->id});
    if (const auto* tensor = held<TensorRef>(i)) out.push_back({0, value_of(*tensor)});
    if (held<Unknown>(i) != nullptr) return unsupported("an extent depends on data");
  }
  return aten::Argument(std::move(out));
}

Result<void> Importer::set_arguments(aten::Call& call, const Arguments& arguments) {
  for (std::size_t i = 0; i < arguments.items.size(); ++i) {
    auto made = argument(arguments.items[i], call.parameter(i));
    if (!made) return tl::unexpected(std::move(made).error().in(fmt::format("argument {}", i)));
    JC_RETURN_IF_ERROR(call.set_positional(i, *std::move(made)));
  }
  for (const auto& [name, item] : arguments.named) {
    auto made = argument(item, name);
    if (!made) return tl::unexpected(std::move(made).error().in(fmt::format("argument '{}'", printable(name))));
    call.set_named(name, *std::move(made));
  }
  return {};
}

Result<std::vector<ValueId>> Importer::lower(std::string_view name, std::string_view overload,
                                             const Arguments& arguments, std::vector<aten::Output> outputs) {
  const aten::OperatorEntry* entry = aten::find_operator(name, overload);
  const std::string_view parameters = entry == nullptr ? std::string_view{} : entry->parameters;
  const bool foreign = name.find('.') != std::string_view::npos;
  std::string target(foreign ? "" : "aten.");
  target += printable(name);
  std::string node_name(path_);
  if (!path_.empty()) node_name += '/';
  node_name += outputs[0].name;
  const std::size_t first_value = builder_.graph.values.size();
  const std::size_t first_node = builder_.graph.nodes.size();
  aten::Call call(builder_, target, parameters, std::move(outputs));
  call.node_name = std::move(node_name);
  auto done = set_arguments(call, arguments);
  if (done) done = aten::lower(entry, call);
  if (!done) return tl::unexpected(std::move(done).error().in(target));
  for (const std::string& text : call.notes()) note(text);
  follow_types(first_value, first_node);
  return call.results();
}

// What the operators make of the sample sizes tells ranks, which lowerings ask for.
void Importer::follow_types(std::size_t first_value, std::size_t first_node) {
  const Graph& graph = builder_.graph;
  for (std::size_t i = first_value; i < graph.values.size(); ++i) {
    const ValueId id{static_cast<std::uint32_t>(i)};
    if (graph.value(id).kind != ValueKind::kComputed) samples_.add_source(graph, id);
  }
  for (std::size_t i = first_node; i < graph.nodes.size(); ++i) {
    samples_.add_node(graph, graph.nodes[i]);
    for (const ValueId id : graph.nodes[i].outputs) {
      const auto types = id == kNoValue ? std::nullopt : samples_.types(id);
      if (!types || (*types)[0].shape.size() != (*types)[1].shape.size()) continue;
      Guess guess = builder_.guess(id);
      guess.element = (*types)[0].element;
      guess.rank = (*types)[0].shape.size();
      guess.extents = samples_.extents(id);
      guess.length.reset();
      if (guess.rank == 1U && (*types)[0].shape == (*types)[1].shape) {
        guess.length = static_cast<std::size_t>((*types)[0].shape[0]);
      }
      builder_.set_guess(id, guess);
    }
  }
}

// A convolution tells the channels of an input of which only the rank is known.
bool Importer::lacks_shape(const Cell& cell, std::string_view reader) const {
  if (cell.value == kNoValue) return true;
  const auto hint = cell.input.empty() ? hints_.shapes.end() : hints_.shapes.find(cell.input);
  if (hint == hints_.shapes.end()) return false;
  const bool tells = reader == "embedding" || reader == "linear" || reader.find("conv") != std::string_view::npos;
  if (hint->second.supposed && tells) return true;
  return reader.find("conv") != std::string_view::npos && hint->second.extents.size() > 2 && !hint->second.extents[1];
}

Result<Item> Importer::call_operator(std::string_view name, const Arguments& arguments, std::size_t outputs,
                                     std::span<const ExprId> targets, const Frame* frame) {
  if (outputs <= 1 && gives_list(name)) {
    pendings_.push_back({std::string(name), arguments, {}});
    return Item(PendingRef{static_cast<std::uint32_t>(pendings_.size() - 1)});
  }
  for (const Item& item : arguments.items) {
    const auto* tensor = held<TensorRef>(item);
    if (tensor != nullptr && lacks_shape(cells_[tensor->cell], name)) {
      JC_RETURN_IF_ERROR(guess_input(cells_[tensor->cell].input, name, arguments));
    }
  }
  JC_RETURN_IF_ERROR(move_batch(name, arguments));
  JC_RETURN_IF_ERROR(tell_integers(name, arguments));
  const bool in_place = aten::is_in_place(name);
  std::vector<aten::Output> outs;
  const std::string base = fresh_name(in_place ? name.substr(0, name.size() - 1) : name);
  for (std::size_t i = 0; i < outputs; ++i) {
    const bool used =
        outputs <= 1 || i >= targets.size() || frame->function.read.contains(frame->source.expr(targets[i]).text);
    outs.push_back({i == 0 ? base : fmt::format("{}_out{}", base, i), std::nullopt, used});
  }
  std::vector<bool> lists;
  for (const Item& item : arguments.items) lists.push_back(list_of(item) != nullptr);
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> made,
                      lower(name, overload_of(name, arguments, lists), arguments, std::move(outs)));
  if (in_place && !arguments.items.empty() && !made.empty() && made[0] != kNoValue) {
    if (const auto* tensor = held<TensorRef>(arguments.items[0])) {
      JC_RETURN_IF_ERROR(mutate(tensor->cell, made[0]));
      return arguments.items[0];
    }
  }
  std::vector<Item> items;
  items.reserve(made.size());
  for (const ValueId id : made) items.push_back(id == kNoValue ? Item{} : new_tensor(id));
  if (outputs > 1) return new_list(ListKind::kTuple, std::move(items));
  if (items.empty()) return Item{};
  if (const auto* tensor = held<TensorRef>(items[0]); tensor != nullptr && aten::is_view(name)) {
    remember_view(tensor->cell, name, arguments);
  }
  return items[0];
}

void Importer::remember_view(std::uint32_t cell, std::string_view name, const Arguments& arguments) {
  const auto* base = arguments.items.empty() ? nullptr : held<TensorRef>(arguments.items[0]);
  const aten::OperatorEntry* entry = aten::find_operator(name, "");
  if (base == nullptr || entry == nullptr) return;
  View view{base->cell, entry->name, {}};
  std::string_view parameters = entry->parameters;
  take_parameter(parameters);  // the base's
  for (std::size_t i = 1; i < arguments.items.size(); ++i) {
    const std::string_view parameter = take_parameter(parameters);
    auto made = argument(arguments.items[i], parameter);
    if (made) view.arguments.emplace_back(parameter.substr(0, parameter.find('|')), *std::move(made));
  }
  cells_[cell].view = std::move(view);
}

// Who changes a view changes what it is a view of.
Result<void> Importer::mutate(std::uint32_t cell, ValueId value) {
  for (int steps = 0; steps < 16; ++steps) {
    cells_[cell].value = value;
    if (!cells_[cell].view) return {};
    const View view = *cells_[cell].view;
    JC_ASSIGN_OR_RETURN(value, written_back(view, cells_[view.base].value, value));
    if (value == kNoValue) return {};
    cell = view.base;
  }
  return {};
}

// `base` with `value` in the place that the view shows: x[i] = v is select, copy_.
Result<ValueId> Importer::written_back(const View& view, ValueId base, ValueId value) {
  const bool part = view.name == "slice" || view.name == "select";
  const std::string name = part ? fmt::format("{}_scatter", view.name) : "view_as";
  const aten::OperatorEntry* entry = aten::find_operator(name, "");
  const std::size_t first_value = builder_.graph.values.size();
  const std::size_t first_node = builder_.graph.nodes.size();
  const std::string out = fresh_name(name);
  aten::Call call(builder_, fmt::format("aten.{}", name), entry->parameters, {{out, std::nullopt, true}});
  call.node_name = path_.empty() ? out : fmt::format("{}/{}", path_, out);
  for (const auto& [parameter, item] : view.arguments) {
    if (part) call.set_named(parameter, item);
  }
  call.set_named("self", part ? base : value);
  call.set_named(part ? "src" : "other", part ? value : base);
  JC_RETURN_IF_ERROR(aten::lower(entry, call));
  follow_types(first_value, first_node);
  return call.results()[0];
}

std::optional<std::size_t> Importer::count_of(const Pending& pending) const {
  constexpr std::int64_t kMaxTensors = 100'000;
  const auto& items = pending.arguments.items;
  const bool by_place = pending.name == "unbind";
  const auto given = [&](std::size_t place, std::string_view name) -> const Item* {
    if (place < items.size()) return &items[place];
    for (const auto& [key, item] : pending.arguments.named) {
      if (key == name) return &item;
    }
    return nullptr;
  };
  const Item* how = by_place ? nullptr : given(1, "split_size");
  const bool places = pending.name == "tensor_split";
  if (how != nullptr && list_of(*how) != nullptr) return list_of(*how)->items.size() + (places ? 1 : 0);
  const auto* tensor = items.empty() ? nullptr : held<TensorRef>(items[0]);
  const Item* axis_item = given(by_place ? 1 : 2, "dim");
  const std::int64_t asked =
      axis_item == nullptr || held<std::int64_t>(*axis_item) == nullptr ? 0 : *held<std::int64_t>(*axis_item);
  const auto extents = tensor == nullptr ? std::nullopt : samples_.extents(value_of(*tensor));
  if (!extents) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(extents->size());
  const std::int64_t axis = asked < 0 ? asked + rank : asked;
  const std::int64_t extent = axis >= 0 && axis < rank ? (*extents)[static_cast<std::size_t>(axis)] : -1;
  const bool chunks = pending.name == "chunk" || pending.name == "unsafe_chunk" || pending.name == "tensor_split";
  const std::int64_t size = how != nullptr && held<std::int64_t>(*how) != nullptr ? *held<std::int64_t>(*how) : 1;
  if (size < 1 || size > kMaxTensors) return std::nullopt;
  if (chunks && (extent < 0 || pending.name == "tensor_split")) return static_cast<std::size_t>(size);
  if (extent < 0 || extent > kMaxTensors) return std::nullopt;
  // chunk(n) makes parts of ceil(extent / n), and as many as it takes.
  const std::int64_t part = chunks ? std::max<std::int64_t>(1, (extent + size - 1) / size) : size;
  return static_cast<std::size_t>(std::max<std::int64_t>(1, (extent + part - 1) / part));
}

Result<Item> Importer::materialize(const PendingRef& ref, std::size_t count) {
  Pending& pending = pendings_[ref.pending];
  if (held<std::monostate>(pending.tensors) == nullptr) return pending.tensors;
  std::vector<aten::Output> outputs;
  const std::string base = fresh_name(pending.name);
  for (std::size_t i = 0; i < count; ++i)
    outputs.push_back({i == 0 ? base : fmt::format("{}_out{}", base, i), std::nullopt, true});
  if (outputs.empty()) return unsupported("an empty list of tensors");
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> made, lower(pending.name, "", pending.arguments, std::move(outputs)));
  std::vector<Item> items;
  items.reserve(made.size());
  for (const ValueId id : made) items.push_back(id == kNoValue ? Item{} : new_tensor(id));
  pendings_[ref.pending].tensors = new_list(ListKind::kList, std::move(items));
  return pendings_[ref.pending].tensors;
}

}  // namespace joulecast::torchscript
