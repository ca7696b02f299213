// SPDX-License-Identifier: Apache-2.0
// Whole transformers of sitar-lab/NeuSight.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

std::string_view mode_of(std::string_view text) {
  return text == "inf" ? "inference" : text == "train" ? "training" : "";
}

// "fusion" is a fused runtime, "dp4", "tp4" and "pp4_1" run on 4 GPUs: no step of one GPU in eager PyTorch.
Result<void> read_network(Row& row, RowSink& sink) {
  const std::string_view mode = mode_of(row.text("mode"));
  if (mode.empty()) return invalid(fmt::format("mode '{}'", row.text("mode")));
  MeasuredNetwork out;
  out.at.gpu = row.text("gpu");
  out.at.mode = *parse_mode(mode);
  out.at.precision = Precision::kFp32;
  out.at.software = "pytorch 2.1";
  out.model = row.text("model");
  out.batch = row.extent("batch_per_gpu");
  out.sequence_length = row.extent("seq_len");
  out.readings.time = row.quantity<Seconds>("e2e_latency_s");
  JC_RETURN_IF_ERROR(row.status());
  if (row.text("dtype") != "fp32") return unsupported(fmt::format("dtype '{}'", row.text("dtype")));
  const std::string_view option = row.text("option");
  if (option.find('4') == std::string_view::npos) {
    if (option.empty()) out.at.runtime = Runtime::kPytorchEager;
    out.compiled = !option.empty();
    sink.add(std::move(out));
    return {};
  }
  MeasuredOther other;
  static_cast<MeasuredNetwork&>(other) = std::move(out);
  other.network = true;
  other.per = "step of all GPUs";
  other.mode = mode;
  other.precision = "fp32";
  other.gpu_count = 4;
  other.reason = "several GPUs";
  add_details(other, row, {"option", "n_layers"});
  sink.add(std::move(other));
  return {};
}

}  // namespace

TableLayout neusight_e2e_layout() {
  return {"neusight_e2e",
          {"gpu", "model", "mode", "option", "batch_per_gpu", "seq_len", "dtype", "n_layers", "e2e_latency_s"},
          [](const TableContext&) { return Result<RowReader>(read_network); },
          nullptr,
          neusight_origin()};
}

}  // namespace joulecast
