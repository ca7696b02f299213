// SPDX-License-Identifier: Apache-2.0
// A campaign as a job array of Slurm: a task a shard.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace joulecast::profile {

struct SlurmCampaign {
  std::string program, folder;       // have to be there on every machine
  std::vector<std::string> words;    // behind `joulecast profile`, as they were typed
  std::vector<std::string> options;  // "--partition=gpu"
  std::size_t shards = 1;
  bool gpu = true;  // else a processor is measured, and a task has its machine alone
};

// A task that loses its node is started again by Slurm and goes on where its shard's folder ends; submitted again, it
// measures what is missing.
std::string slurm_script(const SlurmCampaign& campaign);

}  // namespace joulecast::profile
