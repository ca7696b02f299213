// SPDX-License-Identifier: Apache-2.0
#include "profile/shards.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/mapped_file.h"
#include "base/whole_file.h"
#include "dataset/measurement_csv.h"
#include "profile/journal.h"

namespace joulecast::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "shard-";
constexpr std::size_t kMostShards = 100'000;

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0 || value > kMostShards)
    return std::nullopt;
  return value;
}

// A table's lines behind its header.
Result<std::string> lines_of(const std::string& path) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const std::string header = csv_header();
  if (!file.text().starts_with(header)) return invalid(fmt::format("{}: another version of joulecast wrote it", path));
  return std::string(file.text().substr(header.size()));
}

}  // namespace

ShardsLock::ShardsLock(const std::string& folder)
    : file_(::open((folder + "/shards.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (file_ >= 0) ::flock(file_, LOCK_EX);
}

ShardsLock::~ShardsLock() {
  if (file_ >= 0) ::close(file_);
}

std::optional<Shard> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto index = number(text.substr(0, slash)), count = number(text.substr(slash + 1));
  if (!index || !count || *index > *count) return std::nullopt;
  return Shard{*index, *count};
}

std::string shard_folder(const std::string& folder, const Shard& shard) {
  return fmt::format("{}/{}{:04}", folder, kPrefix, shard.index);
}

std::vector<std::string> shard_folders(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with(kPrefix)) out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool is_shard(const std::string& folder) {
  return fs::path(folder).filename().string().starts_with(kPrefix);
}

std::vector<std::string> other_shards(const std::string& folder) {
  if (!is_shard(folder)) return {};
  const fs::path own(folder);
  std::vector<std::string> out = shard_folders(own.parent_path().string());
  std::erase_if(out, [&](const std::string& one) { return fs::path(one).filename() == own.filename(); });
  return out;
}

Result<void> merge_shards(const std::string& folder) {
  // Who merges reads what others have finished, and must not write over what a later one made of it.
  const ShardsLock lock(folder);
  std::string text = csv_header();
  for (const std::string& shard : shard_folders(folder)) {
    const std::string table = shard + "/" + kMeasurementsFile;
    if (!fs::exists(table)) continue;
    JC_ASSIGN_OR_RETURN(const std::string lines, lines_of(table));
    text += lines;
  }
  return replace_file(folder + "/" + kMeasurementsFile, text);
}

}  // namespace joulecast::profile
