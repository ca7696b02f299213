// SPDX-License-Identifier: Apache-2.0
// Operators of sitar-lab/NeuSight: PyTorch eager, fp32 without TF32, CUDA events.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<MeasuredOperation> common(Row& row) {
  if (row.text("dtype") != "fp32") return unsupported(fmt::format("dtype '{}'", row.text("dtype")));
  MeasuredOperation out;
  out.at.gpu = row.text("gpu");
  out.at.precision = Precision::kFp32;
  out.at.runtime = Runtime::kPytorchEager;
  const std::string_view torch = row.text("torch");
  out.at.software = fmt::format("pytorch {}", torch.substr(torch.starts_with('p') ? 1 : 0));
  out.from.split = row.text("split");
  out.readings.time = row.quantity<Seconds>("latency_s");
  return out;
}

Result<void> finish(Row& row, RowSink& sink, MeasuredOperation out, const std::function<Graph()>& make) {
  JC_RETURN_IF_ERROR(row.status());
  out.group = out.label;
  JC_ASSIGN_OR_RETURN(out.graph, sink.pool().get(out.group, [&]() -> Result<Graph> { return make(); }));
  sink.add(std::move(out));
  return {};
}

// The P4 ran the training half of `linear` with other kernels (maxwell_sgemm_*_tn), at a third of the speed.
bool slow_kernels(Row& row) {
  return row.text("gpu") == "Tesla P4" && row.text("op") == "linear" && row.text("split") == "train";
}

Result<void> read_gemm(Row& row, RowSink& sink) {
  JC_ASSIGN_OR_RETURN(MeasuredOperation out, common(row));
  const std::int64_t batch = row.extent("batch");
  const std::int64_t m = row.extent("m");
  // As in nn.Linear(n, k): the rows for GPT-2 have 768 by 2304, those for vocabularies 1024 by 30522.
  const std::int64_t depth = row.extent("n");
  const std::int64_t columns = row.extent("k");
  out.kernel = row.text("kernel");
  if (slow_kernels(row)) {
    out.from.primary = false;
    add_caution(out.from.anomaly, "other-kernels");
  }
  if (row.text("op") == "linear") {
    if (batch != 1) return unsupported(fmt::format("linear with batch {}", batch));
    out.label = fmt::format("linear {}x{} by {}x{}", m, depth, columns, depth);
    return finish(row, sink, std::move(out),
                  [&] { return linear_operation(m, columns, depth, ElementType::kFloat32, true); });
  }
  if (row.text("op") != "bmm") return unsupported(fmt::format("op '{}'", row.text("op")));
  out.label = fmt::format("matmul {}x{}x{} by {}x{}x{}", batch, m, depth, batch, depth, columns);
  return finish(row, sink, std::move(out), [&] {
    return std::move(OperationBuilder(ElementType::kFloat32).input({batch, m, depth}).input({batch, depth, columns}))
        .build(MatMul{});
  });
}

Result<void> read_conv(Row& row, RowSink& sink) {
  JC_ASSIGN_OR_RETURN(MeasuredOperation out, common(row));
  const std::int64_t batch = row.extent("batch");
  const std::int64_t in = row.extent("in_channels");
  const std::int64_t channels = row.extent("out_channels");
  const std::int64_t kernel = row.extent("kernel");
  const std::int64_t size = row.extent("in_hw");
  const std::int64_t stride = row.extent("stride");
  const std::int64_t padding = row.integer("padding");
  if (padding < 0 || padding > kernel) return invalid(fmt::format("padding {}", padding));
  out.kernel = row.text("main_kernel");
  out.label = fmt::format("conv {}x{}x{}x{} by {}x{}x{}x{}, stride {}, padding {}", batch, in, size, size, channels, in,
                          kernel, kernel, stride, padding);
  return finish(row, sink, std::move(out), [&] {
    Conv op;
    op.stride = Extents(2, stride);
    op.dilation = Extents(2, 1);
    op.padding_begin = op.padding_end = Extents(2, padding);
    OperationBuilder builder(ElementType::kFloat32);
    builder.input({batch, in, size, size}).parameter({channels, in, kernel, kernel});
    return std::move(builder).build(op);
  });
}

// Of two tensors, and of a tensor and a number ("u").
constexpr std::array<std::pair<std::string_view, BinaryKind>, 4> kBinary = {
    {{"add", BinaryKind::kAdd}, {"mul", BinaryKind::kMul}, {"div", BinaryKind::kDiv}, {"pow", BinaryKind::kPow}}};
constexpr std::array<std::pair<std::string_view, ActivationKind>, 3> kActivations = {
    {{"relu", ActivationKind::kRelu}, {"gelu", ActivationKind::kGelu}, {"tanh", ActivationKind::kTanh}}};

Result<Graph> vector_operation(std::string_view op, const Shape& shape) {
  OperationBuilder builder(ElementType::kFloat32);
  builder.input(shape);
  for (const auto& [name, kind] : kBinary) {
    if (op == name) return std::move(builder.input(shape)).build(Binary{.kind = kind});
    if (op.ends_with('u') && op.substr(0, op.size() - 1) == name) {
      return std::move(builder.scalar(2.0)).build(Binary{.kind = kind});
    }
  }
  for (const auto& [name, kind] : kActivations) {
    if (op == name) return std::move(builder).build(Activation{.kind = kind});
  }
  if (op == "softmax") return std::move(builder).build(Softmax{});
  if (op == "ln") return std::move(builder.parameter({shape.back()}).parameter({shape.back()})).build(LayerNorm{});
  return unsupported(fmt::format("op '{}'", op));
}

Result<void> read_vec(Row& row, RowSink& sink) {
  JC_ASSIGN_OR_RETURN(MeasuredOperation out, common(row));
  const Shape shape = {row.extent("rows"), row.extent("cols")};
  JC_RETURN_IF_ERROR(row.status());
  out.label = out.group = fmt::format("{} {}", row.text("op"), text(shape));
  JC_ASSIGN_OR_RETURN(out.graph, sink.pool().get(out.group, [&] { return vector_operation(row.text("op"), shape); }));
  sink.add(std::move(out));
  return {};
}

}  // namespace

Origin neusight_origin() {
  return {.source = "sitar-lab/NeuSight@6945927d9a",
          .licence = "MIT",
          .protocol = "CUDA events around PyTorch operators, fp32 without TF32"};
}

TableLayout neusight_gemm_layout() {
  return {"neusight_gemm",
          {"gpu", "op", "split", "dtype", "batch", "m", "n", "k", "latency_s", "kernel", "torch"},
          [](const TableContext&) { return Result<RowReader>(read_gemm); },
          nullptr,
          neusight_origin()};
}

TableLayout neusight_conv_layout() {
  return {"neusight_conv",
          {"gpu", "op", "dtype", "batch", "in_channels", "out_channels", "kernel", "in_hw", "stride", "padding",
           "latency_s", "main_kernel", "torch"},
          [](const TableContext&) { return Result<RowReader>(read_conv); },
          nullptr,
          neusight_origin()};
}

TableLayout neusight_vec_layout() {
  return {"neusight_vec",
          {"gpu", "op", "split", "dtype", "rows", "cols", "latency_s", "torch"},
          [](const TableContext&) { return Result<RowReader>(read_vec); },
          nullptr,
          neusight_origin()};
}

}  // namespace joulecast
