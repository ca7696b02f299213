// SPDX-License-Identifier: Apache-2.0
#include "measure/restore_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace joulecast {
namespace {

constexpr const char* kSchema = "joulecast.restore/1";
constexpr int kStartField = 20;  // of /proc/PID/stat, counted after the name in brackets

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string why() {
  return std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): one thread writes journals
}

nlohmann::json to_json(const ProcessMark& process) {
  return {{"pid", process.pid}, {"started", process.started}};
}

ProcessMark process_of(const nlohmann::json& json, const char* key) {
  const nlohmann::json process = json.value(key, nlohmann::json::object());
  return {process.value("pid", pid_t{0}), process.value("started", std::uint64_t{0})};
}

std::string text_of(const RestoreJournal& journal) {
  nlohmann::json gpus = nlohmann::json::array();
  for (const FoundSettings& found : journal.gpus) gpus.push_back(joulecast::to_json(found));
  return nlohmann::json{{"schema", kSchema},
                        {"host", journal.host},
                        {"boot", journal.boot},
                        {"owner", to_json(journal.owner)},
                        {"guardian", to_json(journal.guardian)},
                        {"purpose", journal.purpose},
                        {"gpus", gpus}}
             .dump(2) +
         "\n";
}

Result<void> write_all(int file, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t size = ::write(file, text.data() + at, text.size() - at);
    if (size < 0 && errno != EINTR) return io_error(why());
    if (size > 0) at += static_cast<std::size_t>(size);
  }
  return {};
}

// A new file is safe only once its folder is on the disk too.
Result<void> sync_path(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = file >= 0 && ::fsync(file) == 0;
  const std::string error = synced ? "" : why();
  if (file >= 0) ::close(file);
  if (!synced) return io_error(fmt::format("{}: {}", path, error));
  return {};
}

Result<void> write_durably(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return io_error(fmt::format("{}: {}", path, why()));
  auto written = write_all(file, text);
  if (written && ::fsync(file) != 0) written = io_error(why());
  ::close(file);
  if (!written) return tl::unexpected<Error>(std::move(written).error().in(path));
  return {};
}

// "gpu0 (GPU-8f3a...): power limit 500 W".
std::string sentence(const FoundSettings& found) {
  constexpr double kWatts = 1e-3;
  std::string out = fmt::format("gpu{} ({}):", found.index, found.uuid);
  if (found.limit_changes && found.power_limit_mw)
    out += fmt::format(" power limit {:g} W,", *found.power_limit_mw * kWatts);
  if (found.application_changes && found.application)
    out += fmt::format(" application clocks {},{} MHz,", found.application->memory_mhz, found.application->sm_mhz);
  if (found.sm_lock_changes) out += " SM clocks unlocked,";
  if (found.memory_lock_changes) out += " memory clocks unlocked,";
  out.pop_back();
  return out;
}

std::string after_restart(const RestoreJournal& journal) {
  return fmt::format("{}: the machine was restarted since; limits and clocks went with the driver, nothing to put back",
                     journal.purpose);
}

void restore_one(const RestoreJournal& journal, RestoreMode mode, RestoreReport& report) {
  if (journal.host != this_host()) {
    report.left.push_back(fmt::format("{}: of machine {}; run joulecast restore there", journal.path, journal.host));
    return;
  }
  const bool restarted = !journal.boot.empty() && journal.boot != this_boot();
  if (!restarted && journal.in_use()) {
    report.left.push_back(fmt::format("{}: {} is running (process {})", journal.path, journal.purpose,
                                      is_alive(journal.owner) ? journal.owner.pid : journal.guardian.pid));
    return;
  }
  if (restarted) {
    report.done.push_back(after_restart(journal));
    if (mode == RestoreMode::kDo) remove_journal(journal);
    return;
  }
  if (mode == RestoreMode::kDryRun) {
    for (const FoundSettings& found : journal.gpus) report.done.push_back(sentence(found));
    return;
  }
  auto restored = restore_journal(journal);
  if (restored) {
    report.done.insert(report.done.end(), restored->begin(), restored->end());
  } else {
    report.failed.push_back(fmt::format("{} ({} stays)", restored.error().text(), journal.path));
  }
}

}  // namespace

