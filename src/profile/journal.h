// SPDX-License-Identifier: Apache-2.0
// The folder of a campaign: what was measured so far, a line a case, on the disk before the next case begins.
//
//   campaign.json     what it is a campaign of
//   cases.jsonl       results, the newest of a case counts
//   log-0001.jcrun    what the sensors said, a recording a start
//   runner.log        what runners printed to standard error
//   measurements.csv  the results as rows of a dataset
#pragma once

#include <map>
#include <optional>
#include <string>

#include "joulecast/result.h"
#include "profile/case_result.h"

namespace joulecast::profile {

inline constexpr const char* kMeasurementsFile = "measurements.csv";
// What the error of a folder of another campaign holds.
inline constexpr const char* kOtherCampaign = "is of another campaign";

class Journal {
 public:
  // Makes the folder where it is not there. A last line that was not written whole is cut off. Errors: kIo,
  // kInvalidInput for a folder of another campaign (`what` is not what campaign.json says, there or of another shard
  // that has cases or runs) and for broken lines, named.
  static Result<Journal> open(const std::string& folder, const std::string& what);
  // Only to look at, with all shards in it: nothing is made or locked, a half line at the end is passed over. Errors:
  // kNotFound, kInvalidInput.
  static Result<std::map<std::string, CaseResult>> read(const std::string& folder);
  // The checks of open() without a trace: nothing is made, locked or cut off, so that a campaign which runs there is
  // passed over. `what` absent: not compared. What was measured comes back; nothing where no campaign is there. Errors:
  // those of open().
  static Result<std::optional<std::map<std::string, CaseResult>>> look(const std::string& folder,
                                                                       const std::optional<std::string>& what);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  // On the disk when it returns. Errors: kIo.
  Result<void> add(const CaseResult& result);
  // By id, the newest of each.
  [[nodiscard]] const std::map<std::string, CaseResult>& results() const { return results_; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  // "log-0003.jcrun" where two are there.
  [[nodiscard]] std::string next_log() const;
  // measurements.csv of all that was measured, whatever is planned now: what is, in the plan's order, and then the
  // rest. Optimizers are left out. Errors: kIo.
  Result<void> write_measurements(const Plan& plan, const Bench& bench) const;
  // Whether measurements.csv is there and no older than the last case.
  [[nodiscard]] bool has_measurements() const;

 private:
  Journal(std::string folder, int descriptor) : folder_(std::move(folder)), descriptor_(descriptor) {}
  Result<void> load();
  // Makes the folder one of the campaign `what`, where it is not another's.
  Result<void> take(const std::string& what);

  std::string folder_;
  int descriptor_ = -1;
  std::map<std::string, CaseResult> results_;
};

}  // namespace joulecast::profile
