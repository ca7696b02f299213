// SPDX-License-Identifier: Apache-2.0
// While and If: functions become bodies. A loop over time that is an LSTM or GRU becomes that (rnn.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "import/tensorflow/loop_roles.h"
#include "import/tensorflow/lowerings.h"
#include "import/tensorflow/rnn.h"

namespace joulecast::tensorflow {
namespace {

class LoopMaker {
 public:
  LoopMaker(NodeContext& node, const FunctionView& condition, const FunctionView& body)
      : node_(node), condition_(condition), body_(body), inner_(std::make_unique<Canvas>(&node.canvas())) {}

  Result<void> run() {
    roles_ = loop_roles(body_);
    for (std::size_t i = 0; i < node_.input_count(); ++i) {
      // A list that the body reads and writes at will, or a variable that it replaces.
      if (roles_[i] == LoopRole::kState && !node_.input(i).is_tensor()) return node_.opaque();
    }
    const auto limit = loop_limit(condition_, roles_);
    if (!limit || (!limit->constant && !node_.input(limit->variable).is_tensor())) return node_.opaque();
    add_body_inputs();
    JC_ASSIGN_OR_RETURN(const std::vector<Tensor> returns,
                        node_.importer().lower_body(body_, arguments_, *inner_, node_.scope()));
    JC_RETURN_IF_ERROR(add_body_outputs(returns));
    return emit(limit->constant ? node_.int_scalar(*limit->constant) : node_.value(limit->variable));
  }

 private:
  // Iteration, condition and states come first; what the body captures is added while it is lowered.
  void add_body_inputs() {
    const SampleTypes index{TensorType{ElementType::kInt32, {}}, TensorType{ElementType::kInt32, {}}};
    const SampleTypes truth{TensorType{ElementType::kBool, {}}, TensorType{ElementType::kBool, {}}};
    iteration_ = inner_->add_input("iteration", GraphInput{kNoValue, ElementType::kInt32, {}}, &index);
    condition_value_ = inner_->add_input("condition", GraphInput{kNoValue, ElementType::kBool, {}}, &truth);
    arguments_.resize(node_.input_count());
    for (std::size_t i = 0; i < node_.input_count(); ++i) {
      if (roles_[i] != LoopRole::kState) continue;
      states_.push_back(node_.value(i));
      arguments_[i] = Tensor::value(add_inner(i, Tensor::value(states_.back())));
    }
    for (std::size_t i = 0; i < node_.input_count(); ++i) {
      if (roles_[i] == LoopRole::kCounter) arguments_[i] = Tensor::value(iteration_);
      if (roles_[i] == LoopRole::kInvariant) arguments_[i] = captured(i);
      if (roles_[i] == LoopRole::kFilled) arguments_[i].kind = Tensor::Kind::kList;
    }
  }

  ValueId add_inner(std::size_t i, const Tensor& outside) {
    GraphInput input{kNoValue, node_.canvas().element(outside), {}};
    const auto types = node_.canvas().types(outside);
    return inner_->add_input(body_.inputs[i].name, std::move(input), types ? &*types : nullptr);
  }

  // Constants and variables are the same inside; values become inputs of the body.
  Tensor captured(std::size_t i) {
    Tensor tensor = node_.input(i);
    if (tensor.id == kNoValue) return tensor;
    Tensor outside = tensor;
    outside.kind = Tensor::Kind::kValue;
    const ValueId inside = add_inner(i, outside.layout.plain() ? outside : Tensor::value(node_.value(i)));
    inner_->captures.emplace_back(Tensor::value(node_.canvas().plain(outside)), inside);
    tensor.id = inside;
    tensor.layout = {};
    return tensor;
  }

  Result<void> add_body_outputs(const std::vector<Tensor>& returns) {
    std::vector<ValueId>& outputs = inner_->builder.graph.outputs;
    outputs.push_back(condition_value_);
    for (std::size_t i = 0; i < returns.size(); ++i) {
      if (roles_[i] == LoopRole::kState) outputs.push_back(inner_->plain(returns[i]));
    }
    for (std::size_t i = 0; i < returns.size(); ++i) {
      if (roles_[i] != LoopRole::kFilled) continue;
      if (returns[i].item == kNoValue) return unsupported("the loop fills a list in a way that we cannot follow");
      outputs.push_back(returns[i].item);
    }
    if (std::find(outputs.begin(), outputs.end(), kNoValue) != outputs.end()) {
      return unsupported("the loop changes something that is no tensor");
    }
    return {};
  }

