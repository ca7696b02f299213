// SPDX-License-Identifier: Apache-2.0
// Printed memory of named networks, collected by hand from many repositories: one header for all.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/details.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

std::string_view mode_of(std::string_view task) {
  if (task.starts_with("training") || task.starts_with("fine-tuning")) return "training";
  return task.starts_with("inference") ? "inference" : "";
}

std::string_view kind_of(std::string_view text) {
  return text == "max_allocated" ? "max-allocated" : text;
}

// The kinds of memory do not mix: what allocators hand out, what they hold, what the driver sees.
void read_memory(Row& row, MeasuredOther& out) {
  out.readings.memory = row.quantity<Bytes>("value_bytes");
  if (!out.readings.memory) return;
  out.readings.memory_kind = kind_of(row.text("memory_kind"));
  if (out.readings.memory_kind == "unknown") add_caution(out.from.anomaly, "memory-kind-unknown");
}

// "ran: peak is below 80 GB": the number after the words.
std::optional<Bytes> upper_bound(std::string_view note) {
  constexpr std::string_view kBefore = "peak is below ";
  const std::size_t at = note.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  note.remove_prefix(at + kBefore.size());
  const auto gigabytes = parse_number(note.substr(0, std::min(note.find(" GB"), note.size())));
  return gigabytes && *gigabytes > 0.0 ? std::optional(Bytes{*gigabytes * 1e9}) : std::nullopt;
}

MeasuredOther network(Row& row) {
  MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("network")));
  out.mode = mode_of(row.text("task"));
  out.precision = row.text("precision");
  out.optimizer = row.text("optimizer");
  out.at.software = row.text("framework");
  out.per = "run";
  out.from.upstream = row.text("source");
  if (!row.text("batch_per_gpu").empty()) out.batch = row.extent("batch_per_gpu");
  return out;
}

Result<void> read_run(Row& row, RowSink& sink) {
  MeasuredOther out = network(row);
  if (!row.text("n_gpus").empty()) {
    out.gpu_count = static_cast<int>(std::min<std::int64_t>(row.extent("n_gpus"), 1'000'000));
  }
  add_details(out, row, {"config_name", "task", "input_shape", "checkpointing", "parallelism", "printed", "note"});
  read_memory(row, out);
  add_caution(out.from.anomaly, "typed-by-hand");
  if (out.gpu_count > 1) add_caution(out.from.anomaly, "replicas");
  JC_RETURN_IF_ERROR(row.status());
  const std::string_view fits = row.text("fits");
  if (fits.starts_with("no (")) return unsupported("a run that failed, and nobody says that memory was why");
  if (fits == "no") {
    out.readings.memory_relation = MemoryRelation::kAbove;
    add_caution(out.from.anomaly, "out-of-memory");
  } else if (!out.readings.memory) {
    out.readings.memory = upper_bound(row.text("note"));
    if (!out.readings.memory) return unsupported("it ran, and nobody says in how much memory");
    out.readings.memory_relation = MemoryRelation::kAtMost;
    out.readings.memory_kind = "device";
  }
  if (out.readings.memory_relation != MemoryRelation::kEqual) add_caution(out.from.anomaly, "censored-memory");
  sink.add(std::move(out));
  return {};
}

// OpenMMLab's zoos: peaks of distributed training with one decimal of a GB, read as GiB.
Result<void> read_mm_zoo(Row& row, RowSink& sink) {
  MeasuredOther out = network(row);
  out.at.campaign = row.text("suite");
  add_details(out, row,
              {"backbone", "config_name", "training_resources", "batch_source", "batch_in_name", "input_shape",
               "checkpointing", "printed", "printed_unit", "section"});
  read_memory(row, out);
  if (row.text("printed_unit").starts_with("GB")) add_caution(out.from.anomaly, "coarse-print");
  add_caution(out.from.anomaly, "replicas");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout memory_runs_layout() {
  return {"memory_runs",
          {"source", "network", "config_name", "task", "gpu", "n_gpus", "batch_per_gpu", "precision", "optimizer",
           "memory_kind", "value_bytes", "fits", "printed", "note"},
          [](const TableContext&) { return Result<RowReader>(read_run); },
          nullptr,
          {.source = "many repositories: each row's upstream",
           .licence = "that of each row's upstream",
           .protocol = "figures that others printed"}};
}
TableLayout mm_zoo_memory_layout() {
  return {"mm_zoo_training_memory",
          {"source", "suite", "network", "backbone", "config_name", "training_resources", "batch_per_gpu",
           "batch_in_name", "memory_kind", "value_bytes", "printed", "printed_unit"},
          [](const TableContext&) { return Result<RowReader>(read_mm_zoo); },
          nullptr,
          {.source = "OpenMMLab's model zoos: each row's upstream",
           .licence = "Apache-2.0; mmyolo GPL-3.0 (figures only)",
           .protocol = "maximum of torch.cuda.max_memory_allocated over ranks and an epoch"}};
}

}  // namespace joulecast
