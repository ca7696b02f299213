// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import/raw_data.h"
#include "import/text.h"
#include "import/tflite/operators.h"

namespace joulecast::tflite {
namespace {

using tensorflow::NodeView;
using tensorflow::PartialShape;
using tensorflow::Port;

constexpr std::size_t kMaxInputs = 4'000'000;
constexpr std::size_t kMaxDepth = 32;  // subgraphs in subgraphs
constexpr std::size_t kMaxUnpacking = 8;
constexpr std::size_t kLongestName = 256;

// Indexed by TensorType of the schema: DataType of TensorFlow.
constexpr std::array<std::int64_t, 21> kDataTypes{1,  19, 3,  4,  9,  7,  10, 5,  8, 6, 2,
                                                  18, 23, 20, 21, 22, 17, 29, 14, 0, 30};

// Weights are what a program learns: real numbers, also as integers, that are no single number.
bool is_weight(const TensorView& tensor) {
  const bool real = is_floating(tensorflow::element_type(data_type(tensor.type)));
  return tensor.constant && !tensor.shape.empty() && (real || tensor.quantized);
}

std::string_view operator_name(const OperatorView& op, const BuiltinEntry* entry) {
  if (!op.custom.empty()) return op.custom;
  return entry == nullptr ? std::string_view("an operator of a later version") : entry->name;
}

// What names the value: the first of several that were merged, without the number of an output.
std::string plain_name(std::string_view name) {
  name = name.substr(0, std::min(name.find(';'), kLongestName));
  if (name.ends_with(":0")) name.remove_suffix(2);
  std::string out(name.empty() ? "tensor" : name);
  std::replace(out.begin(), out.end(), ':', '_');
  if (out[0] == '^') out[0] = '_';
  return out;
}

}  // namespace

std::int64_t data_type(std::int64_t tensor_type) {
  const bool known = tensor_type >= 0 && tensor_type < static_cast<std::int64_t>(kDataTypes.size());
  return known ? kDataTypes[static_cast<std::size_t>(tensor_type)] : 0;
}

// The graph that users run: what the signature "serving_default" names, else the first.
Result<const SubgraphView*> ModelConverter::choose(const SignatureView*& signature) const {
  const auto is_default = [](const SignatureView& one) { return one.key == "serving_default"; };
  const auto it = std::find_if(model_.signatures.begin(), model_.signatures.end(), is_default);
  signature = it != model_.signatures.end() ? &*it : nullptr;
  if (signature == nullptr && model_.signatures.size() == 1) signature = model_.signatures.data();
  const std::int64_t place = signature == nullptr ? 0 : signature->subgraph;
  if (place >= static_cast<std::int64_t>(model_.subgraphs.size())) {
    return invalid(fmt::format("signature '{}' is of graph {}, there are {}", printable(signature->key), place,
                               model_.subgraphs.size()));
  }
  return &model_.subgraphs[static_cast<std::size_t>(place)];
}

namespace {

// An input or output under the name that the signature has for it.
Port port_of(const TensorView& tensor, std::string_view reference, std::int64_t place,
             const std::vector<SignatureView::Name>& names) {
  Port out{reference, reference, tensorflow::element_type(data_type(tensor.type)),
           PartialShape{tensor.known_rank, tensor.shape}};
  for (const SignatureView::Name& one : names) {
    if (one.tensor == place && !one.name.empty()) out.name = one.name;
  }
  return out;
}

}  // namespace

Result<void> ModelConverter::run() {
  const SignatureView* signature = nullptr;
  JC_ASSIGN_OR_RETURN(const SubgraphView* main, choose(signature));
  active_.push_back(main - model_.subgraphs.data());
  SubgraphConverter converter(*this, *main, Hoist::kNothing);
  JC_RETURN_IF_ERROR(converter.name_tensors());
  JC_RETURN_IF_ERROR(converter.run());
  if (main->outputs.empty()) return invalid("has no output");
  static const SignatureView kNone;
  JC_RETURN_IF_ERROR(add_ports(converter, signature == nullptr ? kNone : *signature));
  out_.graph.nodes = std::move(converter.nodes);
  out_.graph.more_operators = lite_operator;
  return {};
}

Result<void> ModelConverter::add_ports(SubgraphConverter& main, const SignatureView& names) {
  const SubgraphView& view = main.subgraph();
  constexpr std::size_t kMaxPorts = 10'000;
  if (std::max({view.inputs.size(), view.outputs.size(), names.inputs.size(), names.outputs.size()}) > kMaxPorts) {
    return unsupported(fmt::format("more than {} inputs or outputs", kMaxPorts));
  }
  const auto tensor = [&](std::int32_t place) -> const TensorView& {
    return view.tensors[static_cast<std::size_t>(place)];
  };
  for (std::size_t i = 0; i < view.inputs.size(); ++i) {
    JC_RETURN_IF_ERROR(main.add(main.argument(i), "Placeholder", {}, {}));
    out_.interface.inputs.push_back(port_of(tensor(view.inputs[i]), main.argument(i), view.inputs[i], names.inputs));
  }
  for (const std::int32_t output : view.outputs) {
    JC_ASSIGN_OR_RETURN(const std::string_view reference, main.reference(output));
    out_.interface.outputs.push_back(port_of(tensor(output), reference, output, names.outputs));
  }
  return {};
}

Result<void> ModelConverter::count_node(std::size_t inputs) {
  if (++nodes_ > tensorflow::kMaxNodes) return unsupported(fmt::format("more than {} nodes", tensorflow::kMaxNodes));
  entries_ += inputs;
  if (entries_ > kMaxInputs) return unsupported("nodes have more inputs than in any real model");
  return {};
}

bool ModelConverter::is_zeros(std::string_view contents) {
  constexpr std::size_t kMost = std::size_t{64} << 20U;
  if (contents.empty() || contents.size() > kMost - looked_at_) return false;
  looked_at_ += contents.size();
  return contents.find_first_not_of('\0') == std::string_view::npos;
}

Result<const SubgraphView*> ModelConverter::enter(std::int64_t subgraph) {
  if (subgraph < 0 || subgraph >= static_cast<std::int64_t>(model_.subgraphs.size())) {
    return invalid(fmt::format("graph {} is asked for, there are {}", subgraph, model_.subgraphs.size()));
  }
  if (std::find(active_.begin(), active_.end(), subgraph) != active_.end()) {
    return unsupported(fmt::format("graph {} calls itself", subgraph));
  }
  if (active_.size() >= kMaxDepth) return unsupported(fmt::format("graphs are nested more than {} deep", kMaxDepth));
  active_.push_back(subgraph);
  return &model_.subgraphs[static_cast<std::size_t>(subgraph)];
}

Result<tensorflow::FunctionView> ModelConverter::make_function(SubgraphConverter& converter, std::string name) {
  auto done = converter.run();
  if (!done) return tl::unexpected(std::move(done).error().in(name));
  tensorflow::FunctionView out;
  out.name = keep(std::move(name));
  const SubgraphView& view = converter.subgraph();
  JC_RETURN_IF_ERROR(count_node(view.inputs.size() + view.outputs.size()));
  for (std::size_t i = 0; i < view.inputs.size(); ++i) out.inputs.push_back({converter.argument(i), 0, {}, {}});
  for (std::size_t i = 0; i < view.outputs.size(); ++i) {
    JC_ASSIGN_OR_RETURN(const std::string_view reference, converter.reference(view.outputs[i]));
    out.outputs.push_back({keep(fmt::format("{}", i)), 0, {}, {}});
    out.returns.emplace_back(out.outputs.back().name, reference);
  }
  out.nodes = std::move(converter.nodes);
  return out;
}

Result<std::string_view> ModelConverter::function(std::int64_t subgraph) {
  if (const auto it = functions_.find(subgraph); it != functions_.end()) return it->second;
  JC_ASSIGN_OR_RETURN(const SubgraphView* view, enter(subgraph));
  SubgraphConverter converter(*this, *view, Hoist::kNothing);
  JC_RETURN_IF_ERROR(converter.name_tensors());
  JC_ASSIGN_OR_RETURN(tensorflow::FunctionView function, make_function(converter, fmt::format("graph {}", subgraph)));
  active_.pop_back();
  functions_.emplace(subgraph, function.name);
  const std::string_view name = function.name;
  out_.graph.functions.push_back(std::move(function));
  return name;
}

Result<const ModelConverter::Loop*> ModelConverter::loop(std::int64_t condition, std::int64_t body) {
  if (const auto it = loops_.find({condition, body}); it != loops_.end()) return &it->second;
  JC_ASSIGN_OR_RETURN(Loop made, make_loop(condition, body));
  return &loops_.emplace(std::pair(condition, body), std::move(made)).first->second;
}

// Both take the loop's variables, the constants of the body, then those of the condition.
Result<ModelConverter::Loop> ModelConverter::make_loop(std::int64_t condition, std::int64_t body) {
  const std::string suffix = fmt::format(" of loop {}, {}", condition, body);
  JC_ASSIGN_OR_RETURN(const SubgraphView* body_view, enter(body));
  SubgraphConverter body_converter(*this, *body_view, Hoist::kWeights);
  JC_RETURN_IF_ERROR(body_converter.name_tensors());
  std::vector<bool> filled = body_converter.find_filled();
  JC_ASSIGN_OR_RETURN(auto body_function, make_function(body_converter, fmt::format("graph {}{}", body, suffix)));
  active_.pop_back();
  JC_ASSIGN_OR_RETURN(const SubgraphView* condition_view, enter(condition));
  SubgraphConverter condition_converter(*this, *condition_view, Hoist::kConstants);
  JC_RETURN_IF_ERROR(condition_converter.name_tensors());
  JC_ASSIGN_OR_RETURN(auto condition_function,
                      make_function(condition_converter, fmt::format("graph {}{}", condition, suffix)));
  active_.pop_back();
  Loop out{condition_function.name, body_function.name, {}, std::move(filled)};
  const auto add = [&](const std::pair<std::string_view, Hoisted>& one, bool of_body) {
    const std::string_view in_body = of_body ? one.first : body_converter.free_name("unread");
    const std::string_view in_condition = of_body ? condition_converter.free_name("unread") : one.first;
    out.hoisted.push_back(one.second);
    body_function.inputs.push_back({in_body, 0, {}, {}});
    condition_function.inputs.push_back({in_condition, 0, {}, {}});
    body_function.outputs.push_back({keep(fmt::format("{}", body_function.outputs.size())), 0, {}, {}});
    body_function.returns.emplace_back(body_function.outputs.back().name, in_body);
  };
  for (const auto& one : body_converter.hoisted) add(one, true);
  for (const auto& one : condition_converter.hoisted) add(one, false);
  out_.graph.functions.push_back(std::move(body_function));
  out_.graph.functions.push_back(std::move(condition_function));
  return out;
}

std::string_view SubgraphConverter::free_name(std::string_view wanted) {
  std::string name = plain_name(wanted);
  if (!taken_.contains(name)) return *taken_.insert(model_.keep(std::move(name))).first;
  std::string numbered;
  do {
    numbered = fmt::format("{}_{}", name, ++last_suffix_);
  } while (taken_.contains(numbered));
  return *taken_.insert(model_.keep(std::move(numbered))).first;
}

// Arguments, and what operators compute: the first output names the node, the others are numbered outputs of it.
Result<void> SubgraphConverter::name_tensors() {
  names_.resize(subgraph_.tensors.size());
  producers_.resize(subgraph_.tensors.size());
  for (const std::int32_t input : subgraph_.inputs) {
    const auto place = static_cast<std::size_t>(input);
    const std::string_view name = free_name(subgraph_.tensors[place].name);
    arguments_.push_back(name);
    if (names_[place].empty()) names_[place] = name;
  }
  for (const OperatorView& op : subgraph_.operators) {
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const auto place = static_cast<std::size_t>(op.outputs[i]);
      if (!names_[place].empty()) {
        return invalid(fmt::format("tensor '{}' is computed twice", printable(subgraph_.tensors[place].name)));
      }
      producers_[place] = {&op, i};
      names_[place] = i == 0 ? free_name(subgraph_.tensors[place].name)
                             : model_.keep(fmt::format("{}:{}", names_[static_cast<std::size_t>(op.outputs[0])], i));
    }
  }
  return {};
}

