// SPDX-License-Identifier: Apache-2.0
// Single layers of CDECatapult/ml-performance-prediction (Justus et al. 2018) in TensorFlow 1: with their activation,
// forward only or a whole training step with the named optimizer. A network of one layer each; what it ran is in
// predict/layer_graph.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "dataset/details.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// The table's words and ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kOptimizers{{{"None", ""},
                                                                                    {"SGD", "sgd"},
                                                                                    {"Momentum", "sgd-momentum"},
                                                                                    {"Adam", "adam"},
                                                                                    {"Adagrad", "adagrad"},
                                                                                    {"RMSProp", "rmsprop"},
                                                                                    {"Adadelta", "adadelta"}}};

Result<Precision> precision(std::string_view bits) {
  if (bits == "32") return Precision::kFp32;
  if (bits == "16") return Precision::kFp16;
  return unsupported(fmt::format("{} bits", bits));
}

Result<MeasuredNetwork> common(Row& row) {
  MeasuredNetwork out;
  out.at.gpu = row.text("gpu");
  out.at.runtime = Runtime::kTensorflow;
  out.at.software = "tensorflow 1";
  JC_ASSIGN_OR_RETURN(out.at.precision, precision(row.text("precision_bits")));
  const std::string_view optimizer = row.text("optimizer");
  const auto* const known =
      std::find_if(kOptimizers.begin(), kOptimizers.end(), [&](const auto& pair) { return pair.first == optimizer; });
  if (known == kOptimizers.end()) return unsupported(fmt::format("optimizer '{}'", optimizer));
  out.optimizer = known->second;
  out.at.mode = out.optimizer.empty() ? Mode::kInference : Mode::kTraining;
  out.batch = row.extent("batchsize");
  out.readings.time = row.quantity<Seconds>("time_median_s");
  out.readings.time_std = row.deviation<Seconds>("time_std_s");
  return out;
}

Result<void> hand_over(MeasuredNetwork out, std::initializer_list<std::string_view> columns, const Row& row,
                       RowSink& sink) {
  for (const std::string_view column : columns) add_detail(out.details, column, row.text(column));
  if (row.text("activation") != "None") out.model += fmt::format(" {}", row.text("activation"));
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Result<void> read_conv(Row& row, RowSink& sink) {
  JC_ASSIGN_OR_RETURN(MeasuredNetwork out, common(row));
  out.image_size = row.extent("matsize");
  out.channels = row.extent("channels_in");
  const std::int64_t channels = row.extent("channels_out");
  const std::int64_t kernel = row.extent("kernelsize");
  const std::int64_t stride = row.extent("strides");
  const bool same = row.flag("padding");
  const bool bias = row.flag("use_bias");
  out.model = fmt::format("conv {} -> {}, {}x{} s{}{}{}", *out.channels, channels, kernel, kernel, stride,
                          same ? " same" : "", bias ? " bias" : "");
  if (!same && kernel > *out.image_size) return invalid("the kernel is larger than the image");
  return hand_over(std::move(out), {"channels_out", "kernelsize", "strides", "padding", "use_bias", "activation"}, row,
                   sink);
}

Result<void> read_dense(Row& row, RowSink& sink) {
  JC_ASSIGN_OR_RETURN(MeasuredNetwork out, common(row));
  const std::int64_t in = row.extent("dim_input");
  const std::int64_t width = row.extent("dim_output");
  out.model = fmt::format("linear {} -> {}", in, width);
  return hand_over(std::move(out), {"dim_input", "dim_output", "activation"}, row, sink);
}

Origin origin() {
  return {.source = "CDECatapult/ml-performance-prediction@e649f32d35 (Justus et al. 2018)",
          .licence = "Apache-2.0",
          .protocol = "median over five of the mean of 50 session runs of one layer"};
}

}  // namespace

TableLayout cde_conv_layout() {
  return {"cde_conv",
          {"gpu", "batchsize", "matsize", "channels_in", "channels_out", "kernelsize", "strides", "padding", "use_bias",
           "precision_bits", "optimizer", "activation", "time_median_s"},
          [](const TableContext&) { return Result<RowReader>(read_conv); },
          nullptr,
          origin()};
}

TableLayout cde_dense_layout() {
  return {"cde_dense",
          {"gpu", "batchsize", "dim_input", "dim_output", "precision_bits", "optimizer", "activation", "time_median_s"},
          [](const TableContext&) { return Result<RowReader>(read_dense); },
          nullptr,
          origin()};
}

}  // namespace joulecast