ProcessMark mark_process(pid_t pid) {
  const std::string stat = file_text(fmt::format("/proc/{}/stat", pid));
  const auto name_end = stat.rfind(')');  // the name itself may hold brackets and spaces
  if (name_end == std::string::npos) return {pid, 0};
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int i = 1; i < kStartField; ++i) {
    fields >> skipped;
    if (i == 1 && skipped == "Z") return {pid, 0};  // dead, only not buried
  }
  ProcessMark mark{pid, 0};
  fields >> mark.started;
  return mark;
}

bool is_alive(const ProcessMark& process) {
  return process.started != 0 && mark_process(process.pid) == process;
}

bool RestoreJournal::in_use() const {
  return host == this_host() && (is_alive(owner) || is_alive(guardian));
}

Result<std::string> restore_folder() {
  const char* state = std::getenv("XDG_STATE_HOME");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  if (state != nullptr && *state == '/') return std::string(state) + "/joulecast/restore";
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  if (home != nullptr && *home == '/') return std::string(home) + "/.local/state/joulecast/restore";
  return not_found("no folder to keep the found settings in: set XDG_STATE_HOME or HOME");
}

std::string this_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string this_boot() {
  std::string id = file_text("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

Result<void> write_journal(RestoreJournal& journal) {
  JC_ASSIGN_OR_RETURN(const std::string folder, restore_folder());
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return io_error(fmt::format("{}: {}", folder, error.message()));
  // Homes are shared by machines, numbers of processes come again.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string name = fmt::format("{}/{}-{}-{}", folder, journal.host, journal.owner.pid,
                                       std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  JC_RETURN_IF_ERROR(write_durably(name + ".part", text_of(journal)));
  if (::rename((name + ".part").c_str(), (name + ".json").c_str()) != 0) {
    return io_error(fmt::format("{}.json: {}", name, why()));
  }
  journal.path = name + ".json";
  return sync_path(folder);
}

Result<RestoreJournal> read_journal(const std::string& path) {
  const nlohmann::json json = nlohmann::json::parse(file_text(path), nullptr, false);
  if (!json.is_object() || json.value("schema", std::string()) != kSchema || !json.contains("gpus")) {
    return invalid(fmt::format("{}: no journal of this version of joulecast", path));
  }
  RestoreJournal out;
  try {
    out = {path,
           json.value("host", std::string()),
           json.value("boot", std::string()),
           process_of(json, "owner"),
           process_of(json, "guardian"),
           json.value("purpose", std::string()),
           {}};
  } catch (const nlohmann::json::exception& error) {
    return invalid(fmt::format("{}: {}", path, error.what()));
  }
  for (const nlohmann::json& gpu : json["gpus"]) {
    auto found = found_of_json(gpu);
    if (!found) return tl::unexpected<Error>(std::move(found).error().in(path));
    out.gpus.push_back(*std::move(found));
  }
  return out;
}

void remove_journal(const RestoreJournal& journal) {
  if (!journal.path.empty()) ::unlink(journal.path.c_str());
}

std::vector<RestoreJournal> list_journals(const std::string& folder, std::vector<Error>& damaged) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<RestoreJournal> out;
  for (const std::string& path : paths) {
    auto journal = read_journal(path);
    if (journal) {
      out.push_back(*std::move(journal));
    } else {
      damaged.push_back(std::move(journal).error());
    }
  }
  return out;
}

Result<std::vector<std::string>> restore_journal(const RestoreJournal& journal) {
  JC_ASSIGN_OR_RETURN(const auto library, NvmlLibrary::open());
  std::vector<Missing> missing;
  JC_ASSIGN_OR_RETURN(const std::vector<NvmlGpu> gpus, list_nvml_gpus(library, missing));
  std::vector<std::string> done;
  std::string failures;
  for (const FoundSettings& found : journal.gpus) {
    const auto gpu = gpu_with_uuid(gpus, found.uuid);
    const Result<void> restored = gpu ? restore_settings(*gpu, found) : tl::unexpected<Error>(gpu.error());
    if (restored) {
      done.push_back(sentence(found));
    } else {
      failures += (failures.empty() ? "" : "; ") + restored.error().text();
    }
  }
  if (!failures.empty()) return tl::unexpected<Error>(Error{ErrorCode::kDevice, failures});
  remove_journal(journal);
  return done;
}

RestoreReport restore_all(const std::string& folder, RestoreMode mode) {
  RestoreReport report;
  std::vector<Error> damaged;
  for (const RestoreJournal& journal : list_journals(folder, damaged)) restore_one(journal, mode, report);
  for (const Error& error : damaged) report.failed.push_back(error.text());
  return report;
}

}  // namespace joulecast
