// SPDX-License-Identifier: Apache-2.0
#include "power/local_rank.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace joulecast {
namespace {

std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::size_t> number(const Environment& environment, const char* name) {
  const auto text = environment(name);
  return text ? whole_number(*text) : std::nullopt;
}

// "2(x3),1": three nodes of two tasks, then one of one.
std::optional<std::size_t> tasks_of_node(std::string_view list, std::size_t node) {
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), entry.size() + 1));
    const std::size_t bracket = entry.find("(x");
    const auto tasks = whole_number(entry.substr(0, bracket));
    const auto nodes = bracket == std::string_view::npos || !entry.ends_with(')')
                           ? std::optional<std::size_t>(1)
                           : whole_number(entry.substr(bracket + 2, entry.size() - bracket - 3));
    if (!tasks || !nodes) return std::nullopt;
    if (node < *nodes) return tasks;
    node -= *nodes;
  }
  return std::nullopt;
}

std::optional<LocalRank> slurm_rank(const Environment& environment) {
  constexpr const char* kVariable = "SLURM_LOCALID";
  const auto local = number(environment, kVariable);
  if (!local || !slurm_step(environment)) return std::nullopt;
  const auto node = number(environment, "SLURM_NODEID");
  const auto list = environment("SLURM_STEP_TASKS_PER_NODE");
  return LocalRank{kVariable, *local, node && list ? tasks_of_node(*list, *node) : std::nullopt};
}

struct Variables {
  const char* rank;
  const char* size;
};

}  // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody here changes it
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<LocalRank> local_rank(const Environment& environment) {
  constexpr std::array kLaunchers{
      Variables{"LOCAL_RANK", "LOCAL_WORLD_SIZE"},
      Variables{"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
      Variables{"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
  };
  for (const Variables& launcher : kLaunchers) {
    if (const auto local = number(environment, launcher.rank)) {
      return LocalRank{launcher.rank, *local, number(environment, launcher.size)};
    }
  }
  return slurm_rank(environment);
}

std::optional<std::string> slurm_step(const Environment& environment) {
  constexpr std::size_t kFirstReserved = 0xFFFFFFF0;  // steps that are the job's shells: slurm.h
  const auto job = environment("SLURM_JOB_ID");
  const auto step = number(environment, "SLURM_STEP_ID");
  if (!job || !step || *step >= kFirstReserved) return std::nullopt;
  return *job + "." + std::to_string(*step);
}

}  // namespace joulecast
