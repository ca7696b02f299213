// SPDX-License-Identifier: Apache-2.0
#include "reference/network_counts.h"

#include "graph/walk.h"

namespace joulecast {
namespace {

double scaled_elements(const CostContext& context, double plain) {
  return static_cast<double>(context.input(0).elements()) * (context.has(1) ? plain + 1.0 : plain);
}

// The kind in torch's counter; empty where that counts nothing.
std::string torch_kind(const Operator& op) {
  if (std::holds_alternative<Conv>(op)) return "conv";
  const bool matrix = std::holds_alternative<Linear>(op) || std::holds_alternative<MatMul>(op) ||
                      std::holds_alternative<Attention>(op) || std::holds_alternative<Rnn>(op);
  return matrix ? "matrix" : "";
}

// fvcore counts no recurrent layers, and linear layers with the products (F.linear and torch.matmul are two spellings).
std::string fvcore_kind(const Operator& op, bool spelled_out_attention) {
  if (std::holds_alternative<Conv>(op)) return "conv";
  if (std::holds_alternative<Linear>(op) || std::holds_alternative<MatMul>(op)) return "matrix";
  return std::holds_alternative<Attention>(op) && spelled_out_attention ? "matrix" : "";
}

void add_normalization(const Operator& op, const CostContext& context, double times, Counts& counts) {
  if (std::holds_alternative<BatchNorm>(op)) counts["batch_norm"] += times * scaled_elements(context, 1.0);
  if (std::holds_alternative<LayerNorm>(op)) counts["layer_norm"] += times * scaled_elements(context, 4.0);
  if (std::holds_alternative<GroupNorm>(op)) counts["group_norm"] += times * scaled_elements(context, 4.0);
}

}  // namespace

NetworkCounts count_network(const Graph& graph, const TypeTable& types, bool spelled_out_attention) {
  NetworkCounts out;
  for_each_operation(graph, types, [&](const Visit& visit) {
    const CostContext context(visit.graph, visit.node, visit.types);
    const auto times = static_cast<double>(visit.repetitions);
    const double flops = times * operator_cost(context).forward_flops.value();
    const Operator& op = visit.node.op;
    if (const std::string kind = torch_kind(op); !kind.empty()) out.torch[kind] += flops;
    if (const std::string kind = fvcore_kind(op, spelled_out_attention); !kind.empty()) out.fvcore[kind] += flops;
    add_normalization(op, context, times, out.fvcore);
  });
  out.parameters = static_cast<double>(total_cost(graph, types).parameter_count);
  for (const ValueId id : graph.outputs) out.outputs.push_back(types.type(id).shape);
  return out;
}

}  // namespace joulecast
