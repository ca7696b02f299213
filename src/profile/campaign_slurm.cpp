// SPDX-License-Identifier: Apache-2.0
#include "profile/campaign_slurm.h"

#include <fmt/format.h>

#include <filesystem>

#include "measure/slurm.h"

namespace joulecast::profile {

std::string slurm_script(const SlurmCampaign& campaign) {
  std::string options;
  for (const std::string& option : campaign.options) options += sbatch_line(option);
  std::string words;
  for (const std::string& word : campaign.words) words += " " + shell_quoted(word);
  return fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name=joulecast-profile\n"
      "#SBATCH --array=1-{}\n"
      "#SBATCH --output={}\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --requeue\n"
      "{}"
      "# Time to finish the case at hand before Slurm ends the job.\n"
      "#SBATCH --signal=B:TERM@60\n"
      "{}"
      "# Submit it again to go on: what was measured is not measured again.\n"
      "cd {} || exit 1\n"
      "exec {} profile{} --shard \"$SLURM_ARRAY_TASK_ID/{}\"\n",
      campaign.shards, slurm_log_pattern(campaign.folder),
      campaign.gpu ? "#SBATCH --gres=gpu:1\n"
                   : "# Neighbours on the same machine would be measured too.\n#SBATCH --exclusive\n",
      options, shell_quoted(std::filesystem::current_path().string()), shell_quoted(campaign.program), words,
      campaign.shards);
}

}  // namespace joulecast::profile
