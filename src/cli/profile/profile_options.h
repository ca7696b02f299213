// SPDX-License-Identifier: Apache-2.0
// What may be typed behind `joulecast profile`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"

namespace joulecast::cli {

struct ProfileOptions {
  std::vector<std::string> models, zoo, operations, modules;
  std::vector<std::string> power_limits, sm_clocks;  // "200", "found"
  std::vector<std::string> batches, modes{"inference"}, precisions{"fp32"}, shapes;
  std::string output;
  std::string gpu = "0";            // "cpu", or as --gpu of measure: one GPU
  std::string name;                 // of the device in the rows; empty: what the sensors call it
  std::string runner = "torch";     // or a path
  std::string runtime;              // "pytorch-compiled"; empty: the runner's own choice
  std::string only;                 // "", "operations", "networks"
  std::string shard, store;         // "3/8"; a place as dataset import takes it
  std::vector<std::string> sbatch;  // options of --slurm
  std::vector<std::string> words;   // what was typed, for a task of an array
  std::size_t slurm = 0;            // shards of the job array; 0: none
  std::string budget;               // "30m"; empty: until all is done
  std::string pack;                 // for budgets; empty: the shipped one
  std::vector<std::string> gpu_files;
  std::size_t threads = 0, seed = 1;
  double target = 0.01, noisy = 0.02;
  std::optional<double> window_s, span_s, patience_s;
  bool dry_run = false, retry_failed = false, retry_shared = false, json = false, quiet = false, validate = false,
       check_proportionality = false;
};
void define_profile_options(CLI::App& app, ProfileOptions& options);

// "90", "90s", "30m", "1.5h"; absent for what is none of these or not above 0, or over 1e9 s.
std::optional<double> parse_seconds(std::string_view text);

}  // namespace joulecast::cli
