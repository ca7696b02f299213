// SPDX-License-Identifier: Apache-2.0
#include "profile/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/hashes.h"
#include "graph/batch_axis.h"
#include "graph/walk.h"
#include "joulecast/cost.h"
#include "profile/operations.h"
#include "profile/program_text.h"

namespace joulecast::profile {
namespace {

std::string id_of(const std::string& text) {
  return fmt::format("{:016x}", stable_hash(text));
}

// Nothing where nothing is set: what was measured as found stays measured.
std::string suffix(const GpuSettings& settings) {
  return settings.empty() ? "" : "|" + settings.text();
}

// What FP32 becomes. The precision of the matrix units matters to no other element type.
ElementType element_of(Precision precision) {
  if (precision == Precision::kFp64) return ElementType::kFloat64;
  if (precision == Precision::kFp16) return ElementType::kFloat16;
  if (precision == Precision::kBf16) return ElementType::kBFloat16;
  return ElementType::kFloat32;
}
void apply(Precision precision, TypeTable& types) {
  const ElementType element = element_of(precision);
  if (element != ElementType::kFloat32) types.replace(ElementType::kFloat32, element);
}

std::string input_lines(const Module& module, Precision precision) {
  std::string out;
  for (const Module::Input& input : module.inputs) {
    const ElementType element = input.element == ElementType::kFloat32 ? element_of(precision) : input.element;
    out += fmt::format("value input {} shape={}\n", name(element), fmt::join(input.shape, ","));
  }
  return out;
}

// Of the first input, where it is an image.
std::optional<std::int64_t> image_size(const Graph& graph, const TypeTable& types) {
  if (graph.inputs.empty()) return std::nullopt;
  const Shape& shape = types.type(graph.inputs.front().value).shape;
  return shape.size() == 4 ? std::optional(shape[3]) : std::nullopt;
}

// Of the first input that is [batch, sequence] or [batch, sequence, features], where it is of words or the file leaves
// its length open: other matrices have features there.
std::optional<std::int64_t> sequence_length(const Graph& graph, const TypeTable& types) {
  constexpr std::size_t kMost = 3;
  const BatchAxis batch = batch_axis(graph);
  for (const GraphInput& input : graph.inputs) {
    const TensorType& type = types.type(input.value);
    if (type.shape.size() < 2 || type.shape.size() > kMost) continue;
    if (&input == batch.input && batch.axis != 0) return std::nullopt;
    if (!is_floating(type.element) || !input.dimensions[1].extent) return type.shape[1];
  }
  return std::nullopt;
}

void add_cost(const Graph& graph, const TypeTable& types, PlannedCase& planned) {
  const Cost cost = total_cost(graph, types);
  const bool training = planned.request.mode == Mode::kTraining;
  planned.flops = (cost.forward_flops + (training ? cost.backward_flops : Flops{})).value();
  planned.bytes =
      (cost.forward_read + cost.forward_written + (training ? cost.backward_read + cost.backward_written : Bytes{}))
          .value();
}

// What an optimizer updates, as lines for a runner, and the bytes of it.
struct Learnt {
  std::string lines, text;
  double bytes = 0;
};

Learnt learnt_by(const Graph& graph, const TypeTable& types) {
  std::vector<bool> learns(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == kNoValue || graph.value(id).kind != ValueKind::kParameter || is_statistic(node, i)) continue;
      learns[index(id)] = is_floating(types.type(id).element);
    }
  }
  Learnt out;
  std::size_t count = 0;
  for (std::size_t i = 0; i < learns.size(); ++i) {
    if (!learns[i]) continue;
    const TensorType& type = types.type(ValueId{static_cast<std::uint32_t>(i)});
    out.lines += fmt::format("value parameter {}{}{}\n", name(type.element),
                             type.shape.empty() ? "" : " shape=", fmt::join(type.shape, ","));
    out.bytes += type.bytes().value();
    ++count;
  }
  out.text = fmt::format("{} parameters", count);
  return out;
}

}  // namespace

std::string callable_of(const Module& module) {
  return module.where.substr(module.where.rfind(':') + 1);
}

void Plan::add_case(PlannedCase planned) {
  const auto [at, is_new] = places_.emplace(planned.id, cases_.size());
  if (is_new) cases_.push_back(std::move(planned));
}

void Plan::keep(Only only) {
  std::erase_if(cases_, [&](const PlannedCase& one) { return one.network.empty() != (only == Only::kOperations); });
  index_cases();
}

void Plan::keep(const Shard& shard) {
  constexpr int kHexadecimal = 16;
  std::erase_if(cases_, [&](const PlannedCase& one) {
    return mixed(std::stoull(one.id, nullptr, kHexadecimal)) % shard.count != shard.index - 1;
  });
  index_cases();
}

