// SPDX-License-Identifier: Apache-2.0
// Published tables and our own layout: any text, under both names that tell tables of one header apart. What is read
// must be a graph, and every row must survive being turned into columns and back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dataset/audit.h"
#include "dataset/details.h"
#include "dataset/measurement.h"
#include "dataset/module_repr.h"
#include "dataset/table.h"
#include "predict/layer_graph.h"

namespace {

// A row as columns, read back, is the same columns.
template <typename Row>
void round_trip(const Row& row) {
  const joulecast::Measurement flat = joulecast::measurement(row);
  // Rows without name, GPU or reading are refused where they are kept.
  if (!joulecast::check_values(flat)) return;
  bool same = false;
  joulecast::TableSink back;
  const auto compare = [&](const auto& again) { same = joulecast::measurement(again) == flat; };
  back.operation = compare;
  back.network = compare;
  back.other = compare;
  joulecast::OperationPool pool;
  if (!joulecast::deliver(flat, pool, back) || !same) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  joulecast::TableSink sink;
  sink.operation = [](const joulecast::MeasuredOperation& row) {
    if (!joulecast::validate(*row.graph)) std::abort();
    (void)joulecast::infer_types(*row.graph, {});
    joulecast::MeasuredOperation audited = row;
    joulecast::Auditor().audit(audited);
    round_trip(audited);
  };
  sink.network = [](const joulecast::MeasuredNetwork& row) {
    if (joulecast::is_layer(row)) {
      const auto layer = joulecast::layer_graph(row);
      if (layer && !joulecast::validate(*layer)) std::abort();
      if (layer) (void)joulecast::infer_types(*layer, {});
    }
    round_trip(row);
  };
  sink.other = [](const joulecast::MeasuredOther& row) { round_trip(row); };
  (void)joulecast::parse_table(text, "bf16.csv", sink);
  (void)joulecast::parse_details(text);
  if (const auto module = joulecast::parse_module_repr(text)) {
    // What prints must read back as itself.
    const auto again = joulecast::parse_module_repr(module->text());
    if (!again || again->text() != module->text()) std::abort();
    (void)joulecast::module_operation(*module, {2, 8, 8, 8}, joulecast::ElementType::kFloat32);
  }
  return 0;
}
