// SPDX-License-Identifier: Apache-2.0
// Matrix products of ai-dynamo/aiconfigurator: one column of times a GPU, CUDA graphs, SGLang 0.5.10.
#include <fmt/format.h>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// The collector cycles up to 5 or 6 copies of the weight, so a small one stays in the L2 cache (collector/helper.py).
constexpr int kWeightCopies = 5;

// Both precisions share one header; only the file's name tells them apart.
Result<RowReader> open(const TableContext& context) {
  const bool fp8 = context.file_name.find("fp8") != std::string_view::npos;
  if (!fp8 && context.file_name.find("bf16") == std::string_view::npos) {
    return invalid("the name of a table of matrix products must say bf16 or fp8");
  }
  const auto columns = gpu_columns(context.header);
  return RowReader([fp8, columns](Row& row, RowSink& sink) -> Result<void> {
    const std::int64_t m = row.extent("m");
    const std::int64_t n = row.extent("n");
    const std::int64_t k = row.extent("k");
    JC_RETURN_IF_ERROR(row.status());
    MeasuredOperation out;
    out.at.precision = fp8 ? Precision::kFp8 : Precision::kBf16;
    out.at.runtime = Runtime::kCudaGraph;
    out.at.software = "sglang 0.5.10";
    out.weight_copies = kWeightCopies;
    out.label = out.group = fmt::format("linear {}x{} by {}x{}", m, k, n, k);
    JC_ASSIGN_OR_RETURN(out.graph, sink.pool().get(out.group, [&]() -> Result<Graph> {
      return linear_operation(m, n, k, fp8 ? ElementType::kFloat8E4M3 : ElementType::kBFloat16, false);
    }));
    for (const GpuColumn& column : columns) {
      MeasuredOperation one = out;
      one.at.gpu = column.gpu;
      one.readings.time = row.quantity<Seconds>(column.column);
      JC_RETURN_IF_ERROR(row.status());
      if (one.readings.time) sink.add(std::move(one));
    }
    return {};
  });
}

}  // namespace

TableLayout aic_gemm_layout() {
  return {"aic_gemm", {"m", "n", "k", kGpuTimes}, open, nullptr, aic_origin()};
}

}  // namespace joulecast
