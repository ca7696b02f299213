// SPDX-License-Identifier: Apache-2.0
// Which case comes next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profile/case_result.h"
#include "profile/plan.h"

namespace joulecast::profile {

// What is thought of a case before it is measured.
struct Expectation {
  double time_s = 0;       // of an iteration
  double uncertainty = 0;  // standard deviation of its logarithm
};
using Expectations = std::map<std::string, Expectation>;  // by a case's id

struct OrderOptions {
  std::uint64_t seed = 1;
  double noisy = 0.02;  // results with a larger relative error of the time are measured again
  bool retry_failed = false;
  bool retry_shared = false;   // what was measured while others had a processor
  bool by_gain = false;        // for campaigns that end when their time is over: what tells most a second comes first
  double case_s = 1.0;         // what a case takes beside its iterations, and
  double iterations = 10;      // how many of these at least
  Expectations expected = {};  // by gain: of a predictor, as far as it has any
};

// Indices into plan.cases() of what is missing or noisy. Without `by_gain` in random order: what drifts during a
// campaign is then mistaken for no property of an operation.
//
// By gain: a network's time is the sum of its operations'; what is measured is known to its standard error, what is not
// as well as is expected of it, or to about kUnmeasured of itself where nothing is. First comes the case that takes
// most variance off the networks' sums a second.
std::vector<std::size_t> todo(const Plan& plan, const std::map<std::string, CaseResult>& results,
                              const OrderOptions& options);

inline constexpr double kUnmeasured = 0.3;

}  // namespace joulecast::profile
