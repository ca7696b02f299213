// SPDX-License-Identifier: Apache-2.0
// baidu-research/DeepBench: kernels called back to back from C++, so no host is in the way. Only matrix products: the
// published table has no times of convolutions (see misplaced()), and recurrent layers lack parameters.
#include <fmt/format.h>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// The value of `key` in "M=5124;N=700;A Transpose=N".
std::string_view parameter(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view item = text.substr(0, end);
    if (item.starts_with(key) && item.substr(key.size()).starts_with('=')) return item.substr(key.size() + 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

Result<std::int64_t> extent(std::string_view parameters, std::string_view key) {
  const auto value = parse_integer(parameter(parameters, key));
  if (!value || *value < 1 || *value > kMaxElements) return invalid(fmt::format("no {} in '{}'", key, parameters));
  return *value;
}

Result<Precision> precision(std::string_view text) {
  if (text == "Float") return Precision::kFp32;
  if (text.starts_with("16 bit inputs")) return Precision::kFp16;
  return unsupported(fmt::format("precision '{}'", text));
}

// What is wrong with rows that took their columns from the sheet of matrix products: the sheet of convolutions has W,
// H, C, N, K, R where that one has M, N, K, two transposes and the time; that of recurrent layers has time steps.
Result<void> misplaced(Row& row) {
  if (row.text("op") == "Convolution" && !parameter(row.text("params"), "A Transpose").empty())
    return unsupported("a convolution with the width of its filter where its time should be");
  if (row.text("pass") == "Timesteps") return unsupported("a number of time steps where the time should be");
  return {};
}

// The sheets of Volta and Turing have 90 to 109 TFLOP/s for products in halves with 7133 rows, 35 or 1530: cuBLAS took
// nothing to tensor units then whose rows were no whole vectors, so what ran was filled up to such.
bool filled_up(std::string_view gpu, Precision precision) {
  return precision == Precision::kFp16 && (gpu.ends_with("V100") || gpu.ends_with("T4"));
}
std::int64_t in_vectors(std::int64_t extent) {
  return (extent + 7) / 8 * 8;
}

Result<void> read(Row& row, RowSink& sink) {
  JC_RETURN_IF_ERROR(misplaced(row));
  if (row.text("op") != "Dense Matrix Multiplication") return unsupported(fmt::format("op '{}'", row.text("op")));
  MeasuredOperation out;
  JC_ASSIGN_OR_RETURN(out.at.precision, precision(row.text("precision")));
  const std::string_view parameters = row.text("params");
  JC_ASSIGN_OR_RETURN(std::int64_t m, extent(parameters, "M"));
  JC_ASSIGN_OR_RETURN(std::int64_t n, extent(parameters, "N"));
  JC_ASSIGN_OR_RETURN(std::int64_t k, extent(parameters, "K"));
  const MatMul op{.transpose_a = parameter(parameters, "A Transpose") == "T",
                  .transpose_b = parameter(parameters, "B Transpose") == "T"};
  out.readings.time = row.quantity<Seconds>("time_s");
  JC_RETURN_IF_ERROR(row.status());
  out.at.gpu = row.text("gpu");
  out.at.runtime = Runtime::kCudaGraph;
  out.at.software = "cublas, rocblas";
  out.label = out.group = fmt::format("matmul {}x{}{} by {}x{}{}", m, k, op.transpose_a ? " transposed" : "", k, n,
                                      op.transpose_b ? " transposed" : "");
  if (filled_up(out.at.gpu, out.at.precision)) {
    for (std::int64_t* side : {&m, &n, &k}) *side = in_vectors(*side);
  }
  const ElementType element = out.at.precision == Precision::kFp32 ? ElementType::kFloat32 : ElementType::kFloat16;
  JC_ASSIGN_OR_RETURN(
      out.graph,
      sink.pool().get(fmt::format("{} {} {} {} {}", out.group, m, n, k, name(element)), [&]() -> Result<Graph> {
        OperationBuilder builder(element);
        builder.input(op.transpose_a ? Shape{k, m} : Shape{m, k}).input(op.transpose_b ? Shape{n, k} : Shape{k, n});
        return std::move(builder).build(op);
      }));
  sink.add(std::move(out));
  return {};
}

Result<void> read_other(Row& row, RowSink& sink) {
  JC_RETURN_IF_ERROR(misplaced(row));
  MeasuredOther out = other_row(row, "gpu", false, std::string(row.text("op")));
  out.at.software = "cudnn, nccl, miopen, rccl";
  out.mode = row.text("workload") == "train" ? "training" : "inference";
  out.precision = row.text("precision");
  add_details(out, row, {"pass", "params", "application", "section"});
  out.readings.time = row.quantity<Seconds>("time_s");
  JC_RETURN_IF_ERROR(row.status());
  // Some sheets lost their first columns: a number stands where the operation should.
  if (parse_number(row.text("op"))) return invalid(fmt::format("'{}' is no operation", row.text("op")));
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout deepbench_layout() {
  return {"deepbench_ops",
          {"gpu", "workload", "precision", "section", "op", "params", "pass", "time_s"},
          [](const TableContext&) { return Result<RowReader>(read); },
          read_other,
          {.source = "baidu-research/DeepBench@da81ba7820",
           .licence = "Apache-2.0",
           .protocol = "many calls back to back from C++, mean"}};
}

}  // namespace joulecast
