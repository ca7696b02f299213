// SPDX-License-Identifier: Apache-2.0
#include "random_tensors.h"

#include <algorithm>
#include <cmath>

namespace joulecast::runner {
namespace {

void mark_index(const Step& step, std::int64_t extent, std::vector<Use>& uses) {
  if (step.inputs.size() < 2 || step.inputs[1] == kAbsent) return;
  Use& use = uses[static_cast<std::size_t>(step.inputs[1])];
  use.below = std::min(use.below.value_or(extent), extent);
}

std::int64_t extent_of(const Program& program, const Step& step, std::int64_t axis) {
  const std::vector<std::int64_t>& shape = program.value(step.inputs.at(0)).shape;
  if (axis < 0) axis += static_cast<std::int64_t>(shape.size());
  return shape.at(static_cast<std::size_t>(axis));
}

at::Tensor from_contents(const Value& value, const at::Device& device) {
  return at::tensor(value.contents, at::kDouble).reshape(value.shape).to(value.element).to(device);
}

// Weights of layers as wide as their fan-in asks; vectors (scales, shifts) and activations about one.
double deviation(const Value& value) {
  if (value.kind != Kind::kParameter || value.shape.size() < 2) return 1.0;
  double fan_in = 1.0;
  for (std::size_t i = 1; i < value.shape.size(); ++i) fan_in *= static_cast<double>(value.shape[i]);
  return 1.0 / std::sqrt(std::max(fan_in, 1.0));
}

}  // namespace

std::vector<Use> uses_of_values(const Program& program) {
  std::vector<Use> uses(program.values.size());
  for (const Step& step : program.steps) {
    if (step.op == "embedding") mark_index(step, extent_of(program, step, 0), uses);
    if (step.op == "gather" || step.op == "scatter") {
      mark_index(step, extent_of(program, step, step.fields.integer("axis")), uses);
    }
    if (step.op != "batch_norm") continue;
    for (std::size_t i = 3; i < step.inputs.size(); ++i) {
      if (step.inputs[i] == kAbsent) continue;
      uses[static_cast<std::size_t>(step.inputs[i])] = {true, i == 4, std::nullopt};
    }
  }
  return uses;
}

at::Tensor random_tensor(const Value& value, const Use& use, const at::Device& device) {
  if (!value.contents.empty()) return from_contents(value, device);
  const auto options = at::TensorOptions().dtype(value.element).device(device);
  if (use.variance) return at::ones(value.shape, options);
  if (value.element == at::kBool) return at::ones(value.shape, options);
  if (!at::isFloatingType(value.element)) {
    return at::randint(std::max<std::int64_t>(use.below.value_or(2), 1), value.shape, options);
  }
  if (at::elementSize(value.element) == 1) return at::randn(value.shape, options.dtype(at::kFloat)).to(value.element);
  return at::randn(value.shape, options).mul_(deviation(value));
}

}  // namespace joulecast::runner
