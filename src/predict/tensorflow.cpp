// SPDX-License-Identifier: Apache-2.0
#include "predict/tensorflow.h"

#include <cstdint>
#include <variant>

namespace joulecast {
namespace {

bool is_relu(const Node& node) {
  const auto* activation = std::get_if<Activation>(&node.op);
  return activation != nullptr && activation->kind == ActivationKind::kRelu && !node.inputs.empty() &&
         node.inputs[0] != kNoValue;
}

bool is_biased_convolution(const Node& node) {
  return std::holds_alternative<Conv>(node.op) && node.inputs.size() > 2 && node.inputs[2] != kNoValue &&
         !node.outputs.empty() && node.outputs[0] != kNoValue;
}

// cuDNN's pooling moves its tensors once forward and, as its gradient reads windows that overlap, 3.3 times backward.
PointwiseWork pooling(const ReductionWork& work) {
  const std::int64_t bytes = (work.in_elements + work.out_elements) * work.element_bytes;
  return {.kind = PointwiseKind::kOther,
          .elements = work.out_elements,
          .forward_bytes = bytes,
          .backward_bytes = bytes * 33 / 10,
          .element_bytes = work.element_bytes};
}

}  // namespace

TensorflowRemapper::TensorflowRemapper(const Graph& graph, Mode mode) : mode_(mode), fused_(graph.values.size()) {
  std::vector<std::uint32_t> uses(graph.values.size(), 0);
  const auto use = [&](ValueId id) {
    if (id != kNoValue) ++uses[index(id)];
  };
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) use(id);
  }
  for (const ValueId id : graph.outputs) use(id);
  std::vector<bool> biased(graph.values.size());
  for (const Node& node : graph.nodes) {
    if (is_biased_convolution(node)) biased[index(node.outputs[0])] = true;
    if (!is_relu(node)) continue;
    const std::size_t read = index(node.inputs[0]);
    fused_[read] = biased[read] && uses[read] == 1;
  }
}

void TensorflowRemapper::remap_conv(const Node& node, ConvWork& work) const {
  work.autotuned = true;
  if (fused_[index(node.outputs[0])]) work.bias = 0;
}

void TensorflowRemapper::remap(const Node& node, std::vector<LoweredOperation>& found) const {
  for (LoweredOperation& operation : found) {
    if (auto* conv = std::get_if<ConvWork>(&operation.work)) {
      remap_conv(node, *conv);
    } else if (auto* reduction = std::get_if<ReductionWork>(&operation.work);
               reduction != nullptr &&
               (reduction->kind == ReductionKind::kMaxPool || reduction->kind == ReductionKind::kAveragePool)) {
      operation.work = pooling(*reduction);
    }
  }
  if (!is_relu(node) || found.empty() || !fused_[index(node.inputs[0])]) return;
  if (mode_ == Mode::kInference) return found.clear();
  // What is left: the ReLU's gradient, and the bias' as a sum over it.
  auto& relu = std::get<PointwiseWork>(found.back().work);
  relu.backward_bytes += relu.forward_bytes / 2;
  relu.forward_bytes = 0;
}

Layout tensorflow_layout(Precision precision) {
  const bool half = precision == Precision::kFp16 || precision == Precision::kBf16 || precision == Precision::kNvfp4 ||
                    is_autocast(precision);
  return half ? Layout::kChannelsLast : Layout::kChannelsFirst;
}

namespace {

// In training set by hand on PROFET's step times, of MobileNetV2 and ResNets above all; in inference guessed.
struct Call {
  double inference, training;  // microseconds
};

Call call_of(const ConvWork& work) {
  return work.bias != 0 ? Call{25, 130} : Call{20, 90};
}
Call call_of(const GemmWork&) {
  return {20, 90};
}
Call call_of(const ReductionWork& work) {
  return work.kind == ReductionKind::kBatchNorm ? Call{25, 150} : Call{10, 25};
}
template <typename W>
Call call_of(const W&) {
  return {10, 25};
}

}  // namespace

double tensorflow_call(const Work& work, State state) {
  const Call call = std::visit([](const auto& w) { return call_of(w); }, work);
  return (state == State::kTraining ? call.training : call.inference) * 1e-6;
}

double tensorflow_beside(const Workload& workload, const HostMachine& host) {
  constexpr double kStep = 1.4e-3, kPageable = 4.3e9;  // seconds, bytes a second
  return kStep * host.scale + workload.input.value() / kPageable;
}

}  // namespace joulecast
