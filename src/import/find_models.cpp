// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/mapped_file.h"
#include "import/format.h"
#include "joulecast/import.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 100'000;
constexpr int kDeepest = 16;

bool is_model_folder(const fs::path& path) {
  std::error_code ignored;
  return std::any_of(formats().begin(), formats().end(), [&](const Format& format) {
    return !format.in_folder.empty() && fs::is_regular_file(path / format.in_folder, ignored);
  });
}

}  // namespace

bool is_model_file(const fs::path& path) {
  if (path.extension() == ".onnx") return true;
  const auto file = MappedFile::open(path.string());
  return file && std::any_of(formats().begin(), formats().end(), [&](const Format& format) {
           return format.framework != "onnx" && format.recognises(file->text());
         });
}

Result<std::vector<std::string>> find_models(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error) || is_model_folder(path)) return std::vector{path};
  std::vector<std::string> out;
  std::size_t entries = 0;
  // Links are not followed: they may lead round in circles.
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (++entries > kMostEntries) {
      return unsupported(fmt::format("{}: has more than {} files", path, kMostEntries));
    }
    const bool folder = at->is_directory(error) && !at->is_symlink(error);
    if (folder && is_model_folder(at->path())) {
      out.push_back(at->path().string());
      at.disable_recursion_pending();
    } else if (folder) {
      if (at.depth() >= kDeepest) at.disable_recursion_pending();
    } else if (at->is_regular_file(error) && is_model_file(at->path())) {
      out.push_back(at->path().string());
    }
  }
  if (error) return io_error(fmt::format("{}: {}", path, error.message()));
  if (out.empty()) return not_found(fmt::format("{}: no model in this folder; {}", path, supported_formats()));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace joulecast
