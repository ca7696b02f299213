// SPDX-License-Identifier: Apache-2.0
// Runs one case in windows until its time is known well enough.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "joulecast/units.h"
#include "joulecast/workload.h"
#include "profile/runner.h"
#include "profile/timed_run.h"

namespace joulecast::profile {

// An optimizer is the step alone that ends a network's training step; its program has parameters and nothing else.
enum class Work : std::uint8_t { kOperation, kNetwork, kOptimizer };

struct CaseRequest {
  Work work = Work::kOperation;
  Mode mode = Mode::kInference;
  Precision precision = Precision::kFp32;
  bool input_gradient = true;
  std::string program;  // lines, as program_text() makes them; of a module its inputs alone
  std::string module;   // of the user's own, as the runner imports it: "torchvision.models:resnet18"; else empty
};

struct Protocol {
  // Below 100 ms time is no longer proportional to iterations (thesis 3.2.3). None that is measured is shorter: where
  // one comes out so, the warm-up begins anew.
  Seconds window{0.1};
  Seconds span{0.5};  // all windows together, at least: what the power sensor needs
  Seconds shortest_warmup{0.2};
  Seconds longest_warmup{5};  // until two windows agree within `settled`, but no longer
  double settled = 0.02;
  double target = 0.01;                              // standard error of the time, relative
  std::size_t least_windows = 5, most_windows = 40;  // more only where `span` needs them
  // Weights of an operation are copied until they leave the cache (seed: a block of instances used in turn).
  std::int64_t copies_bytes = std::int64_t{256} << 20;
  std::int64_t copies_most = 500;
  Seconds patience{120};  // for one reply beyond what the work should take
};

struct CaseTiming {
  std::vector<TimedWindow> windows;
  double mean_s = 0, deviation_s = 0, error_s = 0;  // of an iteration; the error is that of the mean
  double host_share = 0;  // of the time, in which the host was still issuing calls: near 1, the host sets the pace
  bool settled = true;    // the warm-up came to rest
  std::int64_t copies = 1, weight_bytes = 0;
  std::optional<std::int64_t> allocated_bytes, reserved_bytes;
};

// Mean, deviation and standard error of the windows' iterations. Requires: at least one window.
void summarize(CaseTiming& timing);

// What the runner is sent first.
std::string prepare_lines(const CaseRequest& request, const Protocol& protocol);

// As many windows as the protocol asks for at least: else there was no time for the case.
[[nodiscard]] bool usable(const CaseTiming& timing, const Protocol& protocol);

// `over` is asked before each window: once it says yes no further one begins, and what was timed until then may not be
// usable().
// Errors: those of Runner::request(); kInvalidInput where copies share memory, for then the cache would be measured;
// kUnsupported where the runner passed over the module or optimizer it was asked for; kDevice where iterations get ever
// faster.
Result<CaseTiming> time_case(Runner& runner, const CaseRequest& request, const Protocol& protocol,
                             const std::function<bool()>& over = {});

}  // namespace joulecast::profile
