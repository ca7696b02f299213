// SPDX-License-Identifier: Apache-2.0
#include "profile/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/whole_file.h"
#include "dataset/measurement_csv.h"
#include "profile/shards.h"

namespace joulecast::profile {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kCampaignFile = "campaign.json";
constexpr const char* kCasesFile = "cases.jsonl";

tl::unexpected<Error> failed(const std::string& path) {
  return io_error(fmt::format("{}: {}", path, std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
}

// Not mapped: a campaign may cut its last line off while it is read.
Result<std::string> read_file(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return invalid(path + ": is no regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) return failed(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

struct Lines {
  std::map<std::string, CaseResult> results;
  std::size_t whole = 0;   // bytes of whole lines
  bool half_line = false;  // at the end: we were killed while it was written
};

Result<Lines> read_lines(const std::string& file) {
  JC_ASSIGN_OR_RETURN(const std::string text, read_file(file));
  Lines out;
  for (std::size_t line = 1; out.whole < text.size(); ++line) {
    const std::size_t end = text.find('\n', out.whole);
    out.half_line = end == std::string::npos;
    if (out.half_line) break;
    auto result = parse_journal_line(std::string_view(text).substr(out.whole, end - out.whole));
    if (!result) return tl::unexpected<Error>(std::move(result).error().in(fmt::format("{}: line {}", file, line)));
    std::string id = result->id;
    out.results.insert_or_assign(std::move(id), std::move(*result));
    out.whole = end + 1;
  }
  return out;
}

// Networks of the zoo are made before a campaign begins, and it may end before campaign.json is written.
bool holds_others_files(const std::string& folder) {
  std::error_code ignored;
  const fs::directory_iterator entries(folder, ignored);
  return std::any_of(begin(entries), end(entries), [&](const auto& entry) {
    const std::string name = entry.path().filename();
    return name != "zoo" && (name != kCasesFile || entry.file_size(ignored) > 0);
  });
}

// What a campaign says of something, as far as an error can hold it.
std::string said(const Json& campaign, const std::string& key) {
  constexpr std::size_t kEnough = 80;
  const auto at = campaign.find(key);
  if (at == campaign.end()) return key == "label" ? "unknown" : "the usual one";
  if (at->is_string()) return at->get<std::string>().substr(0, kEnough);
  return at->is_structured() ? "no text" : at->dump();
}

// "gpu is a30 there and cpu here", for what two campaigns differ in; empty where they are the same.
std::string differences(const std::string& there, const std::string& here) {
  const Json before = Json::parse(there, nullptr, false), now = Json::parse(here, nullptr, false);
  if (!before.is_object()) return fmt::format("{} is {}", kCampaignFile, there.empty() ? "empty" : "no JSON object");
  std::set<std::string> keys;
  for (const Json* json : {&before, &now}) {
    for (const auto& [key, value] : json->items()) keys.insert(key);
  }
  std::vector<std::string> out;
  for (const std::string& key : keys) {
    const std::string old = said(before, key), wanted = said(now, key);
    if (old != wanted) out.push_back(fmt::format("{} is {} there and {} here", key, old, wanted));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

// What was measured in a folder goes on only as the same campaign.
Result<void> check_same(const std::string& folder, const std::string& what) {
  const auto there = read_file(folder + "/" + kCampaignFile);
  const std::string found = differences(there.value_or(""), what);
  if (found.empty()) return {};
  return invalid(fmt::format("{}: {}: {}", folder, kOtherCampaign, found));
}

bool has_cases(const std::string& folder) {
  std::error_code missing;
  return fs::file_size(folder + "/" + kCasesFile, missing) > 0 && !missing;
}

// Requires: no shard is being opened.
bool is_running(const std::string& shard) {
  const int descriptor = ::open((shard + "/" + kCasesFile).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  ::close(descriptor);
  return locked;
}

// To ask whether somebody runs takes a lock for a moment.
enum class Locks : std::uint8_t { kMayBeAsked, kStayAlone };

// Whether the folder may hold a campaign of `what`. Rows of all shards become one table, and one may run that has not
// come to a case yet.
Result<void> check_campaign(const std::string& folder, bool is_empty, const std::string& what, Locks locks) {
  for (const std::string& shard : other_shards(folder)) {
    if (has_cases(shard) || (locks == Locks::kMayBeAsked && is_running(shard)))
      JC_RETURN_IF_ERROR(check_same(shard, what));
  }
  return is_empty ? Result<void>() : check_same(folder, what);
}

Result<void> check_files(const std::string& folder) {
  if (!fs::exists(folder + "/" + kCampaignFile) && holds_others_files(folder))
    return invalid(fmt::format("{}: holds files that are of no campaign", folder));
  return {};
}

// Whether the folder could be made, or a campaign there be written.
Result<void> check_place(const std::string& folder) {
  std::error_code ignored;
  fs::path place = fs::absolute(folder);
  while (!fs::exists(place, ignored) && place.has_relative_path()) place = place.parent_path();
  if (!fs::is_directory(place, ignored)) {
    return io_error(fmt::format("{}: {}", folder, std::make_error_code(std::errc::not_a_directory).message()));
  }
  const bool is_there = fs::is_directory(folder, ignored);
  const std::string cases = folder + "/" + kCasesFile;
  const bool writable = is_there && fs::exists(cases, ignored) ? ::access(cases.c_str(), R_OK | W_OK) == 0
                                                               : ::access(place.c_str(), W_OK | X_OK) == 0;
  return writable ? Result<void>() : failed(is_there ? cases : folder);
}

}  // namespace

Result<Journal> Journal::open(const std::string& folder, const std::string& what) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return io_error(fmt::format("{}: {}", folder, error.message()));
  JC_RETURN_IF_ERROR(check_files(folder));
  const std::string cases = folder + "/" + kCasesFile;
  std::optional<ShardsLock> one_at_a_time;  // of shards that start together the first says what all are of
  if (is_shard(folder)) one_at_a_time.emplace(fs::path(folder).parent_path().string());
  const int descriptor = ::open(cases.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return failed(cases);
  Journal out(folder, descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    return invalid(fmt::format("{}: another campaign runs there", folder));
  JC_RETURN_IF_ERROR(out.load());
  JC_RETURN_IF_ERROR(out.take(what));
  return out;
}

Result<void> Journal::take(const std::string& what) {
  JC_RETURN_IF_ERROR(check_campaign(folder_, results_.empty(), what, Locks::kMayBeAsked));
  if (!results_.empty()) return {};
  // A campaign that never came to a case leaves its folder to the next.
  return replace_file(path(kCampaignFile), what);
}

Result<std::optional<std::map<std::string, CaseResult>>> Journal::look(const std::string& folder,
                                                                       const std::optional<std::string>& what) {
  JC_RETURN_IF_ERROR(check_place(folder));
  JC_RETURN_IF_ERROR(check_files(folder));
  std::error_code ignored;
  Lines lines;
  if (const std::string cases = folder + "/" + kCasesFile; fs::exists(cases, ignored)) {
    JC_ASSIGN_OR_RETURN(lines, read_lines(cases));
  }
  if (what) JC_RETURN_IF_ERROR(check_campaign(folder, lines.results.empty(), *what, Locks::kStayAlone));
  if (!fs::exists(folder + "/" + kCampaignFile, ignored)) return std::nullopt;
  return std::move(lines.results);
}

Journal::Journal(Journal&& other) noexcept
    : folder_(std::move(other.folder_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      results_(std::move(other.results_)) {}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> Journal::load() {
  const std::string file = path(kCasesFile);
  JC_ASSIGN_OR_RETURN(Lines lines, read_lines(file));
  results_ = std::move(lines.results);
  if (lines.half_line && ::ftruncate(descriptor_, static_cast<off_t>(lines.whole)) != 0) return failed(file);
  return {};
}

Result<std::map<std::string, CaseResult>> Journal::read(const std::string& folder) {
  std::vector<std::string> parts = shard_folders(folder);
  parts.push_back(folder);
  std::erase_if(parts, [](const std::string& part) { return !fs::exists(part + "/" + kCampaignFile); });
  if (parts.empty()) return not_found(fmt::format("{}: no campaign is there", folder));
  std::map<std::string, CaseResult> out;
  for (const std::string& part : parts) {
    JC_ASSIGN_OR_RETURN(Lines lines, read_lines(part + "/" + kCasesFile));
    for (auto& [id, result] : lines.results) {
      const auto before = out.find(id);
      if (before == out.end() || before->second.started <= result.started) out[id] = std::move(result);
    }
  }
  return out;
}

Result<void> Journal::add(const CaseResult& result) {
  JC_RETURN_IF_ERROR(write_all(descriptor_, journal_line(result) + "\n", path(kCasesFile)));
  if (::fdatasync(descriptor_) != 0) return failed(path(kCasesFile));
  results_.insert_or_assign(result.id, result);
  return {};
}

std::string Journal::next_log() const {
  for (int i = 1;; ++i) {
    std::string name = path(fmt::format("log-{:04}.jcrun", i));
    if (!fs::exists(name)) return name;
  }
}

Result<void> Journal::write_measurements(const Plan& plan, const Bench& bench) const {
  std::map<std::string, CaseResult> others = results_;
  std::string text = csv_header();
  const auto add_row = [&](const CaseResult& result) {
    const bool row = result.subject.operation.op != kOptimizer;  // no dataset has such
    if (row && result.measured) text += csv_line(measurement(result, bench));
  };
  for (const PlannedCase& planned : plan.cases()) {
    auto found = others.extract(planned.id);
    if (found.empty()) continue;
    found.mapped().subject = subject_of(planned);  // older journals lack sizes of images
    add_row(found.mapped());
  }
  for (const auto& [id, result] : others) add_row(result);
  return replace_file(path(kMeasurementsFile), text);
}

bool Journal::has_measurements() const {
  std::error_code missing;
  const auto rows = fs::last_write_time(path(kMeasurementsFile), missing);
  return !missing && rows >= fs::last_write_time(path(kCasesFile), missing) && !missing;
}

}  // namespace joulecast::profile
