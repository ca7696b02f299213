// SPDX-License-Identifier: Apache-2.0
// The folder of a sweep: a recording, a log and a record a run (docs/formats/sweep-plan.md). A run that has its record
// is finished.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "measure/sweep_plan.h"

namespace joulecast {

// How a run went.
struct SweepRecord {
  SweepRun run;
  std::string host;
  int code = 0;          // of the command, as a shell would give it
  std::string not_held;  // why the setting did not last through the run; empty: it did
  double wall_s = 0;     // baseline and all
  std::string started_utc;
  std::optional<double> start_temperature_c;
  bool cooled = true;               // it was as cool as the plan wants when it began
  std::vector<FoundSettings> gpus;  // as they were found before the series
};

enum class RunState : std::uint8_t { kOpen, kFinished, kFailed };

class SweepFolder {
 public:
  // It need not be there. Errors: kInvalidInput where another command's sweep lies there.
  static Result<SweepFolder> find(const SweepPlan& plan);
  // Made where it is not there. Errors: kIo.
  Result<void> make();
  // Takes away what make() made, as long as nothing else came to lie in it.
  void unmake();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string recording(const SweepRun& run) const { return file(run, ".jcrun"); }
  [[nodiscard]] std::string log(const SweepRun& run) const { return file(run, ".log"); }
  [[nodiscard]] RunState state(const SweepRun& run) const;
  // Seconds a finished run took; absent for others.
  [[nodiscard]] std::optional<double> wall_s(const SweepRun& run) const;
  // What an attempt left is renamed to NAME.attempt1..., never overwritten.
  [[nodiscard]] Result<void> set_aside(const SweepRun& run) const;
  // Appears whole or not at all.
  [[nodiscard]] Result<void> finish(const SweepRecord& record) const;

 private:
  SweepFolder(std::string path, nlohmann::ordered_json identity)
      : path_(std::move(path)), identity_(std::move(identity)) {}
  [[nodiscard]] std::string file(const SweepRun& run, const char* ending) const {
    return path_ + "/" + run.id() + ending;
  }

  std::string path_;
  nlohmann::ordered_json identity_;
  bool new_ = false;               // make() made it
  std::vector<std::string> made_;  // folders, the innermost first
};

// All finished runs in a folder, by name. Records that cannot be read are named in `damaged`, a sentence each. Errors:
// kNotFound for what is no folder of a sweep.
Result<std::vector<SweepRecord>> read_records(const std::string& folder, std::vector<std::string>& damaged);

// The words of the plan's command, with {name} for parameters. Empty where the folder does not tell.
std::vector<std::string> sweep_command_of(const std::string& folder);

nlohmann::ordered_json to_json(const GpuSettings& settings);

}  // namespace joulecast
