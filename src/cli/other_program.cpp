// SPDX-License-Identifier: Apache-2.0
#include "cli/other_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/program_folder.h"

namespace joulecast::cli {
namespace {

std::string find_program(const std::string& name) {
  const std::string folder = program_folder();
  for (const char* place : {"/", "/../libexec/joulecast/"}) {
    std::string path = folder + place;
    path += name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

}  // namespace

Outcome become(const std::string& program, std::vector<std::string> arguments, const std::string& hint) {
  const std::string path = find_program(program);
  if (path.empty()) {
    return tl::unexpected<Failure>(Failure{{ErrorCode::kNotFound, program + " is not installed"}, hint});
  }
  std::vector<char*> words;
  words.reserve(arguments.size() + 2);
  std::string own = path;
  words.push_back(own.data());
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  ::execv(path.c_str(), words.data());
  return tl::unexpected<Failure>(
      Error{ErrorCode::kIo, fmt::format("{}: {}", path, std::strerror(errno))});  // NOLINT(concurrency-mt-unsafe)
}

std::string joulecast_program() {
  const std::string here = program_folder();
  for (const char* place : {"/joulecast", "/../../bin/joulecast"}) {
    if (std::filesystem::exists(here + place)) return std::filesystem::canonical(here + place).string();
  }
  return "joulecast";
}

Outcome run_elsewhere(std::string_view program, std::span<const std::string_view> arguments) {
  return become(std::string(program), {arguments.begin(), arguments.end()},
                "cmake --build builds it with everything else; make demo builds the first program alone");
}

}  // namespace joulecast::cli
