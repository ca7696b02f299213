// SPDX-License-Identifier: Apache-2.0
// Single layers of CDECatapult/ml-performance-prediction (Justus et al. 2018): TensorFlow 1.x, forward only or a whole
// training step with the named optimizer.
#include <fmt/format.h>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<MeasuredOperation> common(Row& row) {
  // The activation is a kernel of its own there, and a row is one operation here.
  if (row.text("activation") != "None") return unsupported("a layer with its activation");
  if (row.text("precision_bits") != "32") return unsupported(fmt::format("{} bits", row.text("precision_bits")));
  MeasuredOperation out;
  out.at.gpu = row.text("gpu");
  out.at.software = "tensorflow 1";
  const std::string_view optimizer = row.text("optimizer");
  if (optimizer != "None") {
    out.at.mode = Mode::kTraining;
    out.at.software += fmt::format(", step with {}", optimizer);
  }
  out.readings.time = row.quantity<Seconds>("time_median_s");
  out.readings.time_std = row.deviation<Seconds>("time_std_s");
  return out;
}

struct ConvLayer {
  std::int64_t batch, size, in, out, kernel, stride;
  bool same, bias;
};

Graph conv_operation(const ConvLayer& layer) {
  Conv op;
  op.stride = Extents(2, layer.stride);
  op.dilation = Extents(2, 1);
  op.same_padding = layer.same;
  OperationBuilder builder(ElementType::kFloat32);
  builder.input({layer.batch, layer.in, layer.size, layer.size})
      .parameter({layer.out, layer.in, layer.kernel, layer.kernel});
  if (layer.bias) builder.parameter({layer.out});
  return std::move(builder).build(op);
}

Result<void> read_conv(Row& row, RowSink& sink) {
  JC_ASSIGN_OR_RETURN(MeasuredOperation out, common(row));
  const ConvLayer layer{row.extent("batchsize"),    row.extent("matsize"),    row.extent("channels_in"),
                        row.extent("channels_out"), row.extent("kernelsize"), row.extent("strides"),
                        row.flag("padding"),        row.flag("use_bias")};
  JC_RETURN_IF_ERROR(row.status());
  if (!layer.same && layer.kernel > layer.size) return invalid("the kernel is larger than the image");
  out.label = out.group = fmt::format("conv {}x{}x{}x{} by {}x{}x{}x{}, stride {}{}{}", layer.batch, layer.in,
                                      layer.size, layer.size, layer.out, layer.in, layer.kernel, layer.kernel,
                                      layer.stride, layer.same ? ", same" : "", layer.bias ? ", bias" : "");
  JC_ASSIGN_OR_RETURN(out.graph, sink.pool().get(out.group, [&]() -> Result<Graph> { return conv_operation(layer); }));
  sink.add(std::move(out));
  return {};
}

Result<void> read_dense(Row& row, RowSink& sink) {
  JC_ASSIGN_OR_RETURN(MeasuredOperation out, common(row));
  const std::int64_t m = row.extent("batchsize");
  const std::int64_t k = row.extent("dim_input");
  const std::int64_t n = row.extent("dim_output");
  JC_RETURN_IF_ERROR(row.status());
  out.label = out.group = fmt::format("linear {}x{} by {}x{}", m, k, n, k);
  JC_ASSIGN_OR_RETURN(out.graph, sink.pool().get(out.group, [&]() -> Result<Graph> {
    return linear_operation(m, n, k, ElementType::kFloat32, true);
  }));
  sink.add(std::move(out));
  return {};
}

// Layers with their activation, and half precision.
MeasuredOther other(Row& row, std::string name) {
  MeasuredOther out = other_row(row, "gpu", false, std::move(name));
  out.at.software = "tensorflow 1";
  out.mode = row.text("optimizer") == "None" ? "inference" : "training";
  out.precision = row.text("precision_bits") == "16" ? "fp16" : "fp32";
  if (row.text("optimizer") != "None") out.optimizer = row.text("optimizer");
  out.batch = row.extent("batchsize");
  out.readings.time = row.quantity<Seconds>("time_median_s");
  out.readings.time_std = row.deviation<Seconds>("time_std_s");
  return out;
}

Result<void> read_other_conv(Row& row, RowSink& sink) {
  MeasuredOther out = other(row, "conv layer");
  add_details(out, row,
              {"matsize", "channels_in", "channels_out", "kernelsize", "strides", "padding", "use_bias", "activation"});
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Result<void> read_other_dense(Row& row, RowSink& sink) {
  MeasuredOther out = other(row, "linear layer");
  add_details(out, row, {"dim_input", "dim_output", "activation"});
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Origin origin() {
  return {.source = "CDECatapult/ml-performance-prediction@e649f32d35 (Justus et al. 2018)",
          .licence = "Apache-2.0",
          .protocol = "median of repeated session runs of one layer"};
}

}  // namespace

TableLayout cde_conv_layout() {
  return {"cde_conv",
          {"gpu", "batchsize", "matsize", "channels_in", "channels_out", "kernelsize", "strides", "padding", "use_bias",
           "precision_bits", "optimizer", "activation", "time_median_s"},
          [](const TableContext&) { return Result<RowReader>(read_conv); },
          read_other_conv,
          origin()};
}

TableLayout cde_dense_layout() {
  return {"cde_dense",
          {"gpu", "batchsize", "dim_input", "dim_output", "precision_bits", "optimizer", "activation", "time_median_s"},
          [](const TableContext&) { return Result<RowReader>(read_dense); },
          read_other_dense,
          origin()};
}

}  // namespace joulecast
