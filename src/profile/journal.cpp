// SPDX-License-Identifier: Apache-2.0
#include "profile/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "dataset/measurement_csv.h"

namespace joulecast::profile {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> failed(const std::string& path) {
  return io_error(fmt::format("{}: {}", path, std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
}

Result<void> write_all(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return failed(path);
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// Under another name until it is whole and on the disk.
Result<void> replace_file(const std::string& path, std::string_view text) {
  const std::string unfinished = path + ".part";
  const int descriptor = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return failed(unfinished);
  auto written = write_all(descriptor, text, unfinished);
  if (written && ::fsync(descriptor) != 0) written = failed(unfinished);
  ::close(descriptor);
  if (written && ::rename(unfinished.c_str(), path.c_str()) != 0) written = failed(path);
  if (!written) ::unlink(unfinished.c_str());
  return written;
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

// As much of it as an error can hold.
std::string on_one_line(const std::string& text) {
  constexpr std::size_t kEnough = 400;
  std::string out;
  for (const char c : text.substr(0, kEnough)) {
    const bool space = c == '\n' || c == ' ';
    if (!space || (!out.empty() && out.back() != ' ')) out += space ? ' ' : c;
  }
  return out;
}

}  // namespace

Result<Journal> Journal::open(const std::string& folder, const std::string& what) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return io_error(fmt::format("{}: {}", folder, error.message()));
  const std::string campaign = folder + "/campaign.json", cases = folder + "/cases.jsonl";
  if (fs::exists(campaign)) {
    JC_ASSIGN_OR_RETURN(const std::string before, read_file(campaign));
    if (before != what) return invalid(fmt::format("{}: is of another campaign: {}", folder, on_one_line(before)));
  } else if (!fs::is_empty(folder, error)) {
    return invalid(fmt::format("{}: holds files that are of no campaign", folder));
  } else {
    JC_RETURN_IF_ERROR(replace_file(campaign, what));
  }
  const int descriptor = ::open(cases.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return failed(cases);
  Journal out(folder, descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    return invalid(fmt::format("{}: another campaign runs there", folder));
  JC_RETURN_IF_ERROR(out.load());
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
  if (!fs::exists(folder + "/campaign.json")) return not_found(fmt::format("{}: no campaign is there", folder));
  JC_ASSIGN_OR_RETURN(Lines lines, read_lines(folder + "/cases.jsonl"));
  return std::move(lines.results);
}

Result<void> Journal::add(const CaseResult& result, const PlannedCase& planned) {
  JC_RETURN_IF_ERROR(write_all(descriptor_, journal_line(result, planned) + "\n", path("cases.jsonl")));
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
  std::string text = csv_header();
  for (const PlannedCase& planned : plan.cases()) {
    const auto at = results_.find(planned.id);
    if (at != results_.end() && at->second.measured) text += csv_line(measurement(at->second, planned, bench));
  }
  return replace_file(path("measurements.csv"), text);
}

}  // namespace joulecast::profile
