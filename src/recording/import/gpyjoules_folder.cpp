// SPDX-License-Identifier: Apache-2.0
// GPyJoules' tree of folders.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/mapped_file.h"
#include "recording/import/gpyjoules.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

constexpr std::array kReadingFiles{"gpu-power.csv", "total_power_samples.csv", "power-external.csv"};
constexpr int kDeepest = 4;  // experiment, benchmark, run, repetition

// What the file system says of a file, if that is more than that it is not there.
std::error_code trouble(const std::error_code& error) {
  const bool absent = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  return absent ? std::error_code() : error;
}

// Of a file that cannot be looked at as well: reading it says why.
bool is_repetition(const fs::path& folder) {
  return std::any_of(kReadingFiles.begin(), kReadingFiles.end(), [&](const char* name) {
    std::error_code error;
    return fs::is_regular_file(folder / name, error) || trouble(error);
  });
}

GpyjoulesRun run_at(const fs::path& folder) {
  // Names above the folder count too, whichever of them was asked for.
  std::error_code error;
  fs::path whole = fs::absolute(folder, error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  std::array<std::string, 4> names;
  for (std::string& name : names) {
    name = whole.filename().string();
    whole = whole.parent_path();
  }
  return {folder.string(), names[3], names[2], names[1], names[0], gpyjoules_setting(names[1])};
}

// A mapped file, or nothing where there is none.
Result<std::optional<MappedFile>> optional_file(const fs::path& path) {
  auto file = MappedFile::open(path.string());
  if (file) return std::optional<MappedFile>(std::move(*file));
  if (file.error().code() == ErrorCode::kNotFound) return std::nullopt;
  return tl::unexpected<Error>(std::move(file).error());
}

class Search {
 public:
  // Goes on where a folder may not be read: any folder may be asked for, and others hold runs.
  void below(const fs::path& folder, int depth) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
      look_at(*at, depth);
    }
    if (trouble(error)) unread(folder, error);
  }
  GpyjoulesTree found() && {
    std::sort(out_.runs.begin(), out_.runs.end(),
              [](const GpyjoulesRun& a, const GpyjoulesRun& b) { return a.path < b.path; });
    std::sort(out_.unread.begin(), out_.unread.end());
    return std::move(out_);
  }

 private:
  void look_at(const fs::directory_entry& entry, int depth) {
    if (entry.path().filename().string().starts_with('_')) return;
    std::error_code error;
    const bool folder = entry.is_directory(error);
    if (trouble(error)) unread(entry.path(), error);
    if (!folder) return;
    if (is_repetition(entry.path())) {
      out_.runs.push_back(run_at(entry.path()));
    } else if (depth < kDeepest && !entry.is_symlink(error)) {
      below(entry.path(), depth + 1);
    }
  }
  void unread(const fs::path& path, const std::error_code& error) {
    out_.unread.push_back(fmt::format("{}: {}", path.string(), error.message()));
  }

  GpyjoulesTree out_;
};

Result<Recording> import_repetition(const GpyjoulesRun& run, const ImportOptions& options) {
  constexpr std::array kNames{"gpu-power.csv",
                              "total_power_samples.csv",
                              "gpu_utilization_samples.csv",
                              "memory_utilization_samples.csv",
                              "power-external.csv",
                              "timestamps.csv",
                              "system_info.json"};
  std::array<std::optional<MappedFile>, kNames.size()> mapped;
  std::array<std::string_view, kNames.size()> text;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    JC_ASSIGN_OR_RETURN(mapped[i], optional_file(fs::path(run.path) / kNames[i]));
    if (mapped[i]) text[i] = mapped[i]->text();
  }
  return parse_gpyjoules({text[0], text[1], text[2], text[3], text[4], text[5], text[6]}, run, options);
}

}  // namespace

Result<GpyjoulesTree> find_gpyjoules_runs(const std::string& root) {
  std::error_code error;
  if (const fs::directory_iterator there(root, error); error) {
    return io_error(fmt::format("{}: {}", root, error.message()));
  }
  if (is_repetition(root)) return GpyjoulesTree{{run_at(root)}, {}};
  Search search;
  search.below(root, 0);
  return std::move(search).found();
}

Result<Recording> import_gpyjoules(const std::string& folder, const ImportOptions& options) {
  JC_ASSIGN_OR_RETURN(const GpyjoulesTree tree, find_gpyjoules_runs(folder));
  const std::vector<GpyjoulesRun>& runs = tree.runs;
  if (runs.empty() && !tree.unread.empty()) return io_error(tree.unread.front());
  if (runs.empty()) {
    return invalid(
        folder +
        ": is a folder, and holds no run of GPyJoules (gpu-power.csv, total_power_samples.csv); a recording of "
        "joulecast is a file (.jcrun)");
  }
  if (runs.size() > 1) {
    return invalid(
        fmt::format("{}: holds {} runs of GPyJoules; name one, such as {}", folder, runs.size(), runs.front().path));
  }
  return import_repetition(runs.front(), options);
}

}  // namespace joulecast
