// SPDX-License-Identifier: Apache-2.0
#include "measure/slurm.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>

namespace joulecast {

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return out + "'";
}

namespace {

// In a script's #SBATCH lines a backslash takes the meaning from what follows it.
std::string sbatch_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter;
  }
  return out + '"';
}

}  // namespace

// %% is a percent sign.
std::string slurm_log_pattern(const std::string& folder) {
  std::string path;
  for (const char letter : std::filesystem::absolute(folder).lexically_normal().string())
    path += letter == '%' ? std::string("%%") : std::string(1, letter);
  return sbatch_quoted(path + "/slurm-%A_%a.out");
}

std::string sbatch_line(const std::string& option) {
  const std::size_t value = option.find('=') + 1;  // 0: none
  const bool long_option = option.starts_with("--") && value > 0 && option.find_first_of(" \t") >= value;
  // An unquoted # begins a comment.
  if (!long_option || option.find_first_of(" \t#", value) == std::string::npos || option[value] == '"' ||
      option[value] == '\'') {
    return fmt::format("#SBATCH {}\n", option);
  }
  return fmt::format("#SBATCH {}{}\n", option.substr(0, value), sbatch_quoted(option.substr(value)));
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