std::string_view SubgraphConverter::node_name(const OperatorView& op) const {
  return names_[static_cast<std::size_t>(op.outputs[0])];
}

const OperatorView* SubgraphConverter::made_by(std::int32_t tensor, std::string_view name, std::size_t inputs) const {
  const OperatorView* op = tensor < 0 ? nullptr : producers_[static_cast<std::size_t>(tensor)].op;
  const BuiltinEntry* entry = op == nullptr ? nullptr : find_builtin(op->code);
  return entry != nullptr && entry->name == name && op->inputs.size() >= inputs ? op : nullptr;
}

// What stands before and behind the slice is cut out of the variable, between them stands the item.
std::optional<std::int32_t> SubgraphConverter::item_of(std::size_t variable, const OperatorView& join) const {
  if (join.inputs.size() != 3) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{2}}) {
    const OperatorView* slice = made_by(join.inputs[side], "SLICE", 1);
    if (slice == nullptr || slice->inputs[0] != subgraph_.inputs[variable]) return std::nullopt;
  }
  const OperatorView* item = made_by(join.inputs[1], "RESHAPE", 1);
  if (item == nullptr) item = made_by(join.inputs[1], "EXPAND_DIMS", 1);
  return item == nullptr || item->inputs[0] < 0 ? std::nullopt : std::optional(item->inputs[0]);
}

