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

bool is_repetition(const fs::path& folder) {
  std::error_code ignored;
  return std::any_of(kReadingFiles.begin(), kReadingFiles.end(),
                     [&](const char* name) { return fs::is_regular_file(folder / name, ignored); });
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

// What vanishes meanwhile or may not be read is no reason to stop: any folder may be asked for.
void add_runs_below(const fs::path& folder, int depth, std::vector<GpyjoulesRun>& out) {
  std::error_code error;
  std::error_code ignored;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    const bool put_aside = at->path().filename().string().starts_with('_');
    if (put_aside || !at->is_directory(ignored)) continue;
    if (is_repetition(at->path())) {
      out.push_back(run_at(at->path()));
    } else if (depth < kDeepest && !at->is_symlink(ignored)) {
      add_runs_below(at->path(), depth + 1, out);
    }
  }
}

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

Result<std::vector<GpyjoulesRun>> find_gpyjoules_runs(const std::string& root) {
  std::vector<GpyjoulesRun> out;
  if (is_repetition(root)) return std::vector<GpyjoulesRun>{run_at(root)};
  std::error_code error;
  if (const fs::directory_iterator there(root, error); error) {
    return io_error(fmt::format("{}: {}", root, error.message()));
  }
  add_runs_below(root, 0, out);
  std::sort(out.begin(), out.end(), [](const GpyjoulesRun& a, const GpyjoulesRun& b) { return a.path < b.path; });
  return out;
}

Result<Recording> import_gpyjoules(const std::string& folder, const ImportOptions& options) {
  JC_ASSIGN_OR_RETURN(const auto runs, find_gpyjoules_runs(folder));
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
