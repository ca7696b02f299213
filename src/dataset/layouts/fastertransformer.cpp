// SPDX-License-Identifier: Apache-2.0
// Latencies of NVIDIA/FasterTransformer's guides, parsed from Markdown by others.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

constexpr std::string_view kMig = " MIG";

// "TP8, PP2 Latency (ms)", "Latency of 4-way TP (ms)": what several GPUs did together.
bool several_gpus(std::string_view variant) {
  return variant.find("TP") != std::string_view::npos || variant.find("way") != std::string_view::npos ||
         variant.find("PP") != std::string_view::npos;
}

Result<void> read(Row& row, RowSink& sink) {
  const std::string_view doc = row.text("doc");
  MeasuredOther out = other_row(row, "gpu", true, std::string(doc.substr(0, doc.find("_guide"))));
  out.mode = "inference";
  out.precision = row.text("precision");
  out.at.software = "FasterTransformer";
  out.per = several_gpus(row.text("variant")) ? "pass of all GPUs" : "pass";
  if (out.at.gpu.ends_with(kMig)) {
    out.at.mig_profile = "1/7";  // the guide does not name the profile's memory
    out.at.gpu.resize(out.at.gpu.size() - kMig.size());
  }
  out.batch = row.extent("batch");
  out.sequence_length = row.optional_integer("seq_or_in_len");
  add_details(out, row, {"section", "variant", "row"});
  add_caution(out.from.anomaly, "typed-by-hand");
  out.readings.time = row.quantity<Seconds>("latency_s");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout fastertransformer_layout() {
  return {"fastertransformer_tables",
          {"doc", "section", "gpu", "batch", "seq_or_in_len", "precision", "variant", "latency_s", "row"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "NVIDIA/FasterTransformer@df4a753",
           .licence = "Apache-2.0",
           .protocol = "printed latencies of the guides; many tables do not name their GPU"}};
}

}  // namespace joulecast
