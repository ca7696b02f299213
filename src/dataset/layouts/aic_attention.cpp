// SPDX-License-Identifier: Apache-2.0
// Attention of ai-dynamo/aiconfigurator: one column of times a GPU, CUDA graphs, SGLang 0.5.10. Prefill and decode.
#include <fmt/format.h>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<ElementType> cache_type(std::string_view text) {
  if (text == "bfloat16") return ElementType::kBFloat16;
  if (text == "fp8") return ElementType::kFloat8E4M3;
  return unsupported(fmt::format("a cache of type '{}'", text));
}

// isl new tokens after `step` old ones. One new token after at least one old: decoding.
Result<AttentionShape> attention_shape(Row& row, bool& decode) {
  AttentionShape shape;
  shape.batch = row.extent("batch_size");
  shape.queries = row.extent("isl");
  const std::int64_t step = row.integer("step");
  shape.heads = row.extent("num_heads");
  shape.kv_heads = row.extent("num_key_value_heads");
  shape.head = row.extent("head_dim");
  const std::int64_t window = row.integer("window_size");
  JC_RETURN_IF_ERROR(row.status());
  if (step < 0 || step > kMaxElements) return invalid(fmt::format("{} tokens in the cache", step));
  shape.keys = shape.queries + step;
  if (window > 0 && window < shape.keys) shape.window = window;
  decode = step > 0;
  shape.causal = !decode || shape.window > 0;
  return shape;
}

// What the rows of one table share.
struct Reader {
  std::vector<GpuColumn> columns;
  std::vector<std::string>* notes;
  bool noted = false;

  // Its prefill times grow linearly with the length and would need up to 7.6 times the chip's peak.
  bool left_out(const GpuColumn& column, bool decode) {
    if (decode || column.gpu != "b200_sxm") return false;
    if (!noted) notes->emplace_back("prefill on b200_sxm left out: up to 7.6 times faster than the chip can be");
    noted = true;
    return true;
  }
};

Result<void> read(Reader& reader, Row& row, RowSink& sink) {
  bool decode = false;
  JC_ASSIGN_OR_RETURN(const AttentionShape shape, attention_shape(row, decode));
  JC_ASSIGN_OR_RETURN(const ElementType cache, cache_type(row.text("kv_cache_dtype")));
  MeasuredOperation out;
  out.at.precision = Precision::kBf16;
  out.at.runtime = Runtime::kCudaGraph;
  out.at.software = "sglang 0.5.10";
  out.label = fmt::format("{} attention: batch {}, {} of {} tokens, {} heads, {} of keys, {} wide, cache {}",
                          decode ? "decode" : "prefill", shape.batch, shape.queries, shape.keys, shape.heads,
                          shape.kv_heads, shape.head, name(cache));
  if (shape.window > 0) out.label += fmt::format(", window {}", shape.window);
  out.group = out.label;
  JC_ASSIGN_OR_RETURN(out.graph, sink.pool().get(out.group, [&]() -> Result<Graph> {
    return attention_operation(shape, ElementType::kBFloat16, cache);
  }));
  for (const GpuColumn& column : reader.columns) {
    if (reader.left_out(column, decode)) continue;
    MeasuredOperation one = out;
    one.at.gpu = column.gpu;
    one.readings.time = row.quantity<Seconds>(column.column);
    JC_RETURN_IF_ERROR(row.status());
    if (one.readings.time) sink.add(std::move(one));
  }
  return {};
}

Result<RowReader> open(const TableContext& context) {
  Reader reader{gpu_columns(context.header), &context.notes};
  return RowReader([reader](Row& row, RowSink& sink) mutable { return read(reader, row, sink); });
}

}  // namespace

TableLayout aic_attention_layout() {
  return {"aic_attention",
          {"batch_size", "isl", "num_heads", "num_key_value_heads", "head_dim", "kv_cache_dtype", "window_size", "step",
           kGpuTimes},
          open,
          nullptr,
          aic_origin()};
}

}  // namespace joulecast
