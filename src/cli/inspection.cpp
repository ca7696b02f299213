// SPDX-License-Identifier: Apache-2.0
#include "cli/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "graph/walk.h"

namespace joulecast::cli {
namespace {

constexpr std::int64_t kAssumedImage = 224;
constexpr std::int64_t kAssumedLength = 128;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool contains_any(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return text.find(w) != std::string::npos; });
}

// By its name first: exporters name what is not the batch. Then by its place.
std::int64_t assumed_extent(const UnboundDimension& dimension) {
  const std::string name = lower(dimension.symbol);
  if (contains_any(name, {"batch"}) || name == "n" || name == "b") return 1;
  if (contains_any(name, {"height", "width"}) || name == "h" || name == "w") return kAssumedImage;
  if (contains_any(name, {"seq", "len", "time", "token"})) return kAssumedLength;
  return dimension.axis == 0 ? 1 : kAssumedLength;
}

void collect_tensors(const Graph& graph, const TypeTable& types, std::vector<NamedTensor>& out) {
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    out.push_back({value.name, value.kind, types.type(ValueId{static_cast<std::uint32_t>(i)})});
  }
  for (std::size_t i = 0; i < graph.bodies.size(); ++i) collect_tensors(graph.bodies[i], types.body(i), out);
}

std::vector<NamedTensor> largest_tensors(const Graph& graph, const TypeTable& types, std::size_t top) {
  std::vector<NamedTensor> all;
  collect_tensors(graph, types, all);
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

std::vector<Assumption> assume_open_dimensions(const Graph& graph, Binding& binding) {
  std::vector<Assumption> out;
  for (UnboundDimension& dimension : unbound_dimensions(graph, binding)) {
    const std::int64_t extent = assumed_extent(dimension);
    binding.symbols[dimension.symbol] = extent;
    out.push_back({std::move(dimension), extent});
  }
  return out;
}

Inspection inspect(const Graph& graph, const TypeTable& types, std::size_t top) {
  Inspection out;
  out.graph = graph.name;
  for (const GraphInput& input : graph.inputs) {
    out.inputs.push_back({graph.value(input.value).name, ValueKind::kInput, types.type(input.value)});
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

std::string assumption_text(const Assumption& assumption, const Inspection& inspection) {
  const UnboundDimension& dimension = assumption.dimension;
  const auto input = std::find_if(inspection.inputs.begin(), inspection.inputs.end(),
                                  [&](const NamedTensor& tensor) { return tensor.name == dimension.input; });
  std::string way;
  if (dimension.axis == 0 && assumption.extent == 1) {
    way = "; set it with --batch";
  } else if (input != inspection.inputs.end()) {
    way = fmt::format("; set it with --shapes {}:{}", input->name, text(input->type.shape));
  }
  return fmt::format("dimension '{}' of input '{}' is not bound: taken as {}{}", dimension.symbol, dimension.input,
                     assumption.extent, way);
}

}  // namespace joulecast::cli
