// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/import_torchscript.h"

#include <utility>

#include "import/torchscript/importer.h"

namespace joulecast::torchscript {
namespace {

// Whether the graph's types fit at the second of the sample sizes too.
bool holds_for_other_sizes(const Graph& graph, const Importer& importer) {
  Binding binding;
  for (const auto& [symbol, sizes] : importer.open_sizes()) binding.symbols[symbol] = sizes[1];
  return infer_types(graph, binding).has_value();
}

}  // namespace

bool recognises(std::string_view bytes) {
  if (!ZipArchive::recognises(bytes)) return false;
  const auto archive = ZipArchive::open(bytes);
  return archive && archive->find_ending("/constants.pkl") != nullptr;
}

Result<Graph> import_bytes(std::string_view bytes, std::string_view name, const InputShapes& shapes) {
  constexpr int kMaxRuns = 8;
  JC_ASSIGN_OR_RETURN(Archive archive, Archive::open(bytes));
  InputHints hints;
  bool fixed = false;
  for (int run = 0;; ++run) {
    Importer importer(archive, fixed, hints, shapes);
    auto graph = importer.run(name);
    if (!graph && importer.wants_another_run() && run < kMaxRuns) continue;
    const bool open = !fixed && !importer.open_sizes().empty();
    if (open && (!graph || !holds_for_other_sizes(*graph, importer))) {
      fixed = true;
      continue;
    }
    if (!graph) return graph;
    if (fixed && archive.has_inputs())
      graph->notes.push_back({"the trace holds for the sizes that it was made with only"});
    JC_RETURN_IF_ERROR(validate(*graph));
    return graph;
  }
}

}  // namespace joulecast::torchscript
