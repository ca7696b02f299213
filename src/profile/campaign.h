// SPDX-License-Identifier: Apache-2.0
// Measures what a plan has and its folder lacks, case after case, whatever happens to the runner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "power/sensor.h"
#include "profile/journal.h"
#include "profile/order.h"
#include "profile/plan.h"
#include "profile/runner.h"
#include "profile/time_case.h"

namespace joulecast::profile {

struct CampaignProgress {
  std::size_t done = 0, failed = 0, total = 0;  // of this start
  std::string now;                              // what is measured
  double elapsed_s = 0;
  std::optional<double> remaining_s;  // absent before the first case is done
};

struct CampaignOptions {
  std::string folder;
  std::vector<std::string> runner;  // its command
  std::string device = "cpu";       // as the runner calls it: "cpu", "cuda:0"
  std::string gpu;                  // as rows name it; empty: what name_of() makes of its driver's name
  std::function<std::string(const std::string& driver_name)> name_of;
  std::size_t threads = 0;  // of a processor; 0: the runner's own choice
  std::size_t shards = 1;   // that the campaign is divided into
  std::string runtime;      // "pytorch-compiled"; empty: the runner's own choice
  Protocol protocol;
  Seconds patience_at_start{120};  // until the runner is ready: torch with CUDA takes its time
  std::optional<Seconds> span;     // asked for; else what the power sensor needs, and protocol.span at least
  OrderOptions order;
  std::optional<Seconds> budget;
  // For order.by_gain: what is expected of the plan's cases on the GPU that its driver calls so.
  std::function<Expectations(const std::string& driver_name)> expect;
  SensorOptions sensors;
  std::string tool_version;
  std::function<void(const CampaignProgress&)> progress;
  std::function<bool()> stop;  // asked between windows, and while a runner starts
};

struct CampaignResult {
  std::size_t measured = 0, failed = 0;        // by this start
  std::map<std::string, std::size_t> reasons;  // of the failed ones
  std::size_t failed_before = 0;               // by earlier starts, and left alone
  std::size_t left = 0, noisy = 0;             // still missing or noisy; those of them that are measured, but noisy
  std::size_t shared = 0;                      // measured while others had a processor that it needs
  std::size_t restarts = 0;                    // of the runner, after it had died or hung
  std::vector<std::string> doubts;
  std::string stopped;  // "" when all is done, else why not: "the time is over"
  bool rows = false;    // whether measurements.csv is there and has all that is measured
};

// Errors: those of Journal::open() and find_sensors(); of the runner where it cannot even be started; kIo where results
// cannot be kept.
Result<CampaignResult> run_campaign(const Plan& plan, const CampaignOptions& options);

// So that the runner works on the GPU that is measured, and on no other. Errors: those of find_sensors().
Result<RunnerProcess::Environment> runner_environment(const CampaignOptions& options);

// The first line for a runner.
std::string hello_line(const CampaignOptions& options);
// What a runner is reported with that gave no good answer to it: the error, and its last words where it gave none.
Error not_ready(const RunnerProcess& runner, const Error& error, const std::string& program);
// Errors: kUnsupported where the runner would run another runtime than is asked for.
Result<void> check_runtime(const Reply& hello, const CampaignOptions& options);

// campaign.json: what must be the same for results to belong together. `label`: what the GPU's driver calls it; of a
// processor its name is taken.
std::string campaign_text(const CampaignOptions& options, const std::string& label);
// The folder, for what is asked of the device beside a campaign. Errors: those of find_sensors() and Journal::open().
Result<Journal> open_folder(const CampaignOptions& options);
// What a start would find there, only looked at.
struct FolderLook {
  std::optional<std::map<std::string, CaseResult>> results;  // absent where no campaign is there
  std::string not_compared;  // why nobody knows here whether it is this campaign's: the device is not there
};
// Errors: those of Journal::look(); kUnsupported for a GPU that is cut into slices.
Result<FolderLook> look_into_folder(const CampaignOptions& options);

// "conv f32[32, 3, 224, 224]; ...", "resnet50 batch 32"
std::string label(const PlannedCase& planned);

}  // namespace joulecast::profile
