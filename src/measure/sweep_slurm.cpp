// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_slurm.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

namespace joulecast {
namespace {

std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

// As sbatch reads options in a script: a quoted word, in which %% is a percent sign.
std::string log_pattern(const std::string& folder) {
  std::string out = "\"";
  for (const char letter : folder) {
    if (letter == '"' || letter == '\\') out += '\\';
    if (letter == '%') out += '%';
    out += letter;
  }
  return out + "/slurm-%A_%a.out\"";
}

}  // namespace

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return out + "'";
}

std::string slurm_script(const SlurmSweep& sweep) {
  const SweepPlan& first = sweep.plans.front();
  std::size_t repetitions = 0;
  for (const SweepPlan& plan : sweep.plans) repetitions = std::max(repetitions, plan.repetitions);
  std::string options;
  for (const std::string& option : first.slurm_options) options += fmt::format("#SBATCH {}\n", option);
  std::string words;
  for (const std::string& word : sweep.options) words += " " + shell_quoted(word);
  return fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name=joulecast-sweep\n"
      "#SBATCH --array=1-{}\n"
      "#SBATCH --output={}\n"
      "# Neighbours on the same machine would be measured too.\n"
      "#SBATCH --exclusive\n"
      "# Time to put the settings back before Slurm ends the job.\n"
      "#SBATCH --signal=B:TERM@60\n"
      "{}"
      "# Submit it again to go on: finished runs are skipped.\n"
      "cd {} || exit 1\n"
      "exec {} sweep {} --repetition \"$SLURM_ARRAY_TASK_ID\"{}\n",
      repetitions, log_pattern(absolute(first.output)), options, shell_quoted(std::filesystem::current_path().string()),
      shell_quoted(sweep.program), shell_quoted(absolute(sweep.plan_path)), words);
}

Result<std::string> submit_to_slurm(const std::string& script_path) {
  constexpr int kNotFound = 127;
  const std::string command = "sbatch " + shell_quoted(script_path) + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "re");  // NOLINT(cert-env33-c): sbatch is found as the shell finds it
  if (pipe == nullptr) return io_error("sbatch: cannot be started");
  std::string said;
  std::array<char, 256> piece{};
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) said += piece.data();
  const int status = ::pclose(pipe);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return said;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound) {
    return not_found(fmt::format("no sbatch here; run it where Slurm is: sbatch {}", script_path));
  }
  for (std::size_t at = said.find('\n'); at != std::string::npos; at = said.find('\n', at)) said.replace(at, 1, "; ");
  return tl::unexpected<Error>(Error{ErrorCode::kDevice, fmt::format("sbatch: {}", said)});
}

}  // namespace joulecast
