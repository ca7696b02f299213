// SPDX-License-Identifier: Apache-2.0
// Memory of training multilayer perceptrons, of itu-rad/GPUMemNet.
#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", true, "mlp");
  out.at.gpu = "A100-40GB";  // by the repository's plots; no row says it
  add_caution(out.from.anomaly, "gpu-guessed");
  out.mode = "training";
  out.precision = "fp32";
  out.optimizer = "adam";
  out.at.software = "pytorch";
  out.per = "run";
  out.batch = row.extent("batch");
  add_details(out, row, {"file", "layers", "activation", "total_activations", "total_params", "gpu_util_pct"});
  out.readings.memory = row.quantity<Bytes>("max_gpu_memory_bytes");
  out.readings.memory_kind = "smi";
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout gpumemnet_layout() {
  return {"gpumemnet_mlp",
          {"gpu", "file", "depth", "layers", "activation", "total_params", "batch", "max_gpu_memory_bytes"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "itu-rad/GPUMemNet@f01eb0592e",
           .licence = "no licence file",
           .protocol = "maximum of nvidia-smi once a second, the context included"}};
}

}  // namespace joulecast
