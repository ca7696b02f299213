// SPDX-License-Identifier: Apache-2.0
// What a sweep shall do: read from a file (docs/formats/sweep-plan.md), and the order of its runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/result.h"
#include "power/gpu_settings.h"

namespace joulecast {

// Replaces {name} in the command, by each of its values in turn.
struct SweepParameter {
  std::string name;
  std::vector<std::string> values;
  bool operator==(const SweepParameter&) const = default;
};

enum class SweepOrder : std::uint8_t { kRandom, kGiven };

struct SweepPlan {
  std::string name;                  // of the file, or of the experiment
  std::vector<std::string> command;  // one word of a plan that has a text: "sh", "-c", text
  std::string working_directory;     // empty: where joulecast was started
  std::string output;                // folder
  std::optional<std::string> gpus;   // as --gpu of measure
  // Each is a list of choices; a choice that is absent leaves the setting as it was found. Empty: not swept.
  std::vector<std::optional<std::uint32_t>> power_limits_mw;
  std::vector<std::optional<ClockRange>> sm_clocks, memory_clocks;
  std::vector<std::optional<ApplicationClocks>> application_clocks;
  std::vector<SweepParameter> parameters;
  std::size_t repetitions = 3;
  std::size_t warmup = 0;            // runs of each command before its first that counts
  double baseline_s = 0;             // recorded idle before each run
  double cooldown_s = 0;             // pause before each run, at least
  std::optional<double> cooldown_c;  // and until no GPU is warmer
  double cooldown_max_s = 600;       // but no longer
  double expected_s = 0;             // of a run, for the estimate; 0: not known
  SweepOrder order = SweepOrder::kRandom;
  std::uint64_t seed = 1;
  std::vector<std::string> slurm_options;  // "--gres=gpu:1"

  bool operator==(const SweepPlan&) const = default;
};

using ParameterValues = std::vector<std::pair<std::string, std::string>>;

struct SweepRun {
  std::size_t repetition = 1;
  ParameterValues parameters;
  GpuSettings settings;
  std::vector<std::string> command;

  // Names the run's files: "batch=32_300W_r01".
  [[nodiscard]] std::string id() const;
  // What it shares with the runs it can be compared with: "batch=32"; empty without parameters.
  [[nodiscard]] std::string group() const;
};

// Repetition after repetition, each of all settings and parameters, in an order of its own: what drifts during the
// series is not mistaken for the settings' doing. The same seed gives the same order everywhere.
std::vector<SweepRun> runs_of(const SweepPlan& plan);

// By its ending: TOML, else (.yaml, .yml) the experiments of GPyJoules, one plan each, with benchmarks/NAME.yaml beside
// the file. Errors: kNotFound, kInvalidInput with the line.
Result<std::vector<SweepPlan>> read_plans(const std::string& path);
Result<SweepPlan> parse_plan(std::string_view toml, const std::string& name);

// "{lr}" where the plan has no such parameter: it stays as it is, which a shell or awk may want and a slip does not.
std::vector<std::string> unfilled_places(const SweepPlan& plan);

// kInvalidInput where the plan makes no sense: no command, a {name} without values, values without a {name}, doubles.
Result<void> check_plan(const SweepPlan& plan);

}  // namespace joulecast
