// SPDX-License-Identifier: Apache-2.0
#include "predict/network_graphs.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include "base/csv.h"
#include "dataset/details.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"
#include "predict/layer_graph.h"
#include "predict/lower_attention.h"
#include "predict/measured_work.h"

namespace joulecast {
namespace {

// The row's batch, image size and sequence length for the axes they belong to: images are [batch, channels, height,
// width], token ids [batch, sequence].
Binding binding_of(const Graph& graph, const MeasuredNetwork& row) {
  Binding out;
  out.batch = row.batch.value_or(1);
  for (const GraphInput& input : graph.inputs) {
    for (std::size_t axis = 0; axis < input.dimensions.size(); ++axis) {
      const Dimension& d = input.dimensions[axis];
      if (d.extent) continue;
      const bool image = input.dimensions.size() == 4 && axis >= 2;
      const bool tokens = input.dimensions.size() <= 3 && axis == 1;
      if (axis == 0) out.symbols.try_emplace(d.symbol, row.batch.value_or(1));
      if (image && row.image_size) out.symbols.try_emplace(d.symbol, *row.image_size);
      if (tokens && row.sequence_length) out.symbols.try_emplace(d.symbol, *row.sequence_length);
    }
  }
  return out;
}

// A graph with a fixed image size says nothing about another one.
bool fits(const Graph& graph, const MeasuredNetwork& row) {
  if (graph.inputs.empty() || !row.image_size) return true;
  const auto& dimensions = graph.inputs[0].dimensions;
  return dimensions.size() != 4 || !dimensions[3].extent || *dimensions[3].extent == *row.image_size;
}

// Whether the row's length of sequences stands somewhere in the inputs, or may: token ids are [batch, sequence], sound
// is [batch, bands, sequence].
bool may_be_as_long(const Graph& graph, std::int64_t length) {
  bool any = false;
  for (const GraphInput& input : graph.inputs) {
    for (std::size_t axis = 1; axis < input.dimensions.size(); ++axis) {
      any = true;
      if (input.dimensions[axis].extent.value_or(length) == length) return true;
    }
  }
  return !any;
}

// Nor does one with a fixed length of sequences.
Result<void> check_sizes(const Graph& graph, const MeasuredNetwork& row) {
  const auto fixed = [&](std::string_view what, std::int64_t asked) {
    return unsupported(fmt::format("the graph of '{}' is fixed to another {} than {}", row.model, what, asked));
  };
  if (!fits(graph, row)) return fixed("image size", *row.image_size);
  if (row.sequence_length && !may_be_as_long(graph, *row.sequence_length))
    return fixed("sequence length", *row.sequence_length);
  return {};
}

// Statistics of norms are no parameters to whoever trains, and files of inference lack heads that training has.
constexpr double kSameParameters = 1.1;

double millions_of_parameters(const Graph& graph) {
  double out = 0.0;
  for (const Value& value : graph.values) {
    if (value.kind == ValueKind::kParameter) out += 1e-6 * static_cast<double>(value.type.elements());
  }
  return out;
}

// Names stay when networks change: where the table counts parameters, the graph's are about as many.
Result<void> check_same_network(const Graph& graph, const MeasuredNetwork& row) {
  JC_ASSIGN_OR_RETURN(const auto details, parse_details(row.details));
  for (const auto& [key, value] : details) {
    const std::optional<double> told = key == "params_million" ? parse_number(value) : std::nullopt;
    if (!told || !(*told > 0.0)) continue;
    const double here = millions_of_parameters(graph);
    if (here > 0.0 && std::abs(std::log(here / *told)) > std::log(kSameParameters))
      return unsupported(fmt::format(
          "another network of that name: {:.1f} million parameters in the graph of '{}', {:.1f} in the table", here,
          row.model, *told));
  }
  return {};
}

// Requires: a runtime.
PrepareOptions options_of(const MeasuredNetwork& row, Optimizer optimizer) {
  return {.mode = row.at.mode,
          .precision = row.at.precision,
          .runtime = *row.at.runtime,
          .layout = row.channels_last ? Layout::kChannelsLast : Layout::kChannelsFirst,
          .optimizer = optimizer,
          .attention = attention_of(row.at.software),
          .norms_in_halves = row.norms_in_halves};
}

}  // namespace

const Result<Graph>& NetworkGraphs::read(const std::string& model) {
  const auto known = read_.find(model);
  if (known != read_.end()) return known->second;
  Result<Graph> found = not_found(fmt::format("no graph of '{}' in the folder", model));
  // Model names come from the table: none may lead out of the folder.
  const bool plain = model.find('/') == std::string::npos && model.find("..") == std::string::npos && !model.empty();
  for (const char* extension : {".onnx", ".jcg"}) {
    const std::string path = folder_ + "/" + model + extension;
    if (!plain || !std::filesystem::is_regular_file(path)) continue;
    found = import_model(path).map([](Graph graph) { return simplify(std::move(graph)); });
    break;
  }
  return read_.emplace(model, std::move(found)).first->second;
}

const Result<Graph>& NetworkGraphs::graph(const MeasuredNetwork& row) {
  if (row.at.mode == Mode::kTraining) {  // other heads, or the dropout that files of inference do not have
    const Result<Graph>& trained = read(row.model + "_training");
    if (trained) return trained;
  }
  const Result<Graph>& plain = read(row.model);
  if (!row.image_size || (plain && fits(*plain, row))) return plain;
  const Result<Graph>& sized = read(fmt::format("{}_{}", row.model, *row.image_size));
  return sized ? sized : plain;
}

Result<Workload> NetworkGraphs::workload(const MeasuredNetwork& row) {
  if (row.gpu_count != 1) return unsupported("several GPUs");
  const std::optional<Optimizer> optimizer = row.optimizer.empty() ? Optimizer::kSgd : parse_optimizer(row.optimizer);
  if (!optimizer) return unsupported(fmt::format("optimizer '{}'", row.optimizer));
  if (!row.at.runtime) return no_host_model(row.at);
  if (is_layer(row)) {
    JC_ASSIGN_OR_RETURN(const Graph layer, layer_graph(row));
    return prepare(layer, {}, options_of(row, *optimizer));
  }
  const Result<Graph>& network = graph(row);
  if (!network) return tl::unexpected(network.error());
  JC_RETURN_IF_ERROR(check_sizes(*network, row));
  JC_RETURN_IF_ERROR(check_same_network(*network, row));
  JC_ASSIGN_OR_RETURN(Workload load, prepare(*network, binding_of(*network, row), options_of(row, *optimizer)));
  if (row.batch && load.batch != *row.batch)
    return unsupported(
        fmt::format("the graph of '{}' is fixed to a batch of {}, not {}", row.model, load.batch, *row.batch));
  return load;
}

}  // namespace joulecast