  Result<void> emit(ValueId trips) {
    std::vector<ValueId> inputs{trips, kNoValue};
    inputs.insert(inputs.end(), states_.begin(), states_.end());
    for (const auto& [outside, inside] : inner_->captures) inputs.push_back(outside.id);
    Graph& graph = node_.canvas().builder.graph;
    const Loop op{static_cast<std::uint32_t>(graph.bodies.size()), static_cast<std::int64_t>(states_.size())};
    const std::size_t outputs = inner_->builder.graph.outputs.size() - 1;
    graph.bodies.push_back(std::move(inner_->builder.graph));
    const auto ids = node_.steps(op, std::move(inputs), outputs, "loop");
    std::size_t next = 0;
    for (const LoopRole role : {LoopRole::kState, LoopRole::kFilled}) {
      for (std::size_t i = 0; i < roles_.size(); ++i) {
        if (roles_[i] != role) continue;
        Tensor tensor = Tensor::value(ids[next++]);
        if (role == LoopRole::kFilled) tensor.kind = Tensor::Kind::kList;
        JC_RETURN_IF_ERROR(node_.output(i, tensor));
      }
    }
    for (std::size_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i] == LoopRole::kInvariant) JC_RETURN_IF_ERROR(node_.output(i, node_.input(i)));
      if (roles_[i] == LoopRole::kCounter) JC_RETURN_IF_ERROR(node_.output(i, Tensor::value(trips)));
    }
    return {};
  }

  NodeContext& node_;
  const FunctionView& condition_;
  const FunctionView& body_;
  std::unique_ptr<Canvas> inner_;
  std::vector<LoopRole> roles_;
  std::vector<Tensor> arguments_;
  std::vector<ValueId> states_;
  ValueId iteration_ = kNoValue, condition_value_ = kNoValue;
};

}  // namespace

Result<void> lower_while(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const FunctionView* condition, node.function("cond"));
  JC_ASSIGN_OR_RETURN(const FunctionView* body, node.function("body"));
  const std::size_t variables = node.input_count();
  if (condition->inputs.size() != variables || body->inputs.size() != variables || body->outputs.size() != variables) {
    return invalid(fmt::format("condition and body of a loop of {} variables take {} and {} and return {}", variables,
                               condition->inputs.size(), body->inputs.size(), body->outputs.size()));
  }
  JC_RETURN_IF_ERROR(node.importer().count_work(variables * (body->nodes.size() + condition->nodes.size() + 1)));
  if (const auto layer = find_rnn(node, *body)) return emit_rnn(node, *layer);
  if (std::string told = steps_told(node, *body); !told.empty()) node.importer().note(std::move(told));
  return lower_loop(node, *condition, *body);
}

Result<void> lower_loop(NodeContext& node, const FunctionView& condition, const FunctionView& body) {
  return LoopMaker(node, condition, body).run();
}

namespace {

struct Branch {
  Graph graph;
  std::vector<ValueId> captures;
};

// A branch takes nothing but what it captures.
Result<Branch> make_branch(NodeContext& node, const FunctionView& function) {
  Canvas inner(&node.canvas());
  std::vector<Tensor> arguments;
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    Tensor tensor = node.input(i);
    if (tensor.id != kNoValue) {
      const Tensor outside = Tensor::value(node.canvas().plain(Tensor::value(tensor.id, tensor.layout)));
      const auto types = node.canvas().types(outside);
      GraphInput input{kNoValue, node.canvas().element(outside), {}};
      tensor.id = inner.add_input(node.output_name(0) + "/input", std::move(input), types ? &*types : nullptr);
      tensor.layout = {};
      inner.captures.emplace_back(outside, tensor.id);
    }
    arguments.push_back(tensor);
  }
  JC_ASSIGN_OR_RETURN(const auto outputs,
                      node.importer().lower_body(function, std::move(arguments), inner, node.scope()));
  Branch out;
  for (const Tensor& tensor : outputs) {
    const ValueId id = inner.plain(tensor);
    if (id == kNoValue) return unsupported("a branch returns something that is no tensor");
    inner.builder.graph.outputs.push_back(id);
  }
  for (const auto& [outside, inside] : inner.captures) out.captures.push_back(outside.id);
  out.graph = std::move(inner.builder.graph);
  return out;
}

}  // namespace

// condition, arguments of both branches.
Result<void> lower_if(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const FunctionView* then_function, node.function("then_branch"));
  JC_ASSIGN_OR_RETURN(const FunctionView* else_function, node.function("else_branch"));
  JC_ASSIGN_OR_RETURN(Branch yes, make_branch(node, *then_function));
  JC_ASSIGN_OR_RETURN(Branch no, make_branch(node, *else_function));
  const std::size_t outputs = yes.graph.outputs.size();
  if (outputs != no.graph.outputs.size() || outputs == 0)
    return invalid("the branches return different numbers of tensors");
  std::vector<ValueId> inputs{node.value(0)};
  inputs.insert(inputs.end(), yes.captures.begin(), yes.captures.end());
  inputs.insert(inputs.end(), no.captures.begin(), no.captures.end());
  Graph& graph = node.canvas().builder.graph;
  const auto first = static_cast<std::uint32_t>(graph.bodies.size());
  graph.bodies.push_back(std::move(yes.graph));
  graph.bodies.push_back(std::move(no.graph));
  return node.emit(If{first, first + 1, static_cast<std::int64_t>(yes.captures.size())}, std::move(inputs), {},
                   outputs);
}

}  // namespace joulecast::tensorflow
