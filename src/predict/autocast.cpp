// SPDX-License-Identifier: Apache-2.0
#include "predict/autocast.h"

#include <map>
#include <utility>

namespace joulecast {
namespace {

enum class Rule : std::uint8_t {
  kHalf,     // inputs are cast to halves
  kFloat,    // inputs are cast to FP32
  kWiden,    // reads halves itself and answers in FP32
  kPromote,  // the widest input decides
  kSame,     // as the first input
};

Rule rule_of(const Unary& op) {
  switch (op.kind) {
    case UnaryKind::kExp:
    case UnaryKind::kLog:
    case UnaryKind::kRsqrt:
    case UnaryKind::kReciprocal:
    case UnaryKind::kTan:
    case UnaryKind::kAsin:
    case UnaryKind::kAcos:
    case UnaryKind::kSinh:
    case UnaryKind::kCosh:
    case UnaryKind::kLog1p:
    case UnaryKind::kExpm1:
    case UnaryKind::kSquare:  // x ** 2 in the sources
      return Rule::kFloat;
    default:
      return Rule::kSame;
  }
}

Rule rule_of(const Reduce& op) {
  const bool float_only = op.kind == ReduceKind::kSum || op.kind == ReduceKind::kProd || op.kind == ReduceKind::kL1 ||
                          op.kind == ReduceKind::kL2 || op.kind == ReduceKind::kSumSquare;
  return float_only ? Rule::kFloat : Rule::kSame;
}

struct RuleVisitor {
  Rule of_norms;

  Rule operator()(const Conv&) const { return Rule::kHalf; }
  Rule operator()(const Linear&) const { return Rule::kHalf; }
  Rule operator()(const MatMul&) const { return Rule::kHalf; }
  Rule operator()(const Attention&) const { return Rule::kHalf; }
  Rule operator()(const Rnn&) const { return Rule::kHalf; }
  Rule operator()(const LayerNorm&) const { return of_norms; }
  Rule operator()(const GroupNorm&) const { return of_norms; }
  Rule operator()(const RmsNorm&) const { return Rule::kFloat; }
  Rule operator()(const Softmax&) const { return Rule::kWiden; }
  Rule operator()(const Cumulate&) const { return Rule::kFloat; }
  Rule operator()(const Resize&) const { return Rule::kFloat; }
  Rule operator()(const Unary& op) const { return rule_of(op); }
  Rule operator()(const Reduce& op) const { return rule_of(op); }
  Rule operator()(const Activation& op) const {
    return op.kind == ActivationKind::kSoftplus ? Rule::kFloat : Rule::kSame;
  }
  Rule operator()(const Binary& op) const { return op.kind == BinaryKind::kPow ? Rule::kFloat : Rule::kPromote; }
  Rule operator()(const Where&) const { return Rule::kPromote; }
  Rule operator()(const Concat&) const { return Rule::kPromote; }
  template <typename Op>
  Rule operator()(const Op&) const {
    return Rule::kSame;
  }
};

// Follows element types through the nodes in their order and puts casts where they are needed. Only "FP32" and "half"
// matter; every other type passes through untouched.
class Autocast {
 public:
  Autocast(const Graph& graph, ElementType half, Rule of_norms) : out_(graph), half_(half), of_norms_(of_norms) {
    nodes_ = std::exchange(out_.nodes, {});
    elements_.resize(out_.values.size(), ElementType::kUnknown);
    for (std::size_t i = 0; i < out_.values.size(); ++i) elements_[i] = out_.values[i].type.element;
    for (const GraphInput& input : out_.inputs) elements_[index(input.value)] = input.element;
  }

  Graph run() && {
    for (Node& node : nodes_) add(std::move(node));
    return std::move(out_);
  }

 private:
  [[nodiscard]] ElementType element(ValueId id) const {
    return id == kNoValue ? ElementType::kUnknown : elements_[index(id)];
  }

  void add(Node node) {
    const Rule rule = std::visit(RuleVisitor{of_norms_}, node.op);
    if (rule == Rule::kHalf) cast_inputs(node, ElementType::kFloat32, half_);
    if (rule == Rule::kFloat) cast_inputs(node, half_, ElementType::kFloat32);
    if (auto* softmax = std::get_if<Softmax>(&node.op)) softmax->in_float = true;
    const ElementType result = result_of(node, rule);
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) elements_[index(id)] = result;
    }
    out_.nodes.push_back(std::move(node));
  }

  [[nodiscard]] ElementType result_of(const Node& node, Rule rule) const {
    if (const auto* cast = std::get_if<Cast>(&node.op)) return cast->to;
    if (std::holds_alternative<ShapeOf>(node.op)) return ElementType::kInt64;
    if (rule == Rule::kWiden) return ElementType::kFloat32;
    ElementType first = ElementType::kUnknown;
    for (std::size_t i = std::holds_alternative<Where>(node.op) ? 1 : 0; i < node.inputs.size(); ++i) {
      const ElementType next = element(node.inputs[i]);
      if (first == ElementType::kUnknown) first = next;
      // A number without axes takes part in no promotion.
      const bool scalar = node.inputs[i] != kNoValue && out_.value(node.inputs[i]).kind == ValueKind::kConstant &&
                          out_.value(node.inputs[i]).type.shape.empty();
      if (rule == Rule::kPromote && next == ElementType::kFloat32 && !scalar) return next;
      if (rule == Rule::kPromote && next == half_) first = half_;
    }
    return first;
  }

  void cast_inputs(Node& node, ElementType from, ElementType to) {
    for (ValueId& id : node.inputs) {
      if (element(id) == from) id = cast(id, to, node.name);
    }
  }

  ValueId cast(ValueId id, ElementType to, const std::string& reader) {
    const bool remembered = out_.value(id).kind == ValueKind::kParameter;
    if (const auto known = casts_.find(id); remembered && known != casts_.end()) return known->second;
    const ValueId result = out_.add_value({.name = out_.value(id).name + ".cast" + std::to_string(out_.values.size()),
                                           .kind = ValueKind::kComputed,
                                           .type = {},
                                           .contents = {}});
    elements_.push_back(to);
    out_.nodes.push_back({.op = Cast{to}, .inputs = {id}, .outputs = {result}, .name = reader});
    if (remembered) casts_[id] = result;
    return result;
  }

  Graph out_;
  ElementType half_;
  Rule of_norms_;
  std::vector<Node> nodes_;
  std::vector<ElementType> elements_;  // by value
  std::map<ValueId, ValueId> casts_;   // of parameters
};

}  // namespace

Graph autocast(const Graph& graph, ElementType half, ElementType norms) {
  return Autocast(graph, half, norms == half ? Rule::kHalf : Rule::kFloat).run();
}

}  // namespace joulecast
