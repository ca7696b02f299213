// SPDX-License-Identifier: Apache-2.0
// What stands beside the Heidelberg operations: one operation at many iteration counts, and what did not fit.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"
#include "dataset/module_repr.h"

namespace joulecast {
namespace {

// From here on the mean of the published runs no longer falls: before, the first calls weigh in.
constexpr std::int64_t kEnoughIterations = 1000;

Result<void> read_iterations(Row& row, RowSink& sink) {
  if (row.text("op_repr").find("(first script version") != std::string_view::npos) {
    return unsupported("an early script that does not print its operation");
  }
  MeasuredOperation out;
  out.at.gpu = row.text("gpu");
  out.at.precision = Precision::kTf32;
  out.at.runtime = Runtime::kPytorchEager;
  out.at.software = "pytorch";
  out.at.campaign = "iteration-count";
  const std::int64_t iterations = row.extent("iterations");
  const auto total = row.quantity<Seconds>("total_time_s");
  JC_RETURN_IF_ERROR(row.status());
  if (total) out.readings.time = *total / static_cast<double>(iterations);
  out.readings.repeats = iterations;
  out.from.primary = false;
  out.from.upstream = fmt::format("{}:{}", row.text("source_file"), row.text("source_line"));
  if (iterations < kEnoughIterations) add_caution(out.from.anomaly, "few-iterations");
  JC_ASSIGN_OR_RETURN(const ModuleRepr module, parse_module_repr(row.text("op_repr")));
  JC_ASSIGN_OR_RETURN(const Shape shape, parse_shape(row.text("input_shape")));
  out.label = row.text("op_repr");
  out.group = fmt::format("{} {}", module.text(), text(shape));
  JC_ASSIGN_OR_RETURN(
      out.graph, sink.pool().get(out.group, [&] { return module_operation(module, shape, ElementType::kFloat32); }));
  sink.add(std::move(out));
  return {};
}

// "GPU 0 has a total capacity of 23.60 GiB": the number after the words.
std::optional<Bytes> capacity(std::string_view text) {
  constexpr std::string_view kBefore = "total capacity of ";
  const std::size_t at = text.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kBefore.size());
  const auto gibibytes = parse_number(text.substr(0, std::min(text.find(" GiB"), text.size())));
  return gibibytes && *gibibytes > 0.0 ? std::optional(Bytes{*gibibytes * 1073741824.0}) : std::nullopt;
}

// "convnext_base 32x3x384x384: torch.OutOfMemoryError: ..."
Result<void> read_out_of_memory(Row& row, RowSink& sink) {
  const std::string_view text = row.text("text");
  const std::size_t blank = text.find(' ');
  const std::size_t colon = text.find(':');
  if (blank == std::string_view::npos || colon == std::string_view::npos || colon < blank) {
    return invalid("no network and shape before a colon");
  }
  if (text.ends_with(": skipped")) return unsupported("skipped without a reason");
  JC_ASSIGN_OR_RETURN(const Shape shape, parse_shape(text.substr(blank + 1, colon - blank - 1)));
  MeasuredOther out = other_row(row, "gpu", true, std::string(text.substr(0, blank)));
  out.mode = "training";
  out.batch = shape[0];
  if (shape.size() == 4) out.image_size = shape[3];
  out.optimizer = "sgd";
  out.at.software = "pytorch";
  out.per = "run";
  out.readings.memory = capacity(text);
  out.readings.memory_relation = MemoryRelation::kAbove;
  out.readings.memory_kind = out.readings.memory ? "device" : "";
  add_caution(out.from.anomaly, "out-of-memory");
  add_caution(out.from.anomaly, "censored-memory");
  out.from.upstream = fmt::format("{}:{}", row.text("source_file"), row.text("source_line"));
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout heidelberg_iterations_layout() {
  return {"heidelberg_iterations",
          {"gpu", "op_repr", "input_shape", "iterations", "total_time_s", "source_file", "source_line"},
          [](const TableContext&) { return Result<RowReader>(read_iterations); },
          nullptr,
          heidelberg_origin()};
}

TableLayout heidelberg_out_of_memory_layout() {
  return {"heidelberg_out_of_memory",
          {"gpu", "what", "source_file", "source_line", "text"},
          [](const TableContext&) { return Result<RowReader>(read_out_of_memory); },
          nullptr,
          heidelberg_origin()};
}

}  // namespace joulecast
