// SPDX-License-Identifier: Apache-2.0
#include "cli/inspection.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "graph/walk.h"
#include "joulecast/passes.h"

namespace joulecast::cli {
namespace {

// Of the graph and the bodies that run: a body that a known condition rules out has no types.
std::vector<NamedTensor> all_tensors(const Graph& graph, const TypeTable& types) {
  std::vector<NamedTensor> out;
  std::set<const Graph*> seen;
  const auto collect = [&](const Graph& part, const TypeTable& part_types) {
    if (!seen.insert(&part).second) return;
    for (std::size_t i = 0; i < part.values.size(); ++i) {
      const Value& value = part.values[i];
      out.push_back({value.name, value.kind, part_types.type(ValueId{static_cast<std::uint32_t>(i)})});
    }
  };
  collect(graph, types);
  for_each_operation(graph, types, [&](const Visit& visit) { collect(visit.graph, visit.types); });
  return out;
}

std::vector<NamedTensor> largest_tensors(const Graph& graph, const TypeTable& types, std::size_t top) {
  std::vector<NamedTensor> all = all_tensors(graph, types);
  const auto larger = [](const NamedTensor& a, const NamedTensor& b) {
    const double x = a.type.bytes().value();
    const double y = b.type.bytes().value();
    return x != y ? x > y : a.name < b.name;
  };
  const std::size_t count = std::min(top, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(), larger);
  all.resize(count);
  return all;
}

// All but the parameters: these are counted once, however often an operator runs.
void add(KindTotal& total, const Cost& cost, std::int64_t times) {
  const auto factor = static_cast<double>(times);
  total.count += times;
  total.cost.forward_flops += cost.forward_flops * factor;
  total.cost.backward_flops += cost.backward_flops * factor;
  total.cost.forward_read += cost.forward_read * factor;
  total.cost.forward_written += cost.forward_written * factor;
  total.cost.backward_read += cost.backward_read * factor;
  total.cost.backward_written += cost.backward_written * factor;
}

bool dearer(const KindTotal& a, const KindTotal& b) {
  if (a.cost.forward_flops != b.cost.forward_flops) return a.cost.forward_flops > b.cost.forward_flops;
  if (forward_bytes(a.cost) != forward_bytes(b.cost)) return forward_bytes(a.cost) > forward_bytes(b.cost);
  return std::pair(-a.count, std::string_view(a.kind)) < std::pair(-b.count, std::string_view(b.kind));
}

// A weight that several operators of one kind share is counted once.
class KindCounter {
 public:
  void visit(const Visit& visit) {
    const CostContext context(visit.graph, visit.node, visit.types);
    const bool known = !std::holds_alternative<Opaque>(visit.node.op);
    Entry& entry = kinds_[{label(visit.node.op), known}];
    add(entry.total, operator_cost(context), visit.repetitions);
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      // Whoever asks for a weight's shape does not read the weight.
      if (!context.is_parameter(i) || std::holds_alternative<ShapeOf>(visit.node.op)) continue;
      if (!entry.seen.emplace(&visit.graph, index(visit.node.inputs[i])).second) continue;
      entry.total.cost.parameters += context.input(i).bytes();
      if (!is_statistic(visit.node, i)) entry.total.cost.parameter_count += context.input(i).elements();
    }
    guessed_ = guessed_ || !visit.repetitions_known;
  }

  // True where a loop's trip count depends on data.
  [[nodiscard]] bool guessed_repetitions() const { return guessed_; }

  std::vector<KindTotal> take() {
    std::vector<KindTotal> out;
    for (auto& [key, entry] : kinds_) {
      entry.total.kind = key.first;
      entry.total.known = key.second;
      out.push_back(std::move(entry.total));
    }
    std::sort(out.begin(), out.end(), dearer);
    return out;
  }

 private:
  struct Entry {
    KindTotal total;
    std::set<std::pair<const Graph*, std::size_t>> seen;
  };
  std::map<std::pair<std::string, bool>, Entry> kinds_;
  bool guessed_ = false;
};

}  // namespace

Bytes forward_bytes(const Cost& cost) {
  return cost.forward_read + cost.forward_written;
}

Inspection inspect(const Graph& graph, const TypeTable& types, std::size_t top) {
  Inspection out;
  out.graph = graph.name;
  for (const GraphInput& input : graph.inputs) {
    out.inputs.push_back({graph.value(input.value).name, ValueKind::kInput, types.type(input.value)});
  }
  for (const ValueId id : graph.outputs) {
    out.outputs.push_back({graph.value(id).name, graph.value(id).kind, types.type(id)});
  }
  KindCounter counter;
  for_each_operation(graph, types, [&](const Visit& visit) { counter.visit(visit); });
  out.kinds = counter.take();
  for (const KindTotal& kind : out.kinds) out.total.count += kind.count;
  out.total.cost = total_cost(graph, types);
  out.largest = largest_tensors(graph, types, top);
  for (const GraphNote& note : graph.notes) out.notes.push_back(note.text);
  if (counter.guessed_repetitions()) {
    out.notes.emplace_back("how often a loop runs depends on data: it is counted as running once");
  }
  return out;
}

tl::expected<Inspection, Failure> inspected(const InspectionRequest& request, const std::string& model, Graph graph) {
  JC_ASSIGN_OR_FAIL(Binding bound, binding(request.shapes));
  if (!request.as_written) graph = simplify(std::move(graph));
  JC_ASSIGN_OR_FAIL(std::vector<Assumption> assumed, assume_open_dimensions(graph, bound));
  auto types = infer_types(graph, bound);
  if (!types) return tl::unexpected(misfit(std::move(types).error(), model, graph, bound));
  Inspection out = inspect(graph, *types, request.top);
  out.model = model;
  out.assumed = std::move(assumed);
  return out;
}

}  // namespace joulecast::cli
