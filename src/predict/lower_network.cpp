// SPDX-License-Identifier: Apache-2.0
// A network as a multiset of operations.
#include <functional>
#include <utility>

#include "base/saturating.h"
#include "predict/fuse.h"
#include "predict/lower.h"
#include "predict/tensorflow.h"

namespace joulecast {
namespace {

void mix(std::uint64_t& hash, std::int64_t value) {
  hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15U;
  hash ^= hash >> 32;
}

// All that large graphs may differ in many ways by: works that differ in nothing else lie in each other's way.
void mix(std::uint64_t& hash, const ConvWork& w) {
  for (const std::int64_t field : {w.batch, w.in_channels, w.out_channels, w.groups, w.in_height, w.in_width,
                                   w.kernel_height, w.kernel_width, w.stride, w.padding})
    mix(hash, field);
}
void mix(std::uint64_t& hash, const GemmWork& w) {
  for (const std::int64_t field : {w.batch, w.rows, w.columns, w.depth, w.steps}) mix(hash, field);
}
void mix(std::uint64_t& hash, const PointwiseWork& w) {
  for (const std::int64_t field : {static_cast<std::int64_t>(w.kind), w.elements, w.forward_bytes, w.backward_bytes,
                                   w.in_turn, w.placed, w.gated_rows})
    mix(hash, field);
}
void mix(std::uint64_t& hash, const ReductionWork& w) {
  for (const std::int64_t field :
       {static_cast<std::int64_t>(w.kind), w.in_elements, w.out_elements, w.channels, w.spatial, w.rows, w.columns})
    mix(hash, field);
}
void mix(std::uint64_t& hash, const AttentionWork& w) {
  for (const std::int64_t field : {w.batch, w.heads, w.kv_heads, w.head, w.queries, w.past, w.window}) mix(hash, field);
}

std::uint64_t hint(const Work& work) {
  std::uint64_t hash = work.index();
  std::visit([&](const auto& w) { mix(hash, w); }, work);
  return hash;
}

// Whose step has a pass for the gradient of its input.
bool is_layer(const Operator& op) {
  return std::holds_alternative<Conv>(op) || std::holds_alternative<Linear>(op) || std::holds_alternative<MatMul>(op);
}

}  // namespace

NetworkLowering::NetworkLowering(const Graph& graph, const LowerOptions& options)
    : graph_(graph),
      options_(options),
      fusion_(options.runtime == Runtime::kPytorchCompiled ? std::make_unique<Fusion>(graph, options) : nullptr),
      remapper_(options.runtime == Runtime::kTensorflow ? std::make_unique<TensorflowRemapper>(graph, options.mode)
                                                        : nullptr) {}
NetworkLowering::NetworkLowering(NetworkLowering&&) noexcept = default;
NetworkLowering::~NetworkLowering() = default;

NodeLowering& NetworkLowering::lowering_of(const Graph& graph) {
  const auto found = lowerings_.find(&graph);
  if (found != lowerings_.end()) return found->second;
  NodeLowering& lowering = lowerings_.try_emplace(&graph, options_, graph).first->second;
  if (&graph == &graph_) return lowering;
  // A body does not see what its inputs hang on: most often on parameters.
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].kind == ValueKind::kInput) lowering.want_gradient(ValueId{static_cast<std::uint32_t>(i)});
  }
  return lowering;
}

void NetworkLowering::add(const Visit& visit, const Cost& cost) {
  NodeLowering& lowering = lowering_of(visit.graph);
  if (lowering.makes_positions(visit.node)) return;
  found_.clear();
  const CostContext context(visit.graph, visit.node, visit.types);
  if (fusion_ && &visit.graph == &graph_) {
    fusion_->add(context, cost, lowering, found_);
  } else {
    lowering.lower(context, cost, found_);
  }
  if (remapper_ && &visit.graph == &graph_) remapper_->remap(visit.node, found_);
  const bool trains = options_.mode == Mode::kTraining;
  const bool first = trains && is_layer(visit.node.op) && !lowering.has_gradient(context, 0);
  const bool constant = !trains || !lowering.has_gradient(context);
  for (LoweredOperation& operation : found_) {
    auto* pointwise = std::get_if<PointwiseWork>(&operation.work);
    operation.no_input_gradient = first && pointwise == nullptr;
    if (constant && pointwise != nullptr) pointwise->backward_bytes = 0;
    merge(operation, visit.repetitions);
  }
}

void NetworkLowering::merge(const LoweredOperation& operation, std::int64_t times) {
  const auto same = [&](const LoweredOperation& other) {
    return other.opaque == operation.opaque && other.no_input_gradient == operation.no_input_gradient &&
           other.work == operation.work;
  };
  if (2 * (out_.size() + 1) > places_.size()) grow();
  std::size_t at = hint(operation.work) % places_.size();
  while (places_[at] != kFree && !same(out_[places_[at]])) at = (at + 1) % places_.size();
  if (places_[at] == kFree) {
    places_[at] = static_cast<std::uint32_t>(out_.size());
    out_.push_back(operation);
    out_.back().count = out_.back().calls = 0;
  }
  LoweredOperation& entry = out_[places_[at]];
  entry.count = saturating_sum(entry.count, saturating_product(operation.count, times));
  entry.calls = saturating_sum(entry.calls, saturating_product(operation.calls, times));
}

std::vector<LoweredOperation> NetworkLowering::take() && {
  if (fusion_) {
    for (LoweredOperation& operation : fusion_->take()) {
      if (options_.mode == Mode::kInference) std::get<PointwiseWork>(operation.work).backward_bytes = 0;
      merge(operation, 1);
    }
  }
  return std::move(out_);
}

void NetworkLowering::grow() {
  places_.assign(std::max<std::size_t>(256, 4 * out_.size()), kFree);
  for (std::uint32_t i = 0; i < out_.size(); ++i) {
    std::size_t at = hint(out_[i].work) % places_.size();
    while (places_[at] != kFree) at = (at + 1) % places_.size();
    places_[at] = i;
  }
}

std::vector<LoweredOperation> lower(const Graph& graph, const TypeTable& types, const LowerOptions& options) {
  LowerOptions how = options;
  if (options.runtime == Runtime::kPytorchCompiled)
    how.layout = compiled_layout(graph, types, options.mode, options.layout);
  NetworkLowering network(graph, how);
  for_each_operation(graph, types, [&](const Visit& visit) {
    network.add(visit, operator_cost(CostContext(visit.graph, visit.node, visit.types)));
  });
  return std::move(network).take();
}

}  // namespace joulecast
