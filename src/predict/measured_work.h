// SPDX-License-Identifier: Apache-2.0
// A measured row as the estimator sees it: the same path for those who fit and those who judge.
#pragma once

#include <optional>

#include "dataset/measured.h"
#include "joulecast/gpu.h"
#include "joulecast/result.h"
#include "predict/physics.h"

namespace joulecast {

struct MeasuredWork {
  Work work;
  Situation situation;
};

// Of a row without a runtime of ours.
tl::unexpected<Error> no_host_model(const Circumstances& at);

// Errors: kUnsupported where the row runs as several kernels or none, or in a runtime without a host model.
Result<MeasuredWork> measured_work(const MeasuredOperation& row);

// The machine on which a network of a published table was measured, and what its benchmark did beside the network.
struct MeasuredHost {
  HostMachine machine;                            // the reference machine for tables that nobody fitted
  std::optional<BytesPerSecond> input_copy = {};  // of benchmarks that copy each step's input to the GPU
};
// `gpu`: the row's, as the catalogue calls it.
MeasuredHost measured_host(const MeasuredNetwork& row, const Gpu& gpu);

}  // namespace joulecast
