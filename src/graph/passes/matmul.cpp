// SPDX-License-Identifier: Apache-2.0
// torch.matmul on more than three axes, as run_decompositions() of torch.export writes it: both operands expanded to
// the same leading axes, these merged to one, bmm, and the axes parted again. One product does the same by
// broadcasting.
#include <vector>

#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

// One entry of a shape: a number, or a scalar of the graph.
struct Entry {
  std::int64_t number = 0;
  ValueId scalar = kNoValue;
  bool operator==(const Entry&) const = default;
};
using Entries = InlineVector<Entry, kMaxRank>;

bool append(const Rewriter& graph, ValueId id, Entries& out) {
  if (const Contents* known = graph.known(id)) {
    for (const std::int64_t number : known->ints) {
      if (out.full() || number < 0) return false;
      out.push_back({number, kNoValue});
    }
    return true;
  }
  const Node* unsqueeze = made_by<Unsqueeze>(graph, id);
  if (unsqueeze == nullptr || out.full() || graph.sketch(input(*unsqueeze, 0)).rank != std::size_t{0}) return false;
  out.push_back({0, unsqueeze->inputs[0]});
  return true;
}

// Empty where the shape is not put together from numbers and scalars.
Entries entries_of(const Rewriter& graph, ValueId shape) {
  Entries out;
  const Node* concat = made_by<Concat>(graph, shape);
  if (concat == nullptr) return append(graph, shape, out) ? out : Entries{};
  for (const ValueId part : concat->inputs) {
    if (!append(graph, part, out)) return {};
  }
  return out;
}

struct Operand {
  ValueId value = kNoValue;
  Entries shape;  // to which it is expanded
};

// x of reshape(expand(x)) to three axes, the last two kept.
std::optional<Operand> operand(const Rewriter& graph, ValueId id, Group& inside) {
  const Node* reshape = made_by<Reshape>(graph, id);
  const Node* expand = reshape == nullptr ? nullptr : made_by<Expand>(graph, input(*reshape, 0));
  if (expand == nullptr) return std::nullopt;
  Operand out{input(*expand, 0), entries_of(graph, input(*expand, 1))};
  const Entries merged = entries_of(graph, input(*reshape, 1));
  const std::size_t rank = out.shape.size();
  if (rank < 3 || merged.size() != 3) return std::nullopt;
  if (merged[1] != out.shape[rank - 2] || merged[2] != out.shape[rank - 1]) return std::nullopt;
  inside.add(id);
  inside.add(reshape->inputs[0]);
  return out;
}

// Whether a [lead..., m, k] and b [lead..., k, n] make [lead..., m, n].
bool fit(const Entries& a, const Entries& b, const Entries& out) {
  const std::size_t rank = a.size();
  if (b.size() != rank || out.size() != rank) return false;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (a[i] != b[i] || a[i] != out[i]) return false;
  }
  return a[rank - 1] == b[rank - 2] && out[rank - 2] == a[rank - 2] && out[rank - 1] == b[rank - 1];
}

}  // namespace

bool fold_decomposed_matmul(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const Node* matmul = as<Reshape>(node) == nullptr ? nullptr : made_by<MatMul>(graph, input(node, 0));
  if (matmul == nullptr || *as<MatMul>(*matmul) != MatMul{} || matmul->inputs.size() != 2) return false;
  Group inside;
  inside.add(node.inputs[0]);
  const auto a = operand(graph, matmul->inputs[0], inside);
  const auto b = operand(graph, matmul->inputs[1], inside);
  if (!a || !b || !fit(a->shape, b->shape, entries_of(graph, input(node, 1)))) return false;
  if (!inside.closed(graph, node)) return false;
  graph.replace(root, MatMul{}, {a->value, b->value});
  return true;
}

}  // namespace joulecast::passes
