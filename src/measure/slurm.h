// SPDX-License-Identifier: Apache-2.0
// What scripts for sbatch have in common.
#pragma once

#include <string>

#include "joulecast/result.h"

namespace joulecast {

// For the shell: 'it'\''s'.
std::string shell_quoted(const std::string& text);

// "folder/slurm-%A_%a.out", absolute, as sbatch reads it in a script.
std::string slurm_log_pattern(const std::string& folder);

// A line for an option, "#SBATCH --comment=\"a b\"": a value with blanks in it is quoted as sbatch reads it. Options of
// two words, "-p gpu", and values that are quoted stay as they are.
std::string sbatch_line(const std::string& option);

// Hands a script to sbatch. What sbatch said comes back. Errors: kNotFound without sbatch, kDevice where it refuses.
Result<std::string> submit_to_slurm(const std::string& script_path);

}  // namespace joulecast
