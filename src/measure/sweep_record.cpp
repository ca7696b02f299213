// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/whole_file.h"
#include "measure/restore_journal.h"
#include "measure/sweep_claim.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kFolderSchema = "joulecast.sweep/1";
constexpr const char* kRunSchema = "joulecast.sweep-run/1";
constexpr const char* kFolderFile = "/sweep.json";
constexpr double kMilli = 1000;

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<void> write_json(const std::string& path, const Json& json) {
  return replace_file(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

// What has to be the same for runs to belong together; limits and repetitions may be added later.
Json identity_of(const SweepPlan& plan) {
  return {{"schema", kFolderSchema}, {"command", plan.command}, {"working_directory", plan.working_directory}};
}

Json range_json(const ClockRange& range) {
  return {range.low_mhz, range.high_mhz};
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> pair_of(const Json& json, const char* key) {
  const auto at = json.find(key);
  if (at == json.end() || !at->is_array() || at->size() != 2) return std::nullopt;
  return std::pair{(*at)[0].get<std::uint32_t>(), (*at)[1].get<std::uint32_t>()};
}

GpuSettings settings_of(const Json& json) {
  GpuSettings out;
  if (json.contains("power_limit_w"))
    out.power_limit_mw = static_cast<std::uint32_t>(std::lround(json["power_limit_w"].get<double>() * kMilli));
  if (const auto lock = pair_of(json, "sm_lock_mhz")) out.sm_lock = ClockRange{lock->first, lock->second};
  if (const auto lock = pair_of(json, "memory_lock_mhz")) out.memory_lock = ClockRange{lock->first, lock->second};
  if (const auto clocks = pair_of(json, "application_mhz"))
    out.application = ApplicationClocks{clocks->first, clocks->second};
  return out;
}

Json json_of(const SweepRecord& record) {
  Json parameters = Json::object();
  for (const auto& [name, value] : record.run.parameters) parameters[name] = value;
  Json gpus = Json::array();
  for (const FoundSettings& found : record.gpus) gpus.push_back(Json(to_json(found)));
  Json out{{"schema", kRunSchema},
           {"parameters", parameters},
           {"settings", to_json(record.run.settings)},
           {"repetition", record.run.repetition},
           {"command", record.run.command},
           {"code", record.code},
           {"held", record.not_held.empty()},
           {"host", record.host},
           {"started", record.started_utc},
           {"wall_s", record.wall_s},
           {"cooled", record.cooled},
           {"found", gpus}};
  if (!record.not_held.empty()) out["not_held"] = record.not_held;
  if (record.start_temperature_c) out["start_temperature_c"] = *record.start_temperature_c;
  return out;
}

Result<SweepRecord> record_of(const Json& json) {
  SweepRecord out;
  try {
    if (!json.is_object() || json.at("schema") != kRunSchema) return invalid("no record of a run of this version");
    for (const auto& [name, value] : json.at("parameters").items()) {
      out.run.parameters.emplace_back(name, value.get<std::string>());
    }
    out.run.settings = settings_of(json.at("settings"));
    out.run.repetition = json.at("repetition").get<std::size_t>();
    out.run.command = json.at("command").get<std::vector<std::string>>();
    out.code = json.at("code").get<int>();
    out.host = json.at("host").get<std::string>();
    out.started_utc = json.at("started").get<std::string>();
    out.wall_s = json.at("wall_s").get<double>();
    out.cooled = json.at("cooled").get<bool>();
    out.not_held = json.value("not_held", std::string());
    if (json.contains("start_temperature_c")) out.start_temperature_c = json["start_temperature_c"].get<double>();
    for (const Json& gpu : json.at("found")) {
      JC_ASSIGN_OR_RETURN(auto found, found_of_json(gpu));
      out.gpus.push_back(std::move(found));
    }
  } catch (const nlohmann::json::exception& error) {
    return invalid(error.what());
  }
  return out;
}

Result<SweepRecord> read_record(const std::string& path) {
  auto record = record_of(Json::parse(file_text(path), nullptr, false));
  if (!record) return tl::unexpected<Error>(std::move(record).error().in(path));
  return record;
}

}  // namespace

Json to_json(const GpuSettings& settings) {
  Json out = Json::object();
  if (settings.power_limit_mw) out["power_limit_w"] = *settings.power_limit_mw / kMilli;
  if (settings.sm_lock) out["sm_lock_mhz"] = range_json(*settings.sm_lock);
  if (settings.memory_lock) out["memory_lock_mhz"] = range_json(*settings.memory_lock);
  if (settings.application) out["application_mhz"] = {settings.application->memory_mhz, settings.application->sm_mhz};
  return out;
}

namespace {

// A folder that may not be looked into is an error, not one without the file.
Result<bool> is_there(const std::string& path) {
  std::error_code error;
  const bool there = fs::exists(path, error);
  if (error) return io_error(fmt::format("{}: {}", path, error.message()));
  return there;
}

}  // namespace

Result<SweepFolder> SweepFolder::find(const SweepPlan& plan) {
  // Runs may be started elsewhere than here.
  const std::string path = fs::absolute(plan.output).lexically_normal().string();
  Json identity = identity_of(plan);
  JC_ASSIGN_OR_RETURN(const bool there, is_there(path + kFolderFile));
  if (there && Json::parse(file_text(path + kFolderFile), nullptr, false) != identity) {
    return invalid(fmt::format("{}: the sweep of another command lies there; choose another output folder", path));
  }
  return SweepFolder(path, std::move(identity));
}

Result<void> SweepFolder::make() {
  JC_ASSIGN_OR_RETURN(const bool there, is_there(path_ + kFolderFile));
  if (there) return {};
  std::error_code error;
  for (fs::path at = path_; !fs::exists(at, error) && at.has_relative_path(); at = at.parent_path()) {
    if (at.has_filename()) made_.push_back(at.string());
  }
  fs::create_directories(path_, error);
  if (error) return io_error(fmt::format("{}: {}", path_, error.message()));
  new_ = true;
  return write_json(path_ + kFolderFile, identity_);
}

void SweepFolder::unmake() {
  std::error_code error;
  const fs::directory_iterator files(path_, error);
  std::error_code ignored;
  const auto of_ours = fs::exists(path_ + kSweepLockFile, ignored) ? 2 : 1;
  if (!new_ || error || std::distance(begin(files), end(files)) != of_ours) return;
  fs::remove(path_ + kFolderFile, error);
  fs::remove(path_ + kSweepLockFile, error);
  for (const std::string& folder : made_) fs::remove(folder, error);  // only empty ones go
}

RunState SweepFolder::state(const SweepRun& run) const {
  const auto record = read_record(file(run, ".json"));
  if (!record) return RunState::kOpen;
  return record->code == 0 && record->not_held.empty() ? RunState::kFinished : RunState::kFailed;
}

std::optional<double> SweepFolder::wall_s(const SweepRun& run) const {
  const auto record = read_record(file(run, ".json"));
  if (!record) return std::nullopt;
  return record->wall_s;
}

Result<void> SweepFolder::set_aside(const SweepRun& run) const {
  constexpr std::array kEndings{".jcrun", ".log", ".json"};
  std::error_code ignored;
  const auto any = [&](const std::string& between) {
    return std::any_of(kEndings.begin(), kEndings.end(),
                       [&](const char* ending) { return fs::exists(file(run, (between + ending).c_str()), ignored); });
  };
  if (!any("")) return {};
  int attempt = 1;
  while (any(fmt::format(".attempt{}", attempt))) ++attempt;
  for (const char* ending : kEndings) {
    if (!fs::exists(file(run, ending), ignored)) continue;
    std::error_code error;
    fs::rename(file(run, ending), file(run, fmt::format(".attempt{}{}", attempt, ending).c_str()), error);
    if (error) return io_error(fmt::format("{}: {}", file(run, ending), error.message()));
  }
  return {};
}

Result<void> SweepFolder::finish(const SweepRecord& record) const {
  return write_json(file(record.run, ".json"), json_of(record));
}

Result<std::vector<SweepRecord>> read_records(const std::string& folder, std::vector<std::string>& damaged) {
  JC_ASSIGN_OR_RETURN(const bool there, is_there(folder + kFolderFile));
  if (!there) return not_found(fmt::format("{}: no folder of a sweep", folder));
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    const fs::directory_entry& entry = *at;
    const std::string name = entry.path().filename().string();
    const bool record =
        name.ends_with(".json") && name != kFolderFile + 1 && name.find(".attempt") == std::string::npos;
    if (record) paths.push_back(entry.path().string());
  }
  if (error) return io_error(fmt::format("{}: {}", folder, error.message()));
  std::sort(paths.begin(), paths.end());
  std::vector<SweepRecord> out;
  for (const std::string& path : paths) {
    if (auto record = read_record(path)) {
      out.push_back(*std::move(record));
    } else {
      damaged.push_back(record.error().text());
    }
  }
  return out;
}

std::vector<std::string> sweep_command_of(const std::string& folder) {
  const Json own = Json::parse(file_text(folder + kFolderFile), nullptr, false);
  std::vector<std::string> out;
  if (!own.is_object() || !own.contains("command") || !own["command"].is_array()) return out;
  for (const Json& word : own["command"]) {
    if (word.is_string()) out.push_back(word.get<std::string>());
  }
  return out;
}

}  // namespace joulecast
