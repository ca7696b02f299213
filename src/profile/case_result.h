// SPDX-License-Identifier: Apache-2.0
// What came of one case: a line of a campaign's journal, and a row of a dataset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/measurement.h"
#include "joulecast/result.h"
#include "profile/plan.h"
#include "profile/time_case.h"

namespace joulecast::profile {

// On what, and by what: the same for all cases of a start.
struct Bench {
  std::string device;    // as rows name the GPU: "a100-sxm4-40gb", "cpu"
  std::string label;     // "NVIDIA A100-SXM4-40GB", the processor's name
  std::string runtime;   // "pytorch-eager"
  std::string software;  // "pytorch 2.13.0"
  std::string protocol;  // one sentence
};

// Of the device under one iteration; absent where no sensor tells.
struct CasePower {
  double power_w = 0, power_error_w = 0, energy_j = 0, energy_error_j = 0;
  std::string source;  // "nvml-counter"
};

// What was measured, as rows name it.
struct CaseSubject {
  OperationText operation;  // empty for networks; "optimizer" for a step of one, which no dataset has
  std::string network, module;
  std::optional<std::int64_t> batch, image_size, sequence_length;
  Mode mode = Mode::kInference;
  Precision precision = Precision::kFp32;
  GpuSettings settings;
  bool input_gradient = true;
};
CaseSubject subject_of(const PlannedCase& planned);

struct CaseResult {
  std::string id;
  CaseSubject subject;
  bool measured = false;
  std::string reason;  // why not
  CaseTiming timing;
  std::optional<CasePower> power;
  std::vector<std::string> doubts;  // sentences for people
  std::string beside;               // other_work() that a processor had meanwhile; empty for nothing, and on GPUs
  std::string slowed_by;            // "power limit, thermal slowdown": what held the clocks down; empty for nothing
  std::string started;              // UTC
};

// One line without line end. Windows are in it, so that any later question can be asked of the recording beside it.
std::string journal_line(const CaseResult& result);
// Errors: kInvalidInput for what is no such line.
Result<CaseResult> parse_journal_line(std::string_view line);

// Requires: a measured one, of no optimizer.
Measurement measurement(const CaseResult& result, const Bench& bench);

}  // namespace joulecast::profile
