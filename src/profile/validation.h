// SPDX-License-Identifier: Apache-2.0
// Do operations measured alone add up to the networks they are from?
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profile/case_result.h"
#include "profile/plan.h"

namespace joulecast::profile {

struct ValueWithError {
  double value = 0, error = 0;  // standard error
};

// One network in one mode, measured whole and as the sum of its operations.
struct NetworkCheck {
  std::string name;
  std::int64_t batch = 1;
  Mode mode = Mode::kInference;
  Precision precision = Precision::kFp32;
  GpuSettings settings;
  ValueWithError whole_s, sum_s;  // errors of the sum in quadrature: operations are measured apart
  // Device and host work side by side, and the longer one sets the pace: the larger of the two sums. Equal to the plain
  // sum where only one clock was read.
  double composed_s = 0;
  std::optional<ValueWithError> whole_j, sum_j;  // absent where no sensor told of all of them
  std::size_t missing = 0;                       // operations that are not measured, or cannot be: the sum lacks them
};

struct Validation {
  std::vector<NetworkCheck> networks;  // those that were measured whole, with at least one operation
  double mean_absolute_error = 0;      // of sum / whole - 1, over networks that lack nothing
  double mean_absolute_composed = 0;   // the same of the composed time
  std::size_t complete = 0;            // networks in these means
  // Of the plan's networks, by their places there, each once: those that have no measurement, and those that have one
  // and none of their operations.
  std::vector<std::size_t> unmeasured, without_operations;
};

Validation validate(const Plan& plan, const std::map<std::string, CaseResult>& results);

}  // namespace joulecast::profile
