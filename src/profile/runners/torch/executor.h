// SPDX-License-Identifier: Apache-2.0
// A program with tensors, ready to be run again and again.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "device.h"
#include "operators.h"

namespace joulecast::runner {

struct CaseOptions {
  Mode mode = Mode::kInference;
  std::string precision =
      "fp32";                  // of matrix work on the device: fp32, tf32, tf32-all; halves are in the program's types
  bool network = false;        // a training step then gives every parameter its gradient, and takes one step of SGD
  bool optimizer = false;      // that step alone, of a program of parameters
  bool input_gradient = true;  // of an operation: false for the first of a network
  std::int64_t copies_bytes = 0;  // weights of an operation are copied until they are this large together,
  std::int64_t copies_most = 1;   // but no more often than this
};

// Every copy is one instance of the operation with memory of its own; they are used in turn. There is one input, which
// a layer before would have left in the cache.
//
// In training, gradients are made anew each time, never added to.
class Executor {
 public:
  // Throws Refusal for what this runner cannot do.
  Executor(Program program, const CaseOptions& options, const Device& device);

  void run(std::int64_t iterations);
  [[nodiscard]] std::size_t copies() const { return copies_.size(); }
  // Copies whose first weight lies where no other's does.
  [[nodiscard]] std::size_t distinct_copies() const;
  [[nodiscard]] std::int64_t weight_bytes() const;  // of one copy

 private:
  void make_kernels();
  void make_inputs();
  void make_copies();
  void make_output_gradients();
  void use(std::size_t copy);
  void forward();
  void check_shapes(const Step& step) const;
  void backward_of_operation(std::size_t copy);
  void step_of_network();
  void step_alone();
  [[nodiscard]] std::vector<at::Tensor> differentiable_outputs() const;

  Program program_;
  CaseOptions options_;
  const Device& device_;
  std::vector<Kernel> kernels_;
  std::vector<std::vector<std::size_t>> dead_;   // computed values that nothing after a step reads
  std::vector<std::size_t> parameters_;          // slots
  std::vector<std::vector<at::Tensor>> copies_;  // tensors of parameters_
  std::vector<std::vector<at::Tensor>> wanted_;  // of each copy: what gets a gradient
  std::vector<at::Tensor> output_gradients_;
  Slots slots_;
  std::size_t next_ = 0;
  bool checked_ = false;  // the shapes of the first run are the program's
};

}  // namespace joulecast::runner
