// SPDX-License-Identifier: Apache-2.0
// Operators of joulecast's graphs as calls of PyTorch. What can be decided once is decided when a step is made; running
// it costs the call alone.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "program.h"

namespace joulecast::runner {

// The tensor of each value.
using Slots = std::vector<at::Tensor>;
using Kernel = std::function<void(Slots&)>;

enum class Mode : std::uint8_t { kInference, kTraining };

// A step in its program.
class StepContext {
 public:
  StepContext(const Program& program, const Step& step, Mode mode) : program_(program), step_(step), mode_(mode) {}

  [[nodiscard]] bool has(std::size_t i) const { return i < step_.inputs.size() && step_.inputs[i] != kAbsent; }
  [[nodiscard]] std::size_t inputs() const { return step_.inputs.size(); }
  // Slot of input i. Throws Refusal where it is not there.
  [[nodiscard]] std::size_t in(std::size_t i) const;
  [[nodiscard]] std::optional<std::size_t> optional_in(std::size_t i) const;
  [[nodiscard]] std::size_t out(std::size_t i = 0) const;
  [[nodiscard]] std::optional<std::size_t> optional_out(std::size_t i) const;
  [[nodiscard]] std::size_t outputs() const { return step_.outputs.size(); }
  [[nodiscard]] const Value& input(std::size_t i) const { return program_.value(static_cast<std::int64_t>(in(i))); }
  [[nodiscard]] const Value& output(std::size_t i = 0) const {
    return program_.value(static_cast<std::int64_t>(out(i)));
  }
  [[nodiscard]] std::int64_t rank(std::size_t i) const { return static_cast<std::int64_t>(input(i).shape.size()); }
  // Contents of input i as whole numbers. Throws Refusal where they are not known.
  [[nodiscard]] std::vector<std::int64_t> integers(std::size_t i) const;
  [[nodiscard]] std::optional<double> number(std::size_t i) const;
  [[nodiscard]] const Fields& fields() const { return step_.fields; }
  [[nodiscard]] std::string_view op() const { return step_.op; }
  [[nodiscard]] bool training() const { return mode_ == Mode::kTraining; }
  // The axis counted from the front.
  [[nodiscard]] std::int64_t axis(std::int64_t given, std::size_t i = 0) const {
    return given < 0 ? given + rank(i) : given;
  }

 private:
  const Program& program_;
  const Step& step_;
  Mode mode_;
};

// Throws Refusal where there is no such operator here, or not with these attributes.
Kernel make_kernel(const StepContext& context);

// One family a file; each gives its operators, and operators.cpp has the list of families.
struct OperatorEntry {
  std::string_view name;
  Kernel (*make)(const StepContext&);
};
std::vector<OperatorEntry> product_operators();
std::vector<OperatorEntry> norm_operators();
std::vector<OperatorEntry> pool_operators();
std::vector<OperatorEntry> activation_operators();
std::vector<OperatorEntry> elementwise_operators();
std::vector<OperatorEntry> shape_operators();
std::vector<OperatorEntry> index_operators();
std::vector<OperatorEntry> reduce_operators();
std::vector<OperatorEntry> recurrent_operators();

// y = f(x).
template <typename F>
Kernel one_input(const StepContext& context, F f) {
  return [x = context.in(0), y = context.out(), f = std::move(f)](Slots& slots) { slots[y] = f(slots[x]); };
}

// The tensor of an optional input; undefined where it is not there.
inline const at::Tensor& optional_slot(const Slots& slots, const std::optional<std::size_t>& id) {
  static const at::Tensor absent;
  return id ? slots[*id] : absent;
}

[[noreturn]] inline void refuse(const StepContext& context, const std::string& text) {
  throw Refusal("unsupported", std::string(context.op()) + ": " + text);
}

}  // namespace joulecast::runner
