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

Result<std::string> read_file(const std::string& path) {
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

// Rows of all shards become one table.
Result<void> check_other_shards(const std::string& folder, const std::string& what) {
  for (const std::string& shard : other_shards(folder)) {
    std::error_code none;
    const auto size = fs::file_size(shard + "/" + kCasesFile, none);
    if (!none && size > 0) JC_RETURN_IF_ERROR(check_same(shard, what));
  }
  return {};
}

}  // namespace

Result<Journal> Journal::open(const std::string& folder, const std::string& what) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return io_error(fmt::format("{}: {}", folder, error.message()));
  if (!fs::exists(folder + "/" + kCampaignFile) && holds_others_files(folder))
    return invalid(fmt::format("{}: holds files that are of no campaign", folder));
  const std::string cases = folder + "/" + kCasesFile;
  const int descriptor = ::open(cases.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return failed(cases);
  Journal out(folder, descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    return invalid(fmt::format("{}: another campaign runs there", folder));
  JC_RETURN_IF_ERROR(out.load());
  JC_RETURN_IF_ERROR(check_other_shards(folder, what));
  if (!out.results_.empty()) {
    JC_RETURN_IF_ERROR(check_same(folder, what));
  } else {  // a campaign that never came to a case leaves its folder to the next
    JC_RETURN_IF_ERROR(replace_file(folder + "/" + kCampaignFile, what));
  }
  return out;
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

}  // namespace joulecast::profile
