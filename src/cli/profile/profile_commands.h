// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/profile/profile_options.h"
#include "profile/campaign.h"
#include "profile/plan.h"
#include "profile/proportionality.h"
#include "profile/validation.h"
#include "report/page.h"

namespace joulecast::cli {

// Since it was made.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

Outcome profile_command(const ProfileOptions& options, Output& output);

// Before anything is planned: whether the files of GPUs and the pack that were named can be used.
Outcome check_predictor(const ProfileOptions& options);
// What the predictor expects of the plan's operations on a GPU of its catalogue, and how little it is sure of it:
// nothing on others. Keeps a reference to the plan.
using Expect = std::function<profile::Expectations(const std::string& driver_name)>;
tl::expected<Expect, Failure> expectations_of(const profile::Plan& plan, const ProfileOptions& options);

// What the folder says of the plan's networks; nothing is measured.
Outcome validate_command(const profile::Plan& plan, const ProfileOptions& options, Output& output);

// Of what opens or measures a campaign's folder.
Failure campaign_failure(Error error);

// Runs the largest and the smallest operation of the plan for many durations.
Outcome proportionality_command(const profile::Plan& plan, const ProfileOptions& options,
                                const profile::CampaignOptions& campaign, Output& output);

// Writes FOLDER/profile.sbatch and hands it to Slurm; with --dry-run prints it.
Outcome submit_command(const ProfileOptions& options, Output& output);
// Before measuring: whether a store that is a file can be one. A server may answer later.
Outcome check_store(const ProfileOptions& options);
// After measuring: the shards' tables become one, and the rows go into the store, as often as it takes that to answer.
Outcome merge_and_store(const ProfileOptions& options, Output& output);

// Of a network beside the sum of its operations: its name, batch, mode, precision, what was measured of it ("395 ms
// ±2.9 %"), the sum, and what the sum is off by ("+12.3 %"), or how many operations it lacks.
std::vector<std::string> check_cells(const profile::NetworkCheck& net, const profile::ValueWithError& whole,
                                     const profile::ValueWithError& sum, std::string_view unit);

// Charts of both, for a page, and what they show as a table.
report::Article validation_article(const profile::Validation& found);
struct MeasuredDurations {
  std::string label;
  std::vector<profile::DurationPoint> points;
  profile::Proportionality line;
};
report::Article proportionality_article(const std::vector<MeasuredDurations>& measured);
// The page goes to that file; a note instead where this joulecast cannot draw.
Outcome write_article(report::Article article, const std::string& path, Output& output);

// Model files of the networks that --zoo names, those that are missing made first: of a budget a part of them.
tl::expected<std::vector<std::string>, Failure> zoo_files(const ProfileOptions& options, Output& output);

// Everything the models ask for. What cannot be run is among the plan's notes.
tl::expected<profile::Plan, Failure> plan_of(const ProfileOptions& options, Output& output);

}  // namespace joulecast::cli
