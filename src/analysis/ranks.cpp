// SPDX-License-Identifier: Apache-2.0
#include "analysis/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/run_device.h"

namespace joulecast {
namespace {

struct Rank {
  std::string number, size, job;
};

std::string text(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::optional<Rank> rank_of(const Recording& recording) {
  const auto rank = recording.head.find("rank");
  if (rank == recording.head.end() || !rank->is_object()) return std::nullopt;
  return Rank{text(*rank, "rank"), text(*rank, "size"), text(*rank, "job")};
}

// What makes a GPU one of its own over all machines.
std::string identity(const Recording& recording, const std::string& device) {
  if (std::string uuid = uuid_of(recording, device); !uuid.empty()) return uuid;
  const auto machine = recording.head.find("machine");
  const bool known = machine != recording.head.end() && machine->is_object();
  return fmt::format("{}/{}", known ? text(*machine, "host") : std::string(), device);
}

bool is_gpu(const DeviceSummary& device) {
  return names_a_gpu(device.device);
}

// Ranks that share a GPU all saw all of it: the longest look counts.
std::map<std::string, std::optional<double>> energies(const std::vector<RankRun>& runs) {
  std::map<std::string, std::optional<double>> out;
  for (const RankRun& run : runs) {
    for (const DeviceSummary& device : run.summary->devices) {
      if (!is_gpu(device)) continue;
      const auto energy = device.energy_j ? std::optional(device.energy_j->mean) : std::nullopt;
      const auto [at, fresh] = out.emplace(identity(*run.recording, device.device), energy);
      if (!fresh) at->second = std::max(at->second, energy);
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> rank_named_twice(const std::vector<RankRun>& runs) {
  std::map<std::string, std::string> paths;  // by number
  std::optional<std::string> twice;
  std::optional<Rank> first;
  for (const RankRun& run : runs) {
    const auto rank = rank_of(*run.recording);
    if (!rank || rank->size == "1") return std::nullopt;
    if (!first) first = rank;
    if (rank->job != first->job || rank->size != first->size) return std::nullopt;
    const auto [at, fresh] = paths.emplace(rank->number, run.path);
    if (fresh || twice) continue;
    twice = fmt::format("not summed as one job: {} and {} are both of its rank {}", at->second, run.path, rank->number);
  }
  return twice;
}

std::optional<RankSum> sum_of_ranks(const std::vector<RankRun>& runs) {
  std::set<std::string> numbers;
  std::optional<Rank> first;
  for (const RankRun& run : runs) {
    const auto rank = rank_of(*run.recording);
    if (!rank || !numbers.insert(rank->number).second) return std::nullopt;
    if (!first) first = rank;
    if (rank->job != first->job || rank->size != first->size) return std::nullopt;
  }
  if (numbers.size() < 2) return std::nullopt;
  RankSum out;
  out.ranks = numbers.size();
  for (const RankRun& run : runs) out.time_s = std::max(out.time_s, run.summary->time_s.mean);
  const auto by_gpu = energies(runs);
  out.gpus = by_gpu.size();
  const bool all = !by_gpu.empty() &&
                   std::all_of(by_gpu.begin(), by_gpu.end(), [](const auto& one) { return one.second.has_value(); });
  if (all) {
    out.energy_j = 0;
    for (const auto& [gpu, energy] : by_gpu) *out.energy_j += *energy;
  }
  if (std::to_string(numbers.size()) != first->size) {
    out.doubts.push_back(fmt::format("the job had {} ranks, these are {}", first->size, numbers.size()));
  }
  return out;
}

}  // namespace joulecast
