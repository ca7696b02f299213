// SPDX-License-Identifier: Apache-2.0
#include "joulecast/cost.h"

#include <algorithm>

#include "graph/ops/helpers.h"

namespace joulecast {

Cost& Cost::operator+=(const Cost& other) {
  forward_flops += other.forward_flops;
  backward_flops += other.backward_flops;
  forward_read += other.forward_read;
  forward_written += other.forward_written;
  backward_read += other.backward_read;
  backward_written += other.backward_written;
  parameters += other.parameters;
  saved += other.saved;
  parameter_count += other.parameter_count;
  return *this;
}

namespace {

// Of recurrent layers every step's state and the last ones.
bool has_several_results(const Operator& op) {
  return std::holds_alternative<Rnn>(op) || std::holds_alternative<TopK>(op) || std::holds_alternative<Split>(op) ||
         std::holds_alternative<If>(op) || std::holds_alternative<Loop>(op) || std::holds_alternative<Scan>(op) ||
         std::holds_alternative<Opaque>(op);
}

}  // namespace

bool CostContext::is_read() const {
  if (has_output(0)) return true;
  const bool any = std::any_of(node_.outputs.begin(), node_.outputs.end(), [](ValueId id) { return id != kNoValue; });
  return any && has_several_results(node_.op);
}

Cost operator_cost(const CostContext& context) {
  if (!context.is_read()) return {};  // hostile graphs have such nodes
  return std::visit([&](const auto& op) { return cost(op, context); }, context.node().op);
}

Bytes input_bytes(const CostContext& context) {
  Bytes sum;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.has(i)) sum += context.input(i).bytes();
  }
  return sum;
}

Bytes output_bytes(const CostContext& context) {
  Bytes sum;
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    if (context.has_output(i)) sum += context.output(i).bytes();
  }
  return sum;
}

void count_parameters(const CostContext& context, Cost& cost) {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.is_parameter(i)) continue;
    cost.parameters += context.input(i).bytes();
    cost.parameter_count += context.input(i).elements();
  }
}

Cost elementwise_cost(const CostContext& context, const ElementwiseTraffic& traffic) {
  Cost cost;
  count_parameters(context, cost);
  cost.forward_read = input_bytes(context);
  cost.forward_written = output_bytes(context);
  if (!context.has_output(0)) return cost;
  const TensorType& out = context.output();
  const auto elements = static_cast<double>(out.elements());
  cost.forward_flops = Flops{traffic.forward_steps * elements};
  if (!is_floating(out.element)) return cost;
  cost.backward_flops = Flops{traffic.backward_steps * elements};
  cost.backward_read = out.bytes() * (1.0 + traffic.saved_reads);
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.has(i) && is_floating(context.input(i).element)) cost.backward_written += context.input(i).bytes();
  }
  return cost;
}

}  // namespace joulecast
