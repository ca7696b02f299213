// SPDX-License-Identifier: Apache-2.0
// How TensorFlow 2 runs a Keras model: one graph function, rewritten by Grappler and launched by the executor in C++,
// without XLA. Constants from PROFET's training steps (tensorflow 2.5; T4, V100, K80), whose device time is published
// by class of operation.
#pragma once

#include <vector>

#include "joulecast/graph.h"
#include "joulecast/predict.h"
#include "predict/lower.h"
#include "predict/physics.h"

namespace joulecast {

// What Grappler and TensorFlow's kernels make of a network as PyTorch would run it: a convolution with bias and the
// ReLU behind it are one kernel, in training too; convolutions take the fastest algorithm; pooling is cuDNN's.
class TensorflowRemapper {
 public:
  TensorflowRemapper(const Graph& graph, Mode mode);
  // `found`: the work of `node`, which is one of the graph's.
  void remap(const Node& node, std::vector<LoweredOperation>& found) const;

 private:
  void remap_conv(const Node& node, ConvWork& work) const;

  Mode mode_;
  std::vector<bool> fused_;  // by value: of a convolution with bias, read by one ReLU alone
};

// The layout Grappler turns images to on GPUs: channels-last for halves, which tensor kernels want, else first.
Layout tensorflow_layout(Precision precision);

// Seconds on the host for one call's nodes in all of a step: forward, gradients, the variables' reads and updates.
double tensorflow_call(const Work& work, State state);

// Seconds of a step that no operation explains: Keras' loop, and the batch's copy from pageable memory.
double tensorflow_beside(const Workload& workload, const HostMachine& host);

}  // namespace joulecast
