// SPDX-License-Identifier: Apache-2.0
// What the operations of a network take on a GPU, and the network composed of them: what predictions are made of, and
// what measured networks are held against.
#pragma once

#include <optional>
#include <vector>

#include "joulecast/gpu.h"
#include "joulecast/predict.h"
#include "joulecast/result.h"
#include "predict/compose.h"
#include "predict/correction.h"
#include "predict/estimator.h"
#include "predict/pack/pack.h"

namespace joulecast {

struct NetworkParts {
  Device device;
  // One each for every operation of the workload.
  std::vector<Work> works;
  std::vector<OperationPrediction> found;
  std::vector<ComposePart> parts;
  Composition whole;
  bool captured = false;  // a graph that the GPU runs by itself
};

// Where it runs.
struct NetworkPlace {
  Setting setting;
  HostMachine host;
  std::optional<BytesPerSecond> input_copy = {};  // as of PredictOptions
};
// What is known.
struct NetworkKnowledge {
  const Estimator& estimator;
  const Estimator::Trust& trust;
  const ComposeConstants& compose;
};

// Errors: kUnsupported where the GPU lacks what the workload needs; those of Estimator::predict().
Result<NetworkParts> network_parts(const Workload& workload, const Gpu& gpu, const NetworkPlace& place,
                                   const NetworkKnowledge& known);

// By how much each term moves the network's time, relatively: the sum over its operations, by their share of the time
// on the GPU, as far as the GPU sets the pace. `sharpness` is how sharply host and GPU time meet.
CorrectionTerms correction_terms(const NetworkParts& network, Mode mode, double sharpness);

Result<ComposeConstants> read_compose(const Pack& pack);

}  // namespace joulecast
