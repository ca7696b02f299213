// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "base/lower_case.h"
#include "gpu/gpu_file.h"
#include "gpu/names.h"
#include "gpu/shipped.h"
#include "joulecast/gpu.h"

namespace joulecast {
namespace {

constexpr std::size_t kMaxSuggestions = 3;

bool answers_to(const Gpu& gpu, std::string_view normal) {
  if (normal_form(gpu.id) == normal || normal_form(gpu.name) == normal) return true;
  return std::any_of(gpu.aliases.begin(), gpu.aliases.end(),
                     [&](std::string_view alias) { return normal_form(alias) == normal; });
}

std::vector<Gpu>::const_iterator place_of(const std::vector<Gpu>& gpus, std::string_view id) {
  return std::lower_bound(gpus.begin(), gpus.end(), id,
                          [](const Gpu& gpu, std::string_view key) { return gpu.id < key; });
}

// Of an architecture: what was measured of it is looked up by its name.
std::string_view known_spelling(std::span<const Gpu> shipped, std::string_view architecture) {
  const std::string wanted = lower_case(architecture);
  for (const Gpu& gpu : shipped) {
    if (lower_case(gpu.architecture) == wanted) return gpu.architecture;
  }
  return architecture;
}

std::size_t distance_to(const Gpu& gpu, std::string_view normal) {
  std::size_t least =
      std::min(edit_distance(normal, normal_form(gpu.id)), edit_distance(normal, normal_form(gpu.name)));
  for (const std::string_view alias : gpu.aliases) least = std::min(least, edit_distance(normal, normal_form(alias)));
  return least;
}

// "; did you mean a, b or c?", or nothing where no name is near.
std::string suggestion(std::span<const Gpu> gpus, std::string_view normal) {
  std::vector<std::string_view> ids;
  std::size_t least = normal.size();  // half of the letters wrong is too far
  for (const Gpu& gpu : gpus) {
    const std::size_t distance = distance_to(gpu, normal);
    if (distance >= normal.size() || distance > least) continue;
    if (distance < least) ids.clear();
    least = distance;
    if (ids.size() < kMaxSuggestions) ids.push_back(gpu.id);
  }
  if (ids.empty()) return {};
  const std::string_view last = ids.back();
  ids.pop_back();
  const std::string others = fmt::format("{}", fmt::join(ids, ", "));
  return fmt::format("; did you mean {}{}{}?", others, ids.empty() ? "" : " or ", last);
}

}  // namespace

const Catalogue& Catalogue::shipped() {
  static const Catalogue catalogue = [] {
    Catalogue out;
    out.shipped_ = shipped_gpus();
    return out;
  }();
  return catalogue;
}

Result<void> Catalogue::add_file(const std::string& path) {
  JC_ASSIGN_OR_RETURN(std::shared_ptr<const GpuFile> file, load_gpu(path));
  if (own_.empty()) merged_.assign(shipped_.begin(), shipped_.end());
  Gpu gpu = file->gpu;
  gpu.architecture = known_spelling(shipped_, gpu.architecture);
  const auto at = place_of(merged_, gpu.id);
  if (at != merged_.end() && at->id == gpu.id) {
    merged_[static_cast<std::size_t>(at - merged_.begin())] = gpu;
  } else {
    merged_.insert(at, gpu);
  }
  own_.push_back(std::move(file));
  return {};
}

Result<void> Catalogue::add_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".toml") files.push_back(it->path().string());
  }
  if (error == std::errc::no_such_file_or_directory) return {};
  if (error) return io_error(fmt::format("{}: {}", path, error.message()));
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) JC_RETURN_IF_ERROR(add_file(file));
  return {};
}

Result<const Gpu*> Catalogue::find(std::string_view name) const {
  const std::string normal = normal_form(name);
  // all() holds the newest file of each id; the newest file that answers to the name wins, then the shipped names.
  for (auto file = own_.rbegin(); file != own_.rend(); ++file) {
    const auto at = place_of(merged_, (*file)->gpu.id);
    if (answers_to(*at, normal)) return &*at;
  }
  const auto names = shipped_names();
  const auto at = std::lower_bound(names.begin(), names.end(), normal,
                                   [](const NameEntry& entry, std::string_view key) { return entry.name < key; });
  if (!shipped_.empty() && at != names.end() && at->name == normal) {
    const Gpu& gpu = shipped_[at->gpu];
    return own_.empty() ? &gpu : &*place_of(merged_, gpu.id);
  }
  return not_found(fmt::format("no GPU '{}'{}", name.substr(0, kMaxNameLength), suggestion(all(), normal)));
}

}  // namespace joulecast
