// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/order.h"

#include <fmt/format.h>

#include <functional>
#include <queue>
#include <unordered_map>

#include "import/text.h"

namespace joulecast::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

// What a subgraph reads but does not define itself. Shadowed names may be among them: they order more than they must.
void collect_free_names(const GraphView& graph, Names& out);

void collect_reads(const NodeView& node, Names& out) {
  for (const std::string_view name : node.inputs) {
    if (!name.empty()) out.insert(name);
  }
  for (const AttributeView& attribute : node.attributes) {
    for (const GraphView& graph : attribute.graphs) collect_free_names(graph, out);
  }
}

void collect_free_names(const GraphView& graph, Names& out) {
  Names reads;
  for (const NodeView& node : graph.nodes) collect_reads(node, reads);
  for (const ValueInfoView& output : graph.outputs) reads.insert(output.name);
  for (const ValueInfoView& input : graph.inputs) reads.erase(input.name);
  for (const TensorView& initializer : graph.initializers) reads.erase(initializer.name);
  for (const NodeView& node : graph.nodes) {
    for (const std::string_view name : node.outputs) reads.erase(name);
  }
  out.insert(reads.begin(), reads.end());
}

class Sorter {
 public:
  explicit Sorter(std::span<const NodeView> nodes) : nodes_(nodes), readers_(nodes.size()), open_(nodes.size(), 0) {}

  Result<ExecutionOrder> run() {
    JC_RETURN_IF_ERROR(find_producers());
    for (std::size_t i = 0; i < nodes_.size(); ++i) link(i);
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (open_[i] == 0) ready.push(static_cast<std::uint32_t>(i));
    }
    while (!ready.empty()) {
      const std::uint32_t node = ready.top();
      ready.pop();
      out_.nodes.push_back(node);
      for (const std::uint32_t reader : readers_[node]) {
        if (--open_[reader] == 0) ready.push(reader);
      }
    }
    if (out_.nodes.size() < nodes_.size()) return cycle();
    return std::move(out_);
  }

 private:
  Result<void> find_producers() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (const std::string_view name : nodes_[i].outputs) {
        if (name.empty() || producers_.emplace(name, static_cast<std::uint32_t>(i)).second) continue;
        return invalid(fmt::format("{}: output '{}' is produced twice, first by {}", label(nodes_[i], i),
                                   printable(name), label(nodes_[producers_[name]], producers_[name])));
      }
    }
    return {};
  }

  void link(std::size_t i) {
    Names reads;
    collect_reads(nodes_[i], reads);
    for (const std::string_view name : reads) {
      out_.used.insert(name);
      const auto producer = producers_.find(name);
      if (producer == producers_.end()) continue;
      readers_[producer->second].push_back(static_cast<std::uint32_t>(i));
      ++open_[i];
    }
  }

  // From a node that never became ready, walk against the edges through others like it until one comes again.
  [[nodiscard]] tl::unexpected<Error> cycle() const {
    std::size_t at = 0;
    while (open_[at] == 0) ++at;
    std::vector<bool> seen(nodes_.size(), false);
    while (!seen[at]) {
      seen[at] = true;
      at = stuck_producer(at);
    }
    return invalid(fmt::format("{}: its inputs depend on its own output (a cycle)", label(nodes_[at], at)));
  }

  [[nodiscard]] std::size_t stuck_producer(std::size_t i) const {
    Names reads;
    collect_reads(nodes_[i], reads);
    for (const std::string_view name : reads) {
      const auto producer = producers_.find(name);
      if (producer != producers_.end() && open_[producer->second] > 0) return producer->second;
    }
    return i;
  }

  std::span<const NodeView> nodes_;
  std::unordered_map<std::string_view, std::uint32_t> producers_;
  std::vector<std::vector<std::uint32_t>> readers_;
  std::vector<std::uint32_t> open_;  // inputs whose producers have not run yet
  ExecutionOrder out_;
};

}  // namespace

std::string label(const NodeView& node, std::size_t index) {
  const std::string op = printable(node.op_type);
  if (!node.name.empty()) return fmt::format("node '{}' ({})", printable(node.name), op);
  return fmt::format("node {} ({})", index, op);
}

Result<ExecutionOrder> execution_order(std::span<const NodeView> nodes) {
  return Sorter(nodes).run();
}

}  // namespace joulecast::onnx
