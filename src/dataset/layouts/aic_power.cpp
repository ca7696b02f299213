// SPDX-License-Identifier: Apache-2.0
// Time and board power per operator of ai-dynamo/aiconfigurator: CUDA graphs, vLLM and TensorRT-LLM kernels.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/details.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// A run is at most 3000 calls or one second, the sensor averages over about a second: of shorter calls than this a run
// fills less than a third of that, and the power is too low. Up to 330 us it still does not fill all of it.
constexpr Seconds kShortestCallForPower{100e-6};

// Large products sit on the limit: 687 of 700 W.
constexpr double kAtLimit = 0.97;

void read_power(Row& row, Circumstances& at, Readings& readings, std::string& cautions) {
  at.power_limit = row.quantity<Watts>("power_limit_w");
  readings.time = row.quantity<Seconds>("latency_s");
  readings.power = row.quantity<Watts>("power_w");
  if (readings.time && readings.power) readings.energy = *readings.time * *readings.power;
  if (readings.time && *readings.time < kShortestCallForPower) add_caution(cautions, "power-window-short");
  if (readings.power && at.power_limit && *readings.power > kAtLimit * *at.power_limit) {
    add_caution(cautions, "capped-clock");
  }
}

MeasuredOperation common(Row& row) {
  MeasuredOperation out;
  out.at.gpu = row.text("gpu");
  out.at.runtime = Runtime::kCudaGraph;
  out.at.software = fmt::format("{} {}", row.text("framework"), row.text("version"));
  read_power(row, out.at, out.readings, out.from.anomaly);
  return out;
}

// How a product is measured: of what precision, of which elements, and how many copies of the weight take turns.
struct GemmType {
  std::string_view dtype;
  Precision precision;
  ElementType input, weight;
  int weight_copies;
};
constexpr GemmType kGemmTypes[] = {
    {"bfloat16", Precision::kBf16, ElementType::kBFloat16, ElementType::kBFloat16, 5},
    {"fp8", Precision::kFp8, ElementType::kFloat8E4M3, ElementType::kFloat8E4M3, 5},
    {"fp8_block", Precision::kFp8, ElementType::kFloat8E4M3, ElementType::kFloat8E4M3, 1},
    {"nvfp4", Precision::kNvfp4, ElementType::kBFloat16, ElementType::kFloat4, 1},
};

Result<GemmType> gemm_type(std::string_view dtype) {
  for (const GemmType& type : kGemmTypes) {
    if (type.dtype == dtype) return type;
  }
  return unsupported(fmt::format("matrix products in {}", dtype));
}

Result<void> read_gemm(Row& row, RowSink& sink) {
  MeasuredOperation out = common(row);
  const std::int64_t m = row.extent("m");
  const std::int64_t n = row.extent("n");
  const std::int64_t k = row.extent("k");
  JC_RETURN_IF_ERROR(row.status());
  JC_ASSIGN_OR_RETURN(const GemmType type, gemm_type(row.text("dtype")));
  out.at.precision = type.precision;
  out.weight_copies = type.weight_copies;
  out.kernel = fmt::format("{}/{}", row.text("kernel"), row.text("dtype"));
  out.label = out.group = fmt::format("linear {}x{} by {}x{}", m, k, n, k);
  JC_ASSIGN_OR_RETURN(out.graph, sink.pool().get(fmt::format("{} {}", out.group, type.dtype), [&]() -> Result<Graph> {
    return linear_operation(m, n, k, type.input, type.weight);
  }));
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
  const bool windowed = phase != "encoder" && window > 0 && window < shape.keys;
  if (windowed) shape.window = window;
  shape.causal = phase == "context" || windowed;
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
  if (shape.window > 0) out.label += fmt::format(", window {}", shape.window);
  out.group = out.label;
  out.kernel = row.text("framework");
  JC_ASSIGN_OR_RETURN(out.graph, sink.pool().get(out.group, [&]() -> Result<Graph> {
    return attention_operation(shape, element, cache);
  }));
  sink.add(std::move(out));
  return {};
}

// What there is no operator or precision of ours for.
Result<MeasuredOther> other(Row& row, std::string name, std::string_view precision) {
  MeasuredOther out = other_row(row, "gpu", false, std::move(name));
  out.at.runtime = Runtime::kCudaGraph;
  out.at.software = fmt::format("{} {}", row.text("framework"), row.text("version"));
  out.mode = "inference";
  out.precision = precision;
  read_power(row, out.at, out.readings, out.from.anomaly);
  JC_RETURN_IF_ERROR(row.status());
  return out;
}

Result<void> read_other_gemm(Row& row, RowSink& sink) {
  const auto m = row.extent("m");
  const auto n = row.extent("n");
  const auto k = row.extent("k");
  JC_ASSIGN_OR_RETURN(MeasuredOther out,
                      other(row, fmt::format("linear {}x{} by {}x{}", m, k, n, k), row.text("dtype")));
  add_details(out, row, {"m", "n", "k", "kernel"});
  sink.add(std::move(out));
  return {};
}

Result<void> read_other_attention(Row& row, RowSink& sink) {
  JC_ASSIGN_OR_RETURN(MeasuredOther out,
                      other(row, fmt::format("{} attention", row.text("phase")), row.text("attn_dtype")));
  out.batch = row.extent("batch");
  out.sequence_length = row.extent("seq");
  add_details(out, row, {"kv_step", "heads", "kv_heads", "head_dim", "window", "kv_dtype"});
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

// Parameters stand in one cell as "phase=context;batch_size=1".
Result<void> read_misc(Row& row, RowSink& sink) {
  JC_ASSIGN_OR_RETURN(MeasuredOther out, other(row, std::string(row.text("op")), ""));
  JC_ASSIGN_OR_RETURN(const auto parameters, parse_details(row.text("params")));
  for (const auto& [key, value] : parameters) add_detail(out.details, key, value);
  // The fastest kernels there are take a microsecond.
  if (out.readings.time && *out.readings.time < Seconds{1e-7}) return invalid("a call of less than 0.1 us");
  sink.add(std::move(out));
  return {};
}

}  // namespace

Origin aic_origin() {
  return {.source = "ai-dynamo/aiconfigurator@095f58a51c",
          .licence = "Apache-2.0",
          .protocol =
              "CUDA graphs of many calls, up to 5 copies of the weights in turn; power is NVML every 100 ms over a "
              "run of at most 1 s and 3000 calls"};
}

TableLayout aic_power_misc_layout() {
  return {"aic_power_misc",
          {"gpu", "framework", "version", "op", "params", "latency_s", "power_w", "power_limit_w"},
          [](const TableContext&) { return Result<RowReader>(read_misc); },
          nullptr,
          aic_origin()};
}

TableLayout aic_power_gemm_layout() {
  return {"aic_power_gemm",
          {"gpu", "framework", "version", "kernel", "dtype", "m", "n", "k", "latency_s", "power_w", "power_limit_w"},
          [](const TableContext&) { return Result<RowReader>(read_gemm); },
          read_other_gemm,
          aic_origin()};
}

TableLayout aic_power_attention_layout() {
  return {"aic_power_attention",
          {"gpu", "framework", "version", "phase", "batch", "seq", "kv_step", "heads", "kv_heads", "head_dim", "window",
           "attn_dtype", "kv_dtype", "latency_s", "power_w"},
          [](const TableContext&) { return Result<RowReader>(read_attention); },
          read_other_attention,
          aic_origin()};
}

}  // namespace joulecast