void Plan::index_cases() {
  places_.clear();
  for (std::size_t i = 0; i < cases_.size(); ++i) places_.emplace(cases_[i].id, i);
}

void Plan::add_module(const Module& module, const Conditions& at) {
  PlannedCase planned;
  planned.request = {Work::kNetwork, at.mode, at.precision, false, input_lines(module, at.precision), module.where};
  planned.id = id_of(fmt::format("module|{}|{}|{}|{}{}", module.where, planned.request.program, name(at.mode),
                                 name(at.precision), suffix(at.settings)));
  planned.settings = at.settings;
  planned.network = callable_of(module);
  const Shape first = module.inputs.empty() ? Shape() : module.inputs.front().shape;
  if (!first.empty()) planned.batch = first[0];
  if (first.size() == 4) planned.image_size = first[3];
  if (first.size() == 2 && !is_floating(module.inputs.front().element)) planned.sequence_length = first[1];
  add_case(std::move(planned));
}

std::optional<std::string> Plan::add_optimizer(const Graph& graph, const TypeTable& types, const Conditions& at) {
  const Learnt learnt = learnt_by(graph, types);
  if (learnt.lines.empty()) return std::nullopt;
  PlannedCase planned;
  planned.request = {Work::kOptimizer, at.mode, at.precision, false, learnt.lines, {}};
  planned.id = id_of(fmt::format("optimizer|{}|{}{}", learnt.lines, name(at.precision), suffix(at.settings)));
  planned.operation = {kOptimizer, learnt.text, ""};
  constexpr double kMoved = 3;  // weight and gradient are read, the weight is written
  planned.bytes = kMoved * learnt.bytes;
  planned.settings = at.settings;
  std::string id = planned.id;
  add_case(std::move(planned));
  return id;
}

Result<std::string> Plan::add_operation(const OperationText& operation, const Conditions& at, bool input_gradient) {
  PlannedCase planned;
  planned.id = id_of(fmt::format("{}|{}|{}|{}|{}|{}{}", operation.op, operation.operands, operation.attributes,
                                 name(at.mode), name(at.precision), input_gradient, suffix(at.settings)));
  std::string id = planned.id;
  if (places_.contains(id)) return id;
  JC_ASSIGN_OR_RETURN(const Graph graph, parse_operation(operation));
  JC_ASSIGN_OR_RETURN(const TypeTable types, infer_types(graph, {}));
  planned.request = {Work::kOperation, at.mode, at.precision, input_gradient, {}, {}};
  planned.settings = at.settings;
  JC_ASSIGN_OR_RETURN(planned.request.program, program_text(graph, types));
  planned.operation = operation;
  add_cost(graph, types, planned);
  add_case(std::move(planned));
  return id;
}

// Modes, precisions and batches of a network mostly share their reasons.
void Plan::note(std::string text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(std::move(text));
}

Result<void> Plan::add_network(const std::string& network, const Graph& graph, const Binding& binding,
                               const Conditions& at) {
  JC_ASSIGN_OR_RETURN(TypeTable types, infer_types(graph, binding));
  apply(at.precision, types);
  PlannedNetwork planned{"", network, batch_of(graph, types), at.mode, at.precision, at.settings, {}, {}};
  Operations operations = unique_operations(graph, types, at.mode, at.precision);
  for (const UniqueOperation& one : operations.unique) {
    auto id = add_operation(one.text, at, one.input_gradient);
    if (id) {
      planned.operations.emplace_back(*id, one.count);
    } else {
      planned.left_out.push_back(one.text.op);
      note(fmt::format("{}: {}", network, id.error().text()));
    }
  }
  if (at.mode == Mode::kTraining) {
    if (auto id = add_optimizer(graph, types, at)) planned.operations.emplace_back(std::move(*id), 1);
  }
  planned.left_out.insert(planned.left_out.end(), operations.left_out.begin(), operations.left_out.end());
  auto program = program_text(graph, types);
  if (program) {
    planned.id = id_of(fmt::format("network|{}|{}|{}|{}{}", network, *program, name(at.mode), name(at.precision),
                                   suffix(at.settings)));
    PlannedCase whole{planned.id,
                      {Work::kNetwork, at.mode, at.precision, false, std::move(*program), {}},
                      {},
                      network,
                      planned.batch,
                      image_size(graph, types),
                      sequence_length(graph, types),
                      0,
                      0,
                      at.settings};
    add_cost(graph, types, whole);
    add_case(std::move(whole));
  } else {
    note(fmt::format("{}: {}", network, program.error().text()));
  }
  networks_.push_back(std::move(planned));
  return {};
}

}  // namespace joulecast::profile
