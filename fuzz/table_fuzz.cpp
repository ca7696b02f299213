// SPDX-License-Identifier: Apache-2.0
// Published tables: any text, under both names that tell tables of one header apart. What is read must be a graph.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dataset/module_repr.h"
#include "dataset/table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  joulecast::TableSink sink;
  sink.operation = [](const joulecast::MeasuredOperation& row) {
    if (!joulecast::validate(*row.graph)) std::abort();
    (void)joulecast::infer_types(*row.graph, {});
  };
  (void)joulecast::parse_table(text, "bf16.csv", sink);
  if (const auto module = joulecast::parse_module_repr(text)) {
    // What prints must read back as itself.
    const auto again = joulecast::parse_module_repr(module->text());
    if (!again || again->text() != module->text()) std::abort();
    (void)joulecast::module_operation(*module, {2, 8, 8, 8}, joulecast::ElementType::kFloat32);
  }
  return 0;
}