std::vector<bool> SubgraphConverter::find_filled() {
  std::vector<bool> out(subgraph_.inputs.size(), false);
  for (std::size_t i = 0; i < std::min(subgraph_.inputs.size(), subgraph_.outputs.size()); ++i) {
    const OperatorView* join = made_by(subgraph_.outputs[i], "CONCATENATION", 3);
    const auto item = join == nullptr ? std::nullopt : item_of(i, *join);
    if (item) steps_[join] = {i, *item};
    out[i] = item.has_value();
  }
  return out;
}

Result<void> SubgraphConverter::convert(const OperatorView& op) {
  if (const auto it = steps_.find(&op); it != steps_.end()) {
    JC_ASSIGN_OR_RETURN(const std::string_view item, reference(it->second.item));
    return add(node_name(op), "TensorListSetItem", {arguments_[it->second.variable], item, item}, {});
  }
  const BuiltinEntry* entry = find_builtin(op.code);
  OperatorConverter converter(*this, op, entry == nullptr ? "" : entry->target);
  if (entry == nullptr || entry->convert == nullptr) return converter.opaque(operator_name(op, entry));
  for (std::size_t i = 0; i < entry->inputs; ++i) {
    if (!converter.has(i)) return invalid(fmt::format("input {} is missing", i));
  }
  return entry->convert(converter);
}

