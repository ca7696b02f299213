// SPDX-License-Identifier: Apache-2.0
// Layers of large language models, of microsoft/vidur: medians of the kernels' own times in a PyTorch profile, fp16, so
// no host is in the way. Times are whole microseconds.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

constexpr Seconds kCoarse{20e-6};  // below, a microsecond is over 5 %

// Its A100 have 80 GB (vidur/config/device_sku_config.py): on PCIe in the machines with NVLink between pairs
// (Standard_NC96ads_A100_v4), which docs/profiling.md names first, SXM in the DGX.
constexpr std::string_view kA100 = "a100-pcie-80gb";

void set_gpu(std::string_view word, Circumstances& at) {
  at.gpu = word == "A100" ? kA100 : word;
  if (word == "A100") at.gpu_label = word;
}

struct Layer {
  std::int64_t parallel, heads, kv_heads, width, hidden, tokens;
  bool gated;
};

Result<Layer> layer_of(Row& row) {
  const Layer layer{row.extent("tensor_parallel"),  row.extent("n_head"), row.extent("n_kv_head"),
                    row.extent("n_embd"),           row.extent("n_ffn"),  row.extent("num_tokens"),
                    row.text("gated_mlp") == "True"};
  JC_RETURN_IF_ERROR(row.status());
  const bool whole = layer.width % layer.heads == 0 && layer.width % layer.parallel == 0 &&
                     layer.hidden % layer.parallel == 0 && layer.heads % layer.parallel == 0;
  if (!whole) return unsupported("the layer cannot be shared out evenly");
  return layer;
}

Graph linear(const Layer& layer, std::int64_t out, std::int64_t in) {
  return linear_operation(layer.tokens, out, in, ElementType::kFloat16, false);
}

// What one of `parallel` GPUs does (vidur's profiling/mlp/mlp_impl.py). Gated: both halves in one product, then
// silu(a) * b. Key and value heads are at least one a GPU.
Result<Graph> layer_operation(std::string_view op, const Layer& layer) {
  const std::int64_t head = layer.width / layer.heads;
  const std::int64_t kv = std::max<std::int64_t>(1, layer.kv_heads / layer.parallel);
  const std::int64_t hidden = layer.hidden / layer.parallel;
  const std::int64_t up = layer.gated ? 2 * hidden : hidden;
  OperationBuilder builder(ElementType::kFloat16);
  if (op == "attn_pre_proj") return linear(layer, (layer.heads / layer.parallel + 2 * kv) * head, layer.width);
  if (op == "attn_post_proj") return linear(layer, layer.width, layer.width / layer.parallel);
  if (op == "mlp_up_proj") return linear(layer, up, layer.width);
  if (op == "mlp_down_proj") return linear(layer, layer.width, hidden);
  if (op == "mlp_act") {
    const ActivationKind kind = layer.gated ? ActivationKind::kGlu : ActivationKind::kGelu;
    return std::move(builder.input({layer.tokens, up})).build(Activation{.kind = kind});
  }
  if (op == "input_layernorm" || op == "post_attention_layernorm") {
    return std::move(builder.input({layer.tokens, layer.width}).parameter({layer.width})).build(RmsNorm{});
  }
  if (op == "add") {
    builder.input({layer.tokens, layer.width}).input({layer.tokens, layer.width});
    return std::move(builder).build(Binary{.kind = BinaryKind::kAdd});
  }
  return unsupported(fmt::format("op '{}'", op));  // emb: the table does not tell the vocabulary; attn_rope
}

std::string label_of(const Graph& graph) {
  std::string text = label(graph.nodes.front().op);
  for (const Value& value : graph.values) {
    if (value.kind != ValueKind::kComputed) text += " " + joulecast::text(value.type.shape);
  }
  return text;
}

Result<void> read(Row& row, RowSink& sink) {
  JC_ASSIGN_OR_RETURN(const Layer layer, layer_of(row));
  MeasuredOperation out;
  out.readings.time = row.quantity<Seconds>("latency_s");
  JC_RETURN_IF_ERROR(row.status());
  const std::string_view op = row.text("op");
  const std::string key = fmt::format("{} {} {} {} {} {} {} {}", op, layer.parallel, layer.heads, layer.kv_heads,
                                      layer.width, layer.hidden, layer.tokens, layer.gated);
  JC_ASSIGN_OR_RETURN(out.graph, sink.pool().get(key, [&] { return layer_operation(op, layer); }));
  set_gpu(row.text("gpu"), out.at);
  out.at.precision = Precision::kFp16;
  out.at.runtime = Runtime::kCudaGraph;
  out.at.software = "pytorch, vidur";
  if (out.readings.time && *out.readings.time < kCoarse) add_caution(out.from.anomaly, "coarse-clock");
  out.label = fmt::format("{} of {}, {} tokens, {} GPUs", op, row.text("model"), layer.tokens, layer.parallel);
  out.group = label_of(*out.graph);
  sink.add(std::move(out));
  return {};
}

// emb, attn_rope and layers that cannot be shared out evenly.
Result<void> read_other(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", false, std::string(row.text("op")));
  set_gpu(row.text("gpu"), out.at);
  out.at.runtime = Runtime::kCudaGraph;
  out.at.software = "pytorch, vidur";
  out.mode = "inference";
  out.precision = "fp16";
  add_details(out, row,
              {"model", "tensor_parallel", "n_head", "n_kv_head", "n_embd", "n_ffn", "gated_mlp", "num_tokens"});
  out.readings.time = row.quantity<Seconds>("latency_s");
  if (out.readings.time && *out.readings.time < kCoarse) add_caution(out.from.anomaly, "coarse-clock");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

// all_reduce and send_recv of the same publisher; sizes are bytes a worker holds.
Result<void> read_collective(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "cluster", false, std::string(row.text("collective")));
  out.at.gpu_label = row.text("cluster");  // "a100_pairwise_nvlink": the GPU and how it is connected
  out.at.gpu = out.at.gpu_label.substr(0, out.at.gpu_label.find('_'));
  if (out.at.gpu == "a100") out.at.gpu = out.at.gpu_label == "a100_dgx" ? "a100-sxm4-80gb" : kA100;
  out.gpu_count = static_cast<int>(row.extent("n_workers"));
  out.at.software = "nccl, vidur";
  add_details(out, row, {"devices_per_node", "size_bytes"});
  out.readings.time = row.quantity<Seconds>("latency_median_s");
  if (out.readings.time && *out.readings.time < kCoarse) add_caution(out.from.anomaly, "coarse-clock");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Origin origin() {
  return {.source = "microsoft/vidur@7d47513363",
          .licence = "MIT",
          .protocol = "median of the kernels' own times in a profile, whole microseconds"};
}

}  // namespace

TableLayout vidur_collectives_layout() {
  return {"vidur_collectives",
          {"cluster", "collective", "n_workers", "devices_per_node", "size_bytes", "latency_median_s"},
          [](const TableContext&) { return Result<RowReader>(read_collective); },
          nullptr,
          origin()};
}

TableLayout vidur_layout() {
  return {"vidur_llm_ops",
          {"gpu", "model", "tensor_parallel", "n_head", "n_kv_head", "n_embd", "n_ffn", "gated_mlp", "num_tokens", "op",
           "latency_s"},
          [](const TableContext&) { return Result<RowReader>(read); },
          read_other,
          origin()};
}

}  // namespace joulecast
