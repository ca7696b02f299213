// SPDX-License-Identifier: Apache-2.0
#include "executor.h"

#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <optional>
#include <set>

#include "random_tensors.h"

namespace joulecast::runner {
namespace {

constexpr double kRate = 1e-9;  // of any size: the work is the same, and weights stay what they are

bool is_network_step(const CaseOptions& options) {
  return options.network && options.mode == Mode::kTraining;
}

}  // namespace

Executor::Executor(Program program, const CaseOptions& options, const Device& device)
    : program_(std::move(program)), options_(options), device_(device), slots_(program_.values.size()) {
  if (!options_.optimizer) program_.check();
  make_kernels();
  make_inputs();
  make_copies();
}

void Executor::make_kernels() {
  std::vector<std::size_t> last_use(program_.values.size(), 0);
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    const Step& step = program_.steps[i];
    kernels_.push_back(make_kernel(StepContext(program_, step, options_.mode)));
    for (const auto& ids : {step.inputs, step.outputs}) {
      for (const std::int64_t id : ids) {
        if (id != kAbsent) last_use[static_cast<std::size_t>(id)] = i;
      }
    }
  }
  for (const std::int64_t id : program_.outputs) last_use[static_cast<std::size_t>(id)] = program_.steps.size();
  dead_.resize(program_.steps.size());
  for (std::size_t id = 0; id < last_use.size(); ++id) {
    if (program_.values[id].kind == Kind::kComputed && last_use[id] < dead_.size()) dead_[last_use[id]].push_back(id);
  }
}

void Executor::make_inputs() {
  const std::vector<Use> uses = uses_of_values(program_);
  for (std::size_t id = 0; id < program_.values.size(); ++id) {
    const Value& value = program_.values[id];
    if (value.kind != Kind::kInput && value.kind != Kind::kConstant) continue;
    slots_[id] = random_tensor(value, uses[id], device_.torch());
    const bool wanted = options_.mode == Mode::kTraining && !options_.network && options_.input_gradient &&
                        value.kind == Kind::kInput && slots_[id].is_floating_point();
    if (wanted) slots_[id].requires_grad_();
  }
}

void Executor::make_copies() {
  for (std::size_t id = 0; id < program_.values.size(); ++id) {
    if (program_.values[id].kind == Kind::kParameter) parameters_.push_back(id);
  }
  const std::vector<Use> uses = uses_of_values(program_);
  std::size_t count = 1;
  do {
    std::vector<at::Tensor> copy, wanted;
    for (const std::size_t id : parameters_) {
      at::Tensor tensor = random_tensor(program_.values[id], uses[id], device_.torch());
      const bool learns = options_.mode == Mode::kTraining && tensor.is_floating_point() && !uses[id].statistic;
      if (learns) wanted.push_back(tensor.requires_grad_());
      copy.push_back(tensor);
    }
    for (const at::Tensor& tensor : slots_) {
      if (tensor.defined() && tensor.requires_grad()) wanted.push_back(tensor);
    }
    copies_.push_back(std::move(copy));
    wanted_.push_back(std::move(wanted));
    const std::int64_t bytes = weight_bytes();
    const std::int64_t enough = bytes == 0 ? 1 : (options_.copies_bytes + bytes - 1) / bytes;
    count =
        static_cast<std::size_t>(std::clamp<std::int64_t>(enough, 1, std::max<std::int64_t>(options_.copies_most, 1)));
  } while (copies_.size() < count);
}

std::int64_t Executor::weight_bytes() const {
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : copies_.front()) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

std::size_t Executor::distinct_copies() const {
  std::set<const void*> places;
  for (const auto& copy : copies_) places.insert(copy.empty() ? nullptr : copy.front().data_ptr());
  return places.size();
}

void Executor::use(std::size_t copy) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) slots_[parameters_[i]] = copies_[copy][i];
}

// An operator that makes something else is not the one that was meant.
void Executor::check_shapes(const Step& step) const {
  for (const std::int64_t id : step.outputs) {
    if (id == kAbsent) continue;
    const Value& meant = program_.value(id);
    const at::Tensor& made = slots_[static_cast<std::size_t>(id)];
    if (!made.defined()) continue;
    if (made.sizes() == at::IntArrayRef(meant.shape)) continue;
    throw Refusal("unsupported", step.op + " makes " + c10::str(made.sizes()) + " of what should be " +
                                     c10::str(at::IntArrayRef(meant.shape)));
  }
}

void Executor::forward() {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    kernels_[i](slots_);
    if (!checked_) check_shapes(program_.steps[i]);
    for (const std::size_t id : dead_[i]) slots_[id].reset();
  }
  checked_ = true;
}

std::vector<at::Tensor> Executor::differentiable_outputs() const {
  std::vector<at::Tensor> out;
  for (const std::int64_t id : program_.outputs) {
    const at::Tensor& tensor = slots_[static_cast<std::size_t>(id)];
    if (tensor.defined() && tensor.requires_grad()) out.push_back(tensor);
  }
  return out;
}

void Executor::make_output_gradients() {
  if (!output_gradients_.empty()) return;
  const at::NoGradGuard no_gradient;
  for (const at::Tensor& output : differentiable_outputs()) output_gradients_.push_back(at::randn_like(output));
}

void Executor::backward_of_operation(std::size_t copy) {
  make_output_gradients();
  const std::vector<at::Tensor> outputs = differentiable_outputs();
  if (outputs.empty()) return;  // of whole numbers: nothing is to be differentiated
  torch::autograd::grad(outputs, wanted_[copy], output_gradients_, std::nullopt, false, true);
}

void Executor::step_of_network() {
  make_output_gradients();
  const std::vector<at::Tensor> outputs = differentiable_outputs();
  if (outputs.empty()) throw Refusal("unsupported", "nothing of this network can be trained");
  torch::autograd::backward(outputs, output_gradients_);
  std::vector<at::Tensor> parameters, gradients;
  for (at::Tensor& parameter : wanted_.front()) {
    if (!parameter.grad().defined()) continue;
    parameters.push_back(parameter);
    gradients.push_back(parameter.grad());
    parameter.mutable_grad().reset();
  }
  const at::NoGradGuard no_gradient;
  if (!parameters.empty()) at::_foreach_add_(parameters, gradients, -kRate);
}

void Executor::step_alone() {
  std::vector<at::Tensor>& parameters = wanted_.front();
  const at::NoGradGuard no_gradient;
  if (output_gradients_.empty()) {
    for (const at::Tensor& parameter : parameters) output_gradients_.push_back(at::randn_like(parameter));
  }
  at::_foreach_add_(parameters, output_gradients_, -kRate);
}

void Executor::run(std::int64_t iterations) {
  if (options_.optimizer) {
    for (std::int64_t i = 0; i < iterations; ++i) step_alone();
    return;
  }
  std::optional<c10::InferenceMode> inference;
  if (options_.mode == Mode::kInference) inference.emplace(true);
  for (std::int64_t i = 0; i < iterations; ++i) {
    const std::size_t copy = next_;
    next_ = (next_ + 1) % copies_.size();
    use(copy);
    forward();
    if (is_network_step(options_)) {
      step_of_network();
    } else if (options_.mode == Mode::kTraining) {
      backward_of_operation(copy);
    }
    for (const std::int64_t id : program_.outputs) {
      const auto at = static_cast<std::size_t>(id);
      if (program_.values[at].kind == Kind::kComputed) slots_[at].reset();
    }
  }
}

}  // namespace joulecast::runner
