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

// Networks of the zoo are made before a campaign begins.
bool holds_others_files(const std::string& folder) {
  std::error_code ignored;
  const fs::directory_iterator entries(folder, ignored);
  return std::any_of(begin(entries), end(entries), [](const auto& entry) { return entry.path().filename() != "zoo"; });
}

// "gpu is a30 there and cpu here", for what two campaigns differ in.
std::string differences(const std::string& there, const std::string& here) {
  const Json before = Json::parse(there, nullptr, false), now = Json::parse(here, nullptr, false);
  if (!before.is_object()) return fmt::format("{} cannot be read", kCampaignFile);
  std::vector<std::string> out;
  const auto text = [](const Json& json, const std::string& key) {
    const auto at = json.find(key);
    if (at == json.end()) return std::string("the usual one");
    return at->is_string() ? at->get<std::string>() : at->dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::set<std::string> keys;
  for (const Json* json : {&before, &now}) {
    for (const auto& [key, value] : json->items()) keys.insert(key);
  }
  for (const std::string& key : keys) {
    const std::string old = text(before, key), wanted = text(now, key);
    if (old != wanted) out.push_back(fmt::format("{} is {} there and {} here", key, old, wanted));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

}  // namespace

Result<Journal> Journal::open(const std::string& folder, const std::string& what) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return io_error(fmt::format("{}: {}", folder, error.message()));
  const std::string campaign = folder + "/" + kCampaignFile, cases = folder + "/cases.jsonl";
  const bool before = fs::exists(campaign);
  if (!before && holds_others_files(folder))
    return invalid(fmt::format("{}: holds files that are of no campaign", folder));
  const int descriptor = ::open(cases.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return failed(cases);
  Journal out(folder, descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    return invalid(fmt::format("{}: another campaign runs there", folder));
  JC_RETURN_IF_ERROR(out.load());
  const std::string there = before ? read_file(campaign).value_or("") : "";
  if (there == what) return out;
  // A campaign that never came to a case leaves its folder to the next.
  if (!out.results_.empty())
    return invalid(
        fmt::format("{}: is of another campaign: {}; -o names a folder of its own", folder, differences(there, what)));
  JC_RETURN_IF_ERROR(replace_file(campaign, what));
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
  const std::string file = path("cases.jsonl");
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
    JC_ASSIGN_OR_RETURN(Lines lines, read_lines(part + "/cases.jsonl"));
    for (auto& [id, result] : lines.results) {
      const auto before = out.find(id);
      if (before == out.end() || before->second.started <= result.started) out[id] = std::move(result);
    }
  }
  return out;
}

Result<void> Journal::add(const CaseResult& result) {
  JC_RETURN_IF_ERROR(write_all(descriptor_, journal_line(result) + "\n", path("cases.jsonl")));
  if (::fdatasync(descriptor_) != 0) return failed(path("cases.jsonl"));
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
