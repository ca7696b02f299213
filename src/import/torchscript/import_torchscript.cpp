// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/import_torchscript.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "import/torchscript/importer.h"

namespace joulecast::torchscript {
namespace {

// `batch`: which of the sample sizes the batch has, `others` the other open extents.
Result<TypeTable> types_at(const Graph& graph, const Importer& importer, std::size_t batch, std::size_t others) {
  Binding binding;
  for (const auto& [symbol, sizes] : importer.open_sizes()) {
    binding.symbols[symbol] = sizes[symbol == "batch" ? batch : others];
  }
  return infer_types(graph, binding);
}

// Takes rows of something by their numbers, or writes them.
bool is_of_rows(const Node& node) {
  if (const auto* gather = std::get_if<Gather>(&node.op)) return gather->kind != GatherKind::kNd && gather->axis == 0;
  if (const auto* scatter = std::get_if<Scatter>(&node.op))
    return scatter->kind == GatherKind::kNd || scatter->axis == 0;
  return false;
}

// As many rows as before of twice the examples: what stands first is no batch, but the nodes of a graph.
bool mixes_rows(const Graph& graph, const TypeTable& one, const TypeTable& other) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    if (!is_of_rows(node) || one.known(node.inputs[1]) != nullptr) return false;
    const Shape& x = one.type(node.inputs[0]).shape;
    const Shape& rows = one.type(node.inputs[1]).shape;
    const Shape& more = other.type(node.inputs[0]).shape;
    return !x.empty() && !rows.empty() && x[0] != more[0] && rows == other.type(node.inputs[1]).shape;
  });
}

// Whether the graph is that of the second of the sample sizes too.
bool holds_for_other_sizes(const Graph& graph, const Importer& importer) {
  if (!importer.samples().know_all(graph) && !types_at(graph, importer, 1, 1)) return false;
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_of_rows)) return true;
  const auto one = types_at(graph, importer, 0, 0);
  const auto other = types_at(graph, importer, 1, 0);
  return !one || !other || !mixes_rows(graph, *one, *other);
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
    if (!graph) return tl::unexpected(importer.with_guesses(std::move(graph).error()));
    if (fixed && archive.has_inputs())
      graph->notes.push_back({"the trace holds for the sizes that it was made with only"});
    JC_RETURN_IF_ERROR(validate(*graph));
    return graph;
  }
}

}  // namespace joulecast::torchscript
