// SPDX-License-Identifier: Apache-2.0
#include "measure/run_head.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <string_view>

#include "power/local_rank.h"

namespace joulecast {
namespace {

using Json = nlohmann::ordered_json;

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// One entry of a list: the rank's number, how many there are, and what tells one job from another.
struct RankVariables {
  const char* rank;
  const char* size;
  const char* job;
};
constexpr std::array kRankVariables{
    RankVariables{"RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
    RankVariables{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_ess_base_jobid"},
    RankVariables{"PMI_RANK", "PMI_SIZE", "PMI_JOBID"},
};

// It becomes part of a file's name.
bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

Json rank_of_environment() {
  for (const RankVariables& names : kRankVariables) {
    const auto rank = process_environment(names.rank);
    const auto size = process_environment(names.size);
    if (!rank || !size || !is_number(*rank)) continue;
    const std::string job = process_environment(names.job).value_or(process_environment("SLURM_JOB_ID").value_or(""));
    return {{"rank", *rank}, {"size", *size}, {"job", job}, {"from", names.rank}};
  }
  const auto step = slurm_step(process_environment);
  const auto rank = process_environment("SLURM_PROCID");
  const auto size = process_environment("SLURM_NTASKS");
  if (!step || !rank || !size || !is_number(*rank)) return nullptr;
  return {{"rank", *rank}, {"size", *size}, {"job", *step}, {"from", "SLURM_PROCID"}};
}

Json environment() {
  Json out = Json::object();
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES", "SLURM_JOB_ID"}) {
    if (const auto value = process_environment(name)) out[name] = *value;
  }
  return out;
}

// "Debian GNU/Linux 12 (bookworm)"; empty where the system does not say.
std::string distribution() {
  constexpr std::string_view kKey = "PRETTY_NAME=";
  std::ifstream in("/etc/os-release");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kKey)) continue;
    line.erase(0, kKey.size());
    const bool quoted =
        line.size() >= 2 && (line.front() == '"' || line.front() == '\'') && line.back() == line.front();
    return quoted ? line.substr(1, line.size() - 2) : line;
  }
  return {};
}

Json machine() {
  utsname system{};
  ::uname(&system);
  return {{"host", system.nodename},
          {"os", fmt::format("{} {}", system.sysname, system.release)},
          {"distribution", distribution()},
          {"architecture", system.machine},
          {"boot_id", first_line("/proc/sys/kernel/random/boot_id")},
          {"cpus", ::sysconf(_SC_NPROCESSORS_ONLN)}};
}

}  // namespace

std::string own_rank() {
  const Json rank = rank_of_environment();
  return rank.is_null() ? "0" : rank["rank"].get<std::string>();
}

std::string iso_utc(std::int64_t microseconds) {
  constexpr std::int64_t kOfSecond = 1'000'000;
  constexpr std::int64_t kOfMillisecond = 1000;
  const std::time_t seconds = microseconds / kOfSecond;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     microseconds % kOfSecond / kOfMillisecond);
}

Json run_head(const std::vector<std::string>& command, const Found& found, const std::string& tool_version) {
  Json devices = Json::array();
  for (const MeasuredDevice& device : found.devices) {
    devices.push_back({{"id", device.id}, {"kind", device.kind}, {"name", device.name}, {"details", device.details}});
  }
  Json missing = Json::array();
  for (const Missing& one : found.missing) {
    missing.push_back({{"what", one.what}, {"why", one.why}, {"remedy", one.remedy}});
  }
  Json head{{"schema", "joulecast.recording/1"},
            {"tool", "joulecast " + tool_version},
            {"started_utc", iso_utc(utc_now())},
            {"command", command},
            {"machine", machine()},
            {"environment", environment()},
            {"devices", devices},
            {"missing", missing},
            {"gpu_choice", found.choice}};
  if (Json rank = rank_of_environment(); !rank.is_null()) head["rank"] = std::move(rank);
  return head;
}

}  // namespace joulecast
