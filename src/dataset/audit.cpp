// SPDX-License-Identifier: Apache-2.0
#include "dataset/audit.h"

#include <algorithm>

#include "dataset/cautions.h"
#include "joulecast/cost.h"

namespace joulecast {
namespace {

// Boost clocks differ between boards of one name; beyond this no board explains it.
constexpr double kAboveAnyBoard = 1.05;

// The highest rate the chip has for that precision.
std::optional<FlopsPerSecond> peak_of(const Gpu& gpu, Precision precision) {
  switch (precision) {
    case Precision::kFp64:
      return gpu.fp64_tensor_peak ? gpu.fp64_tensor_peak : gpu.fp64_peak;
    case Precision::kFp32:
      // AMD's matrix cores do FP32 as well.
      return gpu.vendor == "NVIDIA" ? gpu.fp32_peak : gpu.fp32_tensor_peak;
    case Precision::kTf32:
    case Precision::kTf32All:
      return gpu.tf32_peak ? gpu.tf32_peak : gpu.fp32_peak;
    case Precision::kFp16:
    case Precision::kAmp:
      return gpu.fp16_peak;
    case Precision::kBf16:
    case Precision::kAmpBf16:
      return gpu.bf16_peak;
    case Precision::kFp8:
      return gpu.fp8_peak;
    case Precision::kNvfp4:
      return gpu.fp4_peak;
  }
  return std::nullopt;
}

// Convolutions are left out: Winograd's algorithm needs down to a quarter of the arithmetic.
bool has_known_flops(const Operator& op) {
  return std::holds_alternative<Linear>(op) || std::holds_alternative<MatMul>(op) ||
         std::holds_alternative<Attention>(op);
}

// operator_cost() counts attention without its mask; kernels skip what a causal mask hides.
double share_done(const Graph& graph) {
  const Node& node = graph.nodes.front();
  const auto* attention = std::get_if<Attention>(&node.op);
  if (attention == nullptr || !attention->causal) return 1.0;
  const Shape& query = graph.value(node.inputs[0]).type.shape;
  const Shape& key = graph.value(node.inputs[1]).type.shape;
  if (query.size() < 2 || key.size() < 2) return 1.0;
  const auto queries = static_cast<double>(query[query.size() - 2]);
  const auto keys = static_cast<double>(key[key.size() - 2]);
  return std::max(keys - (queries - 1.0) / 2.0, 1.0) / keys;
}

bool weights_stay_in_l2(const MeasuredOperation& row, const Gpu& gpu) {
  // Where a host launches every call, what ran before and after is part of the measurement.
  if (row.at.runtime != Runtime::kCudaGraph || !gpu.l2_cache) return false;
  Bytes weights;
  for (const Value& value : row.graph->values) {
    if (value.kind == ValueKind::kParameter) weights += value.type.bytes();
  }
  return weights > Bytes{0.0} && weights * static_cast<double>(row.weight_copies) <= *gpu.l2_cache;
}

}  // namespace

const Gpu* Auditor::find(const std::string& gpu) {
  const auto known = gpus_.find(gpu);
  if (known != gpus_.end()) return known->second;
  const auto found = Catalogue::shipped().find(gpu);
  return gpus_.emplace(gpu, found ? *found : nullptr).first->second;
}

Flops Auditor::flops_of(const std::shared_ptr<const Graph>& graph) {
  if (graph == last_) return last_flops_;
  last_ = graph;
  last_flops_ = Flops{};
  const auto types = infer_types(*graph, {});
  if (types) last_flops_ = operator_cost({*graph, graph->nodes.front(), *types}).forward_flops * share_done(*graph);
  return last_flops_;
}

void Auditor::audit(MeasuredOperation& row) {
  const Gpu* gpu = find(row.at.gpu);
  if (gpu == nullptr) return;
  if (weights_stay_in_l2(row, *gpu)) add_caution(row.from.anomaly, "hot-l2");
  // Forward alone is a lower bound of what training does.
  const auto peak = peak_of(*gpu, row.at.precision);
  if (!row.readings.time || !peak || !has_known_flops(row.graph->nodes.front().op)) return;
  if (flops_of(row.graph) / *row.readings.time > kAboveAnyBoard * *peak) {
    add_caution(row.from.anomaly, "faster-than-peak");
  }
}

}  // namespace joulecast
