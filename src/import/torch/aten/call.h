// SPDX-License-Identifier: Apache-2.0
// One call of an ATen operator, as the lowerings see it: typed arguments by the names of the operator's schema, and
// ways to add operators to the graph. Wrong kinds of arguments are errors that name them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/builder.h"
#include "import/torch/aten/argument.h"
#include "joulecast/result.h"

namespace joulecast::aten {

// What is known of an output before the operator is lowered.
struct Output {
  std::string name;
  std::optional<TensorType> declared;  // extents that the file does not tell are -1
  bool used = true;                    // false only where certain
};

class Call {
 public:
  // `parameters` are the names of the operator's schema, "self, dim|other, keepdim"; `a|b` are two names of one place.
  Call(GraphBuilder& builder, std::string target, std::string_view parameters, std::vector<Output> outputs);

  // Filled by the importers. A name the schema does not have is left out: a setting of a newer version.
  Result<void> set_positional(std::size_t place, Argument argument);
  void set_named(std::string_view name, Argument argument);
  std::string node_name;

  // Of that place in the schema, "dim|other"; empty beyond it.
  [[nodiscard]] std::string_view parameter(std::size_t place) const {
    return place < parameters_.size() ? parameters_[place] : std::string_view{};
  }

  // "aten.conv2d.default"
  [[nodiscard]] const std::string& target() const { return target_; }

  // Arguments. None and absent ones are the same.
  [[nodiscard]] bool has(std::string_view name) const;
  template <typename T>
  [[nodiscard]] bool is(std::string_view name) const {
    return std::holds_alternative<T>(argument(name));
  }
  [[nodiscard]] Result<ValueId> tensor(std::string_view name) const;
  [[nodiscard]] Result<ValueId> optional_tensor(std::string_view name) const;  // kNoValue where absent
  [[nodiscard]] Result<std::vector<ValueId>> tensors(std::string_view name) const;
  [[nodiscard]] Result<Integer> integer(std::string_view name, std::int64_t absent) const;
  [[nodiscard]] Result<std::int64_t> number(std::string_view name, std::int64_t absent) const;  // symbolic: unsupported
  [[nodiscard]] Result<std::int64_t> number(std::string_view name) const;
  // One integer is a list of one; empty where absent.
  [[nodiscard]] Result<std::vector<Integer>> integers(std::string_view name) const;
  [[nodiscard]] Result<IntList> numbers(std::string_view name) const;  // symbolic ones: unsupported
  [[nodiscard]] Result<double> real(std::string_view name, double absent) const;
  [[nodiscard]] Result<std::vector<double>> reals(std::string_view name) const;
  [[nodiscard]] Result<bool> flag(std::string_view name, bool absent) const;
  [[nodiscard]] Result<std::string_view> text(std::string_view name, std::string_view absent) const;
  [[nodiscard]] Result<ElementType> element(std::string_view name, ElementType absent) const;
  // A tensor, or a number as a scalar constant of the element type that goes with `like`.
  Result<ValueId> operand(std::string_view name, ValueId like);
  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view name, std::string_view what) const;

  // What is known of a value.
  [[nodiscard]] const Guess& guess(ValueId id) const { return builder_.guess(id); }
  [[nodiscard]] Result<std::size_t> rank(ValueId id) const;  // unknown: unsupported
  [[nodiscard]] const TensorType* type(ValueId id) const { return builder_.type(id); }
  [[nodiscard]] const Contents* known(ValueId id) const { return id == kNoValue ? nullptr : builder_.known(id); }
  [[nodiscard]] std::optional<std::int64_t> known_extent(ValueId x, std::size_t axis) const;
  [[nodiscard]] const GraphBuilder& builder() const { return builder_; }

  // Outputs.
  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  [[nodiscard]] bool used(std::size_t i) const { return i < outputs_.size() && outputs_[i].used; }
  [[nodiscard]] bool any_used_after(std::size_t first) const;
  [[nodiscard]] const std::optional<TensorType>& declared(std::size_t i) const { return outputs_[i].declared; }
  // Filled by the lowering: one an output, kNoValue where nothing was made.
  [[nodiscard]] const std::vector<ValueId>& results() const { return results_; }

  // The last operator: its outputs are the call's.
  Result<void> emit(Operator op, std::vector<ValueId> inputs, std::size_t outputs = 1);
  // Output i as output 0 of an operator of its own.
  Result<void> emit_output(std::size_t i, Operator op, std::vector<ValueId> inputs);
  // An operator in between.
  ValueId step(Operator op, std::vector<ValueId> inputs, std::string_view suffix);
  std::vector<ValueId> steps(Operator op, std::vector<ValueId> inputs, std::size_t outputs, std::string_view suffix);
  // Output i is a value that is already there.
  Result<void> alias(std::size_t i, ValueId id);
  // The operator under its own name, with all tensors among its arguments.
  Result<void> opaque();

  ValueId int_vector(const IntList& values);
  ValueId int_scalar(std::int64_t value);
  ValueId real_vector(std::vector<double> values);
  ValueId real_scalar(double value, ElementType element = ElementType::kFloat32);
  // A scalar, a vector of the list's length.
  ValueId scalar(const Integer& value);
  ValueId vector(const std::vector<Integer>& values);
  // What follows from constants alone as one.
  ValueId folded(ValueId id, std::string_view suffix);
  // The extent of an axis counted from the front, as a scalar.
  ValueId extent(ValueId x, std::size_t axis);

  void note(std::string text) { notes_.insert(std::move(text)); }
  [[nodiscard]] const std::set<std::string>& notes() const { return notes_; }

 private:
  [[nodiscard]] const Argument& argument(std::string_view name) const;
  [[nodiscard]] std::vector<ValueId> all_tensors() const;
  ValueId constant(std::string_view suffix, const TensorType& type, Contents contents);
  ValueId add_output(std::size_t i, const Operator& op, const std::vector<ValueId>& inputs, std::size_t of_op);
  void add_node(Operator op, std::vector<ValueId> inputs, std::vector<ValueId> outputs);
  [[nodiscard]] std::optional<TensorType> opaque_type(std::size_t i, ValueId first) const;

  GraphBuilder& builder_;
  std::string target_;
  std::vector<std::string_view> parameters_;
  std::vector<Argument> arguments_;  // one a parameter
  std::vector<Output> outputs_;
  std::vector<ValueId> results_;
  std::set<std::string> notes_;
};

}  // namespace joulecast::aten
