// SPDX-License-Identifier: Apache-2.0
// From the operations of a network to the network: the GPU and the host work side by side, and a network does not do
// what the operation benchmark does on top.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "joulecast/workload.h"
#include "predict/physics.h"

namespace joulecast {

// One kind of operation as the estimator sees it in isolation, and how often the network runs it.
struct ComposePart {
  double time = 0;               // of one, as a benchmark of the operation alone would measure it
  double gpu = 0;                // of `time`, what the GPU needs
  double host = 0;               // of one call
  std::optional<double> call{};  // what it costs within a network, where that is not the benchmark's cost scaled
  double power = 0;              // mean over `time`
  double accumulation = 0;       // of `gpu`, by the benchmark alone: gradients added up instead of set
  double count = 1, calls = 1;
  bool functional = false;  // a function call, not a module
  double left_out = 0;      // training: the share that makes a gradient nobody wants, that of the network's input
};

// Fitted on whole networks; read from the pack.
struct ComposeConstants {
  double host_inference = 1.25, host_training = 1.2;                // k: host time in a network per benchmark floor
  double functional_inference = 8e-6, functional_training = 20e-6;  // seconds a functional call
  double benchmark_call = 145e-6;  // training: what the benchmark's own backward() and zeroing cost a call
  double parameter_call = 2e-6;    // optimizer: seconds on the host a parameter tensor
  double sharpness = 6;            // how sharply host and GPU time meet
  double power_ceiling = 0.995;    // of the limit
};

struct ComposeInput {
  std::span<const ComposePart> parts;
  Mode mode = Mode::kInference;
  double parameter_tensors = 0;
  double optimizer_bytes = 0;  // moved by the optimizer's step
  double beside = 0;           // seconds of a step in which the operations neither run nor are launched
  bool captured = false;       // the GPU launches its kernels itself, one behind the other
  HostMachine host{};
};

struct Composition {
  double time = 0, energy = 0;
  double gpu = 0, host = 0;  // busy times; the larger one rules
  double beside = 0;         // of `time`
};

// T = (G^s + H^s)^(1/s) + what is beside; E = sum of the dynamic energies + P0 T, at most the ceiling.
Composition compose(const ComposeInput& input, const Device& device, const ComposeConstants& constants);

// Time on the GPU of one execution inside a network.
double busy_in_network(const ComposePart& part, const Device& device, Mode mode);

// Of one execution inside a captured graph, whose kernels follow each other as in the loops that captured operations
// were timed in: each with its start, and one start more for the way back at least.
double captured_in_network(const ComposePart& part, const Device& device, Mode mode);

}  // namespace joulecast
