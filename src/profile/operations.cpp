// SPDX-License-Identifier: Apache-2.0
#include "profile/operations.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

#include "graph/walk.h"
#include "profile/copies.h"

namespace joulecast::profile {
namespace {

template <typename Op, typename... Kinds>
constexpr bool kIsOneOf = (std::is_same_v<Op, Kinds> || ...);

bool is_view(const Operator& op) {
  if (const auto* transpose = std::get_if<Transpose>(&op)) return !transpose->contiguous;
  return std::visit(
      [](const auto& one) {
        return kIsOneOf<std::decay_t<decltype(one)>, Reshape, Flatten, Squeeze, Unsqueeze, Expand, Split, Slice,
                        ShapeOf>;
      },
      op);
}

bool does_nothing(const Operator& op, Mode mode) {
  const bool random = std::holds_alternative<Dropout>(op) || std::holds_alternative<StochasticDepth>(op);
  return is_view(op) || (random && mode == Mode::kInference);
}

bool cannot_stand_alone(const Operator& op) {
  return std::holds_alternative<If>(op) || std::holds_alternative<Loop>(op) || std::holds_alternative<Scan>(op) ||
         std::holds_alternative<Opaque>(op);
}

// The node alone, on inputs of its types.
Graph alone(const Visit& visit) {
  Graph out;
  Node node{visit.node.op, {}, {}, ""};
  for (const ValueId id : visit.node.inputs) {
    if (id == kNoValue) {
      node.inputs.push_back(kNoValue);
      continue;
    }
    const Value& value = visit.graph.value(id);
    const TensorType& type = visit.types.type(id);
    const Contents* known = visit.types.known(id);
    if (known == nullptr) known = visit.graph.known(id);
    Value own{"", ValueKind::kInput, type, std::nullopt};
    if (value.kind == ValueKind::kParameter || (value.kind == ValueKind::kConstant && known == nullptr)) {
      own.kind = ValueKind::kParameter;
    } else if (known != nullptr) {
      own.kind = ValueKind::kConstant;
      own.contents = static_cast<std::uint32_t>(out.contents.size());
      out.contents.push_back(*known);
    }
    const ValueId added = out.add_value(std::move(own));
    if (out.value(added).kind == ValueKind::kInput) {
      GraphInput input{added, type.element, {}};
      for (const std::int64_t extent : type.shape) input.dimensions.push_back({extent, ""});
      out.inputs.push_back(std::move(input));
    }
    node.inputs.push_back(added);
  }
  out.nodes.push_back(std::move(node));
  return out;
}

// Values that are, or are views of, the network's own inputs: nobody wants their gradients.
class OwnInputs {
 public:
  explicit OwnInputs(const Graph& graph) : graph_(&graph), own_(graph.values.size(), false) {
    for (const GraphInput& input : graph.inputs) own_[index(input.value)] = true;
  }
  // True where no activation is among the node's inputs.
  bool reads_only(const Visit& visit) {
    if (&visit.graph != graph_) return false;  // in a body
    bool only = true;
    for (const ValueId id : visit.node.inputs) {
      if (id != kNoValue && visit.graph.value(id).kind == ValueKind::kComputed && !own_[index(id)]) only = false;
    }
    if (only && is_view(visit.node.op)) {
      for (const ValueId id : visit.node.outputs) {
        if (id != kNoValue) own_[index(id)] = true;
      }
    }
    return only;
  }

 private:
  const Graph* graph_;
  std::vector<bool> own_;
};

class Gathering {
 public:
  explicit Gathering(Mode mode) : mode_(mode) {}

  void add(OperationText text, bool input_gradient, std::int64_t count) {
    const bool wanted = mode_ == Mode::kInference || input_gradient;
    const auto [at, is_new] =
        seen_.emplace(std::tuple(text.op, text.operands, text.attributes, wanted), out_.unique.size());
    if (is_new) out_.unique.push_back({std::move(text), 0, wanted});
    out_.unique[at->second].count += count;
  }
  void leave_out(const std::string& what) {
    if (std::find(out_.left_out.begin(), out_.left_out.end(), what) == out_.left_out.end()) {
      out_.left_out.push_back(what);
    }
  }
  [[nodiscard]] Operations take() && { return std::move(out_); }

 private:
  Mode mode_;
  Operations out_;
  std::map<std::tuple<std::string, std::string, std::string, bool>, std::size_t> seen_;
};

}  // namespace

Operations unique_operations(const Graph& graph, const TypeTable& types, Mode mode, Precision precision) {
  Gathering gathering(mode);
  OwnInputs own_inputs(graph);
  Copies copies(mode, precision);
  for_each_operation(graph, types, [&](const Visit& visit) {
    const bool input_gradient = !own_inputs.reads_only(visit);
    const auto& outputs = visit.node.outputs;
    const bool known = std::all_of(outputs.begin(), outputs.end(),
                                   [&](ValueId id) { return id == kNoValue || visit.types.known(id) != nullptr; });
    for (OperationText& copy : copies.of(visit)) gathering.add(std::move(copy), input_gradient, visit.repetitions);
    if (known || does_nothing(visit.node.op, mode)) return;
    if (cannot_stand_alone(visit.node.op)) return gathering.leave_out(label(visit.node.op));
    gathering.add(operation_text(alone(visit)), input_gradient, visit.repetitions);
  });
  return std::move(gathering).take();
}

}  // namespace joulecast::profile