Result<void> SubgraphConverter::run() {
  for (const OperatorView& op : subgraph_.operators) {
    if (op.outputs.empty()) continue;  // done for its effect alone
    auto done = convert(op);
    if (done) continue;
    const std::string_view kind = operator_name(op, find_builtin(op.code));
    return tl::unexpected(
        std::move(done).error().in(fmt::format("'{}' ({})", printable(node_name(op)), printable(kind))));
  }
  return {};
}

Result<std::string_view> SubgraphConverter::reference(std::int64_t tensor) {
  const auto place = static_cast<std::size_t>(tensor);
  if (!names_[place].empty()) return names_[place];
  const TensorView& view = subgraph_.tensors[place];
  JC_ASSIGN_OR_RETURN(const auto found, constant(tensor, view.shape));
  if (!found) return invalid(fmt::format("tensor '{}' is read, but nothing computes it", printable(view.name)));
  return *found;
}

Result<std::optional<std::string_view>> SubgraphConverter::constant(std::int64_t tensor, const Shape& shape,
                                                                    std::size_t depth) {
  const auto place = static_cast<std::size_t>(tensor);
  const TensorView& view = subgraph_.tensors[place];
  const OperatorView* producer = producers_[place].op;
  const BuiltinEntry* entry = producer == nullptr ? nullptr : find_builtin(producer->code);
  const bool unpacked =
      depth < kMaxUnpacking && entry != nullptr && (entry->name == "DEQUANTIZE" || entry->name == "DENSIFY");
  if (producer != nullptr && !unpacked) return std::optional<std::string_view>();
  if (producer == nullptr && (!names_[place].empty() || (!view.constant && !view.variable))) {
    return std::optional<std::string_view>();
  }
  const auto [it, fresh] = constants_.try_emplace({tensor, text(shape)}, std::string_view());
  if (!fresh) return it->second.empty() ? std::optional<std::string_view>() : std::optional(it->second);
  if (!unpacked) {
    JC_ASSIGN_OR_RETURN(const std::string_view node, constant_node(view, shape));
    constants_[{tensor, text(shape)}] = node;
    return std::optional(node);
  }
  if (producer->inputs.empty() || producer->inputs[0] < 0) return std::optional<std::string_view>();
  const TensorView& packed = subgraph_.tensors[static_cast<std::size_t>(producer->inputs[0])];
  JC_ASSIGN_OR_RETURN(auto inner, constant(producer->inputs[0], shape, depth + 1));
  if (inner && entry->name == "DEQUANTIZE") {
    const bool real = is_floating(tensorflow::element_type(data_type(packed.type)));
    const std::string_view name = free_name(view.name);
    const std::string_view attribute = real ? "DstT" : "dtype";
    JC_RETURN_IF_ERROR(
        add(name, real ? "Cast" : "DEQUANTIZE", {*inner}, Attributes().type(attribute, data_type(view.type))));
    inner = name;
  }
  if (inner) constants_[{tensor, text(shape)}] = *inner;
  return inner;
}

