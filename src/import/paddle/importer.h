// SPDX-License-Identifier: Apache-2.0
// Turns a program into a Graph: variables become values, every operation a call of an operator.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/builder.h"
#include "import/paddle/operators.h"
#include "import/paddle/program.h"

namespace joulecast::paddle {

// What a variable holds: a value of the graph, or a list of them. Those that nobody computes are kNoValue.
struct Item {
  std::vector<ValueId> ids;
  bool list = false;
};

// The program, or a body of it.
struct Scope {
  GraphBuilder* builder = nullptr;
  Scope* outer = nullptr;
  std::size_t depth = 0;
  std::unordered_map<VariableId, Item> values;
  std::vector<ValueId> captures;  // of the outer graph, in the order of the body's inputs
  std::vector<ValueId> yielded;
};

// nullptr where none has the name.
const Slot* slot(const std::vector<Slot>& slots, std::string_view name);

class Importer {
 public:
  explicit Importer(const Program& program);

  Result<Graph> run(std::string_view name);

 private:
  Result<void> run_block(const Block& block, Scope& scope);
  Result<void> lower(const Operation& op, Scope& scope);
  // Operations that are no operators; nothing where it is one.
  std::optional<Result<void>> lower_special(const Operation& op, Scope& scope);
  Result<void> lower_call(const Operation& op, Scope& scope);
  Result<void> add_fed(Scope& scope);
  Result<void> add_input(const Operation& op, Scope& scope);
  Result<void> add_output(const Operation& op, Scope& scope);
  Result<void> combine(const Operation& op, Scope& scope);
  Result<void> take_apart(const Operation& op, Scope& scope);
  Result<void> yield(const Operation& op, Scope& scope);
  bool add_constant(const Operation& op, Scope& scope);

  // control.cpp
  struct Body {
    std::uint32_t index = 0;
    std::vector<ValueId> captures;
  };
  Result<void> lower_if(const Operation& op, Scope& scope);
  Result<void> lower_while(const Operation& op, Scope& scope);
  Result<void> lower_select(const Operation& op, const Block& block, Scope& scope);
  [[nodiscard]] bool is_there(VariableId id, const Scope& scope) const;
  [[nodiscard]] bool waits_for_select(const Operation& op) const;
  Result<void> emit_if(const Operation& op, ValueId condition, const Body& yes, const Body& no,
                       const std::vector<VariableId>& results, Scope& scope);
  Result<void> emit_control(const Operation& op, Operator node, std::vector<ValueId> inputs,
                            const std::vector<VariableId>& results, Scope& scope);
  // A block with what it yields, or else with the last values of the variables in `results`.
  Result<Body> branch(std::uint32_t block, const std::vector<VariableId>& results, Scope& scope);
  Result<Body> loop_body(const Operation& op, VariableId condition, const std::vector<VariableId>& states,
                         const std::vector<ValueId>& first, Scope& scope);
  Result<void> fill_body(std::uint32_t block, const std::vector<VariableId>& results, Scope& inner);
  static Result<void> enter(Scope& inner, GraphBuilder& builder, Scope& outer);
  static Body keep_body(Scope& inner);

  // Arguments.
  Result<void> set_arguments(const Operation& op, const OperatorEntry* entry, aten::Call& call, Scope& scope);
  Result<aten::Argument> argument(const Slot& slot, std::string_view names, Scope& scope, aten::Call& call);
  Result<Item> items(const Slot& slot, Scope& scope);

  Result<const Item*> find(VariableId id, Scope& scope);
  Result<ValueId> value(VariableId id, Scope& scope);
  Result<Item> weight(const Variable& variable, Scope& root);
  Result<Item> capture(const Item& outer, Scope& scope);
  static ValueId body_input(ValueId outer, Scope& scope);
  Item implied_input(VariableId id, Scope& root);

  [[nodiscard]] aten::Output output_of(VariableId id, std::size_t element) const;
  [[nodiscard]] std::string label(const Operation& op) const;

  const Program& program_;
  std::vector<bool> read_, read_by_others_;  // by variable; the latter by other operations than select_input
  std::unordered_map<VariableId, const Operation*> branches_;  // blocks that wait for their select_input
  bool fed_ = false;
  std::size_t lowered_ = 0, looked_at_ = 0;
};

}  // namespace joulecast::paddle
