// SPDX-License-Identifier: Apache-2.0
// Branches and loops. Paddle 3 gives their blocks arguments and what they yield; Paddle 2's blocks write variables of
// the block around them, and a branch is two of them, of which select_input takes what the one that ran has written.
#include <fmt/format.h>

#include <algorithm>

#include "import/paddle/importer.h"
#include "import/text.h"

namespace joulecast::paddle {
namespace {

std::vector<VariableId> variables_of(const std::vector<Slot>& slots) {
  std::vector<VariableId> out;
  for (const Slot& slot : slots) out.insert(out.end(), slot.variables.begin(), slot.variables.end());
  return out;
}

bool contains(const std::vector<VariableId>& list, VariableId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

}  // namespace

Result<void> Importer::enter(Scope& inner, GraphBuilder& builder, Scope& outer) {
  inner.builder = &builder;
  inner.outer = &outer;
  inner.depth = outer.depth + 1;
  if (inner.depth >= kMaxBodyDepth) return unsupported("branches and loops nested too deep");
  return {};
}

Result<void> Importer::fill_body(std::uint32_t block, const std::vector<VariableId>& results, Scope& inner) {
  JC_RETURN_IF_ERROR(run_block(program_.blocks[block], inner));
  std::vector<ValueId> made = inner.yielded;
  for (std::size_t i = 0; made.empty() && i < results.size(); ++i) {
    JC_ASSIGN_OR_RETURN(const ValueId id, value(results[i], inner));
    inner.yielded.push_back(id);
  }
  for (const ValueId id : inner.yielded) {
    if (id == kNoValue) return unsupported("a block gives what is computed by no operator");
  }
  inner.builder->graph.outputs = inner.yielded;
  return {};
}

Importer::Body Importer::keep_body(Scope& inner) {
  std::vector<Graph>& bodies = inner.outer->builder->graph.bodies;
  Body out{static_cast<std::uint32_t>(bodies.size()), std::move(inner.captures)};
  bodies.push_back(std::move(inner.builder->graph));
  return out;
}

Result<Importer::Body> Importer::branch(std::uint32_t block, const std::vector<VariableId>& results, Scope& scope) {
  GraphBuilder builder;
  Scope inner;
  JC_RETURN_IF_ERROR(enter(inner, builder, scope));
  JC_RETURN_IF_ERROR(fill_body(block, results, inner));
  if (builder.graph.outputs.size() != results.size()) {
    return invalid(fmt::format("a branch gives {} tensors for {}", builder.graph.outputs.size(), results.size()));
  }
  return keep_body(inner);
}

Result<void> Importer::emit_control(const Operation& op, Operator node, std::vector<ValueId> inputs,
                                    const std::vector<VariableId>& results, Scope& scope) {
  std::vector<aten::Output> outputs;
  outputs.reserve(results.size());
  for (const VariableId id : results) outputs.push_back(output_of(id, 0));
  aten::Call call(*scope.builder, printable(op.type), "", std::move(outputs));
  call.node_name = label(op);
  JC_RETURN_IF_ERROR(call.emit(std::move(node), std::move(inputs), results.size()));
  for (std::size_t i = 0; i < results.size(); ++i) scope.values[results[i]] = Item{{call.results()[i]}};
  return {};
}

Result<void> Importer::emit_if(const Operation& op, ValueId condition, const Body& yes, const Body& no,
                               const std::vector<VariableId>& results, Scope& scope) {
  std::vector<ValueId> inputs{condition};
  inputs.insert(inputs.end(), yes.captures.begin(), yes.captures.end());
  inputs.insert(inputs.end(), no.captures.begin(), no.captures.end());
  const If node{yes.index, no.index, static_cast<std::int64_t>(yes.captures.size())};
  return emit_control(op, node, std::move(inputs), results, scope);
}

Result<void> Importer::lower_if(const Operation& op, Scope& scope) {
  const std::vector<VariableId> given = variables_of(op.inputs);
  const std::vector<VariableId> results = variables_of(op.outputs);
  if (given.size() != 1 || given[0] == kNoVariable) return invalid("has no condition");
  if (results.empty()) return {};
  JC_ASSIGN_OR_RETURN(const ValueId condition, value(given[0], scope));
  JC_ASSIGN_OR_RETURN(const Body yes, branch(op.blocks[0], results, scope));
  JC_ASSIGN_OR_RETURN(const Body no, branch(op.blocks[1], results, scope));
  return emit_if(op, condition, yes, no, results, scope);
}

bool Importer::is_there(VariableId id, const Scope& scope) const {
  for (const Scope* at = &scope; at != nullptr; at = at->outer) {
    if (at->values.contains(id)) return true;
  }
  return program_.variables[id].persistable;
}

// Its results are read by select_input alone, and there is something to run.
bool Importer::waits_for_select(const Operation& op) const {
  const Slot* results = slot(op.outputs, "Out");
  if (op.type != "conditional_block" || op.blocks.size() != 1 || results == nullptr) return false;
  return std::none_of(results->variables.begin(), results->variables.end(),
                      [&](VariableId id) { return id == kNoVariable || read_by_others_[id]; });
}

// Mask, and two variables: of the block that runs where it is false, then of the other. All selections between the same
// two blocks are one branch.
Result<void> Importer::lower_select(const Operation& op, const Block& block, Scope& scope) {
  const auto sources = [&](const Operation& one) -> std::pair<const Operation*, const Operation*> {
    const Slot* pair = slot(one.inputs, "X");
    if (one.type != "select_input" || pair == nullptr || pair->variables.size() != 2) return {};
    const auto no = branches_.find(pair->variables[0]);
    const auto yes = branches_.find(pair->variables[1]);
    if (no == branches_.end() || yes == branches_.end()) return {};
    return {no->second, yes->second};
  };
  const auto from = sources(op);
  const Slot* mask = slot(op.inputs, "Mask");
  if (from.first == nullptr || mask == nullptr || mask->variables.size() != 1) return lower(op, scope);
  const auto own = variables_of(op.outputs);
  if (own.size() == 1 && scope.values.contains(own[0])) return {};  // with the first of them
  constexpr std::size_t kMaxLookedAt = 20'000'000;
  looked_at_ += block.operations.size();
  if (looked_at_ > kMaxLookedAt) return unsupported("has more selections than any real model");
  std::vector<VariableId> if_false;
  std::vector<VariableId> if_true;
  std::vector<VariableId> results;
  for (const Operation& other : block.operations) {
    const auto made = variables_of(other.outputs);
    if (sources(other) != from || made.size() != 1 || made[0] == kNoVariable) continue;
    if_false.push_back(slot(other.inputs, "X")->variables[0]);
    if_true.push_back(slot(other.inputs, "X")->variables[1]);
    results.push_back(made[0]);
  }
  if (results.empty()) return invalid("has no output");
  JC_ASSIGN_OR_RETURN(const ValueId condition, value(mask->variables[0], scope));
  JC_ASSIGN_OR_RETURN(const Body yes, branch(from.second->blocks[0], if_true, scope));
  JC_ASSIGN_OR_RETURN(const Body no, branch(from.first->blocks[0], if_false, scope));
  return emit_if(op, condition, yes, no, results, scope);
}

// iteration, condition, states, captures -> condition, states.
Result<Importer::Body> Importer::loop_body(const Operation& op, VariableId condition,
                                           const std::vector<VariableId>& states, const std::vector<ValueId>& first,
                                           Scope& scope) {
  GraphBuilder builder;
  Scope inner;
  JC_RETURN_IF_ERROR(enter(inner, builder, scope));
  builder.add_input("iteration", GraphInput{{}, ElementType::kInt64, {}}, {ElementType::kInt64, 0U, false, {}});
  const ValueId holds =
      builder.add_input("condition", GraphInput{{}, ElementType::kBool, {}}, {ElementType::kBool, 0U, false, {}});
  if (program_.by_names) inner.values[condition] = Item{{holds}};
  const Block& block = program_.blocks[op.blocks[0]];
  const std::vector<VariableId>& inside = program_.by_names ? states : block.arguments;
  if (inside.size() != states.size()) {
    return invalid(fmt::format("its block has {} arguments for {} states", inside.size(), states.size()));
  }
  for (std::size_t i = 0; i < states.size(); ++i) inner.values[inside[i]] = Item{{body_input(first[i], inner)}};
  std::vector<VariableId> results{condition};
  results.insert(results.end(), states.begin(), states.end());
  JC_RETURN_IF_ERROR(fill_body(op.blocks[0], results, inner));
  if (builder.graph.outputs.size() != results.size()) {
    return invalid(fmt::format("its block gives {} tensors for a condition and {} states", builder.graph.outputs.size(),
                               states.size()));
  }
  return keep_body(inner);
}

// Paddle 2's writes its states where they are, and the condition with them.
Result<void> Importer::lower_while(const Operation& op, Scope& scope) {
  std::vector<VariableId> given = variables_of(op.inputs);
  std::vector<VariableId> states = variables_of(op.outputs);
  VariableId condition = given.empty() ? kNoVariable : given[0];
  if (program_.by_names) {
    const Slot* named = slot(op.inputs, "Condition");
    const Slot* written = slot(op.outputs, "Out");
    condition = named == nullptr || named->variables.size() != 1 ? kNoVariable : named->variables[0];
    states = written == nullptr ? std::vector<VariableId>{} : written->variables;
    // What the block writes first is nobody's state.
    std::erase_if(states, [&](VariableId id) { return id == condition || id == kNoVariable || !is_there(id, scope); });
    given = states;
  } else if (!given.empty()) {
    given.erase(given.begin());
  }
  if (condition == kNoVariable) return invalid("has no condition");
  if (given.size() != states.size() || contains(given, kNoVariable)) {
    return invalid(fmt::format("is given {} tensors for {} states", given.size(), states.size()));
  }
  std::vector<ValueId> first;
  for (const VariableId id : given) {
    JC_ASSIGN_OR_RETURN(const ValueId one, value(id, scope));
    first.push_back(one);
  }
  if (first.empty()) return {};
  std::vector<ValueId> inputs{kNoValue};
  JC_ASSIGN_OR_RETURN(const ValueId holds, value(condition, scope));
  inputs.push_back(holds);
  JC_ASSIGN_OR_RETURN(const Body body, loop_body(op, condition, states, first, scope));
  inputs.insert(inputs.end(), first.begin(), first.end());
  inputs.insert(inputs.end(), body.captures.begin(), body.captures.end());
  return emit_control(op, Loop{body.index, static_cast<std::int64_t>(states.size())}, std::move(inputs), states, scope);
}

}  // namespace joulecast::paddle