Result<std::string_view> SubgraphConverter::constant_node(const TensorView& tensor, const Shape& shape) {
  const bool hoist = hoist_ == Hoist::kConstants || (hoist_ == Hoist::kWeights && is_weight(tensor));
  if (!hoist) return add_weight(tensor, shape);
  JC_RETURN_IF_ERROR(model_.count_node(1));
  const std::string_view name = free_name(tensor.name);
  hoisted.emplace_back(name, ModelConverter::Hoisted{tensor, shape});
  return name;
}

// Contents are only wanted of what is small, and of what stands as it does in the file.
Result<std::string_view> SubgraphConverter::add_weight(const TensorView& tensor, const Shape& shape) {
  const ElementType element = tensorflow::element_type(data_type(tensor.type));
  const std::string label = fmt::format("tensor '{}'", printable(tensor.name));
  const auto count = checked_elements(tensor.shape);
  if (!count) return invalid(fmt::format("{} is constant, but has an open extent", label));
  const auto bytes = (static_cast<std::uint64_t>(*count) * static_cast<std::uint64_t>(bit_width(element)) + 7) / 8;
  if (!tensor.contents.empty() && !tensor.sparse && bytes > 0 && tensor.contents.size() != bytes) {
    return invalid(fmt::format("{} has {} bytes of data, its shape {} asks for {}", label, tensor.contents.size(),
                               text(tensor.shape), bytes));
  }
  const bool kept = is_kept(element, static_cast<std::size_t>(*count)) && !tensor.sparse;
  const bool plain = tensor.shape == shape;
  if (kept && plain && *count > 0 && tensor.contents.empty() && !tensor.variable && !is_weight(tensor)) {
    return invalid(fmt::format("{}: its data are not in the file", label));
  }
  const std::string_view name = free_name(tensor.name);
  Attributes attributes;
  attributes.tensor("value", data_type(tensor.type), shape, kept && plain ? tensor.contents : std::string_view());
  if (is_weight(tensor)) attributes.flag("_weight", true);
  JC_RETURN_IF_ERROR(add(name, "Const", {}, std::move(attributes)));
  return name;
}

Result<std::string_view> SubgraphConverter::add_constant(std::string_view name, std::int64_t type, const Shape& shape,
                                                         std::string_view contents) {
  const std::string_view free = free_name(name);
  JC_RETURN_IF_ERROR(add(free, "Const", {}, Attributes().tensor("value", type, shape, contents)));
  return free;
}

Result<void> SubgraphConverter::add(std::string_view name, std::string_view op, std::vector<std::string_view> inputs,
                                    Attributes attributes, bool opaque) {
  JC_RETURN_IF_ERROR(model_.count_node(inputs.size()));
  NodeView node;
  node.name = name;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attributes = attributes.written_to(model_.texts());
  node.opaque = opaque;
  nodes.push_back(std::move(node));
  return {};
}

}  // namespace joulecast::tflite
