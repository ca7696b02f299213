// SPDX-License-Identifier: Apache-2.0
// Which of the processes on this machine this one is, in a job of many; as its launcher said it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace joulecast {

using Environment = std::function<std::optional<std::string>(const std::string&)>;
std::optional<std::string> process_environment(const std::string& name);

struct LocalRank {
  std::string variable;  // what said so
  std::size_t local = 0;
  std::optional<std::size_t> size;  // of all ranks on this machine
};

// Of torchrun, MPI or Slurm, the innermost of them.
std::optional<LocalRank> local_rank(const Environment& environment);

// "12.0", of this task of a job step. Absent in a batch script and in an interactive shell: Slurm gives these the
// numbers of a task too, but they are the whole job's, and what they start may use all its GPUs.
std::optional<std::string> slurm_step(const Environment& environment);

}  // namespace joulecast
