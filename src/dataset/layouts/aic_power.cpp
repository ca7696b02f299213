// SPDX-License-Identifier: Apache-2.0
// Time and board power per operator of ai-dynamo/aiconfigurator: CUDA graphs, vLLM and TensorRT-LLM kernels.
#include <fmt/format.h>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// A run is at most 3000 calls or one second, the sensor averages over about a second: of shorter calls than this a run
// fills less than a third of that, and the power is too low. Up to 330 us it still does not fill all of it.
constexpr Seconds kShortestCallForPower{100e-6};

MeasuredOperation common(Row& row) {
  MeasuredOperation out;
  out.at.gpu = row.text("gpu");
  out.at.runtime = Runtime::kCudaGraph;
  out.at.software = fmt::format("{} {}", row.text("framework"), row.text("version"));
  out.at.power_limit = row.quantity<Watts>("power_limit_w");
  out.readings.time = row.quantity<Seconds>("latency_s");
  out.readings.power = row.quantity<Watts>("power_w");
  if (out.readings.time && out.readings.power) out.readings.energy = *out.readings.time * *out.readings.power;
  if (out.readings.time && *out.readings.time < kShortestCallForPower) out.from.anomaly = "power-window-short";
  return out;
}

// nvfp4 and fp8_block runs use one copy of the weight, the others up to 5.
Result<void> set_gemm_type(std::string_view dtype, MeasuredOperation& out, ElementType& element) {
  const bool fp8 = dtype == "fp8" || dtype == "fp8_block";
  if (!fp8 && dtype != "bfloat16") return unsupported(fmt::format("matrix products in {}", dtype));
  element = fp8 ? ElementType::kFloat8E4M3 : ElementType::kBFloat16;
  out.at.precision = fp8 ? Precision::kFp8 : Precision::kBf16;
  out.weight_copies = dtype == "fp8_block" ? 1 : 5;
  return {};
}

Result<void> read_gemm(Row& row, RowSink& sink) {
  MeasuredOperation out = common(row);
  const std::int64_t m = row.extent("m");
  const std::int64_t n = row.extent("n");
  const std::int64_t k = row.extent("k");
  JC_RETURN_IF_ERROR(row.status());
  ElementType element{};
  JC_RETURN_IF_ERROR(set_gemm_type(row.text("dtype"), out, element));
  out.kernel = fmt::format("{}/{}", row.text("kernel"), row.text("dtype"));
  out.label = out.group = fmt::format("linear {}x{} by {}x{}", m, k, n, k);
  JC_ASSIGN_OR_RETURN(out.graph,
                      sink.pool().get(fmt::format("{} {}", out.group, name(element)),
                                      [&]() -> Result<Graph> { return linear_operation(m, n, k, element, false); }));
  sink.add(std::move(out));
  return {};
}

Result<ElementType> element_type(std::string_view text) {
  if (text == "bfloat16") return ElementType::kBFloat16;
  if (text == "fp8") return ElementType::kFloat8E4M3;
  return unsupported(fmt::format("attention in {}", text));
}

// context: `seq` new tokens after `kv_step` old ones, causal. generation: one new token. encoder: not causal.
Result<AttentionShape> attention_shape(Row& row) {
  AttentionShape shape;
  shape.batch = row.extent("batch");
  shape.queries = row.extent("seq");
  shape.heads = row.extent("heads");
  shape.kv_heads = row.text("kv_heads").empty() ? shape.heads : row.extent("kv_heads");
  shape.head = row.extent("head_dim");
  const std::int64_t old = row.optional_integer("kv_step").value_or(0);
  const std::int64_t window = row.optional_integer("window").value_or(0);
  JC_RETURN_IF_ERROR(row.status());
  if (old < 0 || old > kMaxElements || window < 0) return invalid("a negative or impossible length");
  const std::string_view phase = row.text("phase");
  if (phase != "context" && phase != "generation" && phase != "encoder")
    return unsupported(fmt::format("phase '{}'", phase));
  shape.keys = shape.queries + old;
  shape.causal = phase == "context";
  const bool windowed = window > 0 && window < shape.keys;
  // One query sees the last `window` keys, all of them; more queries each see others.
  if (windowed && shape.queries > 1) return unsupported("attention of several queries in a window");
  if (windowed) shape.keys = window;
  return shape;
}

Result<void> read_attention(Row& row, RowSink& sink) {
  MeasuredOperation out = common(row);
  JC_ASSIGN_OR_RETURN(const AttentionShape shape, attention_shape(row));
  JC_ASSIGN_OR_RETURN(const ElementType element, element_type(row.text("attn_dtype")));
  const std::string_view kv = row.text("kv_dtype");
  JC_ASSIGN_OR_RETURN(const ElementType cache, kv.empty() ? Result<ElementType>(element) : element_type(kv));
  out.at.precision = element == ElementType::kBFloat16 ? Precision::kBf16 : Precision::kFp8;
  out.label = fmt::format("{} attention: batch {}, {} of {} tokens, {} heads, {} of keys, {} wide, {}, cache {}",
                          row.text("phase"), shape.batch, shape.queries, shape.keys, shape.heads, shape.kv_heads,
                          shape.head, name(element), name(cache));
  out.group = out.label;
  out.kernel = row.text("framework");
  JC_ASSIGN_OR_RETURN(out.graph, sink.pool().get(out.group, [&]() -> Result<Graph> {
    return attention_operation(shape, element, cache);
  }));
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout aic_power_gemm_layout() {
  return {"aic_power_gemm",
          {"gpu", "framework", "version", "kernel", "dtype", "m", "n", "k", "latency_s", "power_w", "power_limit_w"},
          [](const TableContext&) { return Result<RowReader>(read_gemm); }};
}

TableLayout aic_power_attention_layout() {
  return {"aic_power_attention",
          {"gpu", "framework", "version", "phase", "batch", "seq", "kv_step", "heads", "kv_heads", "head_dim", "window",
           "attn_dtype", "kv_dtype", "latency_s", "power_w"},
          [](const TableContext&) { return Result<RowReader>(read_attention); }};
}

}  // namespace joulecast
