// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan: subgraphs become bodies, what they capture becomes inputs.
#include <fmt/format.h>

#include <algorithm>

#include "import/onnx/lowerings.h"

namespace joulecast::onnx {
namespace {

void append(std::vector<ValueId>& to, const std::vector<ValueId>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Result<void> lower_if(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const NodeContext::Body yes, node.body("then_branch"));
  JC_ASSIGN_OR_RETURN(const NodeContext::Body no, node.body("else_branch"));
  if (yes.inputs != 0 || no.inputs != 0) return invalid("a branch has inputs");
  if (yes.outputs != node.output_count() || no.outputs != node.output_count()) {
    return invalid(fmt::format("branches with {} and {} outputs for {}", yes.outputs, no.outputs, node.output_count()));
  }
  std::vector<ValueId> inputs{node.input(0)};
  append(inputs, yes.captures);
  append(inputs, no.captures);
  const If op{yes.index, no.index, static_cast<std::int64_t>(yes.captures.size())};
  return node.emit(op, std::move(inputs), node.output_count());
}

namespace {

bool has_sequence(NodeContext& node) {
  for (std::size_t i = 2; i < node.node().inputs.size(); ++i) {
    if (node.sequence(i) != nullptr) return true;
  }
  return false;
}

// torch.tensor_split and friends: a list is filled by a loop of a known, small number of rounds.
Result<void> lower_sequence_loop(NodeContext& node) {
  constexpr std::int64_t kMaxTrips = 1000;
  const auto trips = node.evaluated_integer(0);
  if (!trips || *trips < 0 || *trips > kMaxTrips) return node.opaque();
  return node.unroll("body", *trips);
}

}  // namespace

// [trip count], [condition], states...; the body takes iteration, condition, states... and returns condition,
// states..., scanned outputs....
Result<void> lower_loop(NodeContext& node) {
  if (has_sequence(node)) return lower_sequence_loop(node);
  JC_ASSIGN_OR_RETURN(const NodeContext::Body body, node.body("body"));
  const std::size_t states = node.input_count() < 2 ? 0 : node.input_count() - 2;
  if (body.inputs != states + 2) {
    return invalid(fmt::format("body takes {} inputs, {} are needed for {} states", body.inputs, states + 2, states));
  }
  if (body.outputs < states + 1 || body.outputs - 1 != node.output_count()) {
    return invalid(fmt::format("body has {} outputs for {} states and {} outputs of the node", body.outputs, states,
                               node.output_count()));
  }
  std::vector<ValueId> inputs = node.inputs();
  inputs.resize(std::max<std::size_t>(inputs.size(), 2), kNoValue);
  append(inputs, body.captures);
  return node.emit(Loop{body.index, static_cast<std::int64_t>(states)}, std::move(inputs), node.output_count());
}

namespace {

Result<bool> all_zero(const NodeContext& node, std::string_view attribute) {
  JC_ASSIGN_OR_RETURN(const auto list, node.integers(attribute));
  return !list || std::all_of(list->begin(), list->end(), [](std::int64_t v) { return v == 0; });
}

}  // namespace

// states..., scanned inputs...; along axis 0. The direction changes no shape.
Result<void> lower_scan(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t scanned, node.integer("num_scan_inputs"));
  JC_ASSIGN_OR_RETURN(const bool inputs_first, all_zero(node, "scan_input_axes"));
  JC_ASSIGN_OR_RETURN(const bool outputs_first, all_zero(node, "scan_output_axes"));
  // Operator set 8 scans a batch at a time, with lengths.
  if (node.opset() < 9 || !inputs_first || !outputs_first) return node.opaque();
  const auto count = static_cast<std::int64_t>(node.input_count());
  if (scanned < 1 || scanned > count) return node.wrong_attribute("num_scan_inputs", fmt::format("is {}", scanned));
  JC_ASSIGN_OR_RETURN(const NodeContext::Body body, node.body("body"));
  if (body.inputs != node.input_count() || body.outputs != node.output_count()) {
    return invalid(fmt::format("body takes {} inputs and has {} outputs, the node {} and {}", body.inputs, body.outputs,
                               node.input_count(), node.output_count()));
  }
  if (count - scanned > static_cast<std::int64_t>(body.outputs))
    return invalid("body returns fewer values than states");
  std::vector<ValueId> inputs = node.inputs();
  append(inputs, body.captures);
  return node.emit(Scan{body.index, count - scanned, scanned}, std::move(inputs), node.output_count());
}

}  // namespace joulecast::onnx
