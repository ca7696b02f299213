// SPDX-License-Identifier: Apache-2.0
#include "joulecast/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/mapped_file.h"
#include "import/format.h"

namespace joulecast {
namespace {

// The file of the model, where a folder is one.
std::string model_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  for (const Format& format : formats()) {
    if (format.in_folder.empty()) continue;
    const auto file = std::filesystem::path(path) / format.in_folder;
    if (std::filesystem::is_regular_file(file, ignored)) return file.string();
  }
  return path;
}

Result<const Format*> named_format(std::string_view framework, std::string_view bytes) {
  const Format* found = nullptr;
  for (const Format& format : formats()) {
    if (format.framework != framework) continue;
    if (found == nullptr || format.recognises(bytes)) found = &format;
    if (format.recognises(bytes)) break;
  }
  if (found == nullptr) {
    std::string names;
    for (const std::string_view name : frameworks()) names += (names.empty() ? "" : ", ") + std::string(name);
    return invalid(fmt::format("no framework '{}': there are {}", framework, names));
  }
  return found;
}

Result<const Format*> format_of(std::string_view bytes, std::string_view framework) {
  if (bytes.empty()) return invalid("the file is empty");
  if (!framework.empty()) return named_format(framework, bytes);
  for (const Format& format : formats()) {
    if (format.recognises(bytes)) return &format;
  }
  return unsupported(fmt::format("is {}; {}", foreign_format(bytes), supported_formats()));
}

Result<Graph> import_bytes(std::string_view bytes, const std::string& path, std::string_view framework,
                           const InputShapes& shapes) {
  JC_ASSIGN_OR_RETURN(const Format* format, format_of(bytes, framework));
  return format->read_with == nullptr ? format->read(bytes, path) : format->read_with(bytes, path, shapes);
}

}  // namespace

std::vector<std::string_view> frameworks() {
  std::vector<std::string_view> out;
  for (const Format& format : formats()) {
    if (std::find(out.begin(), out.end(), format.framework) == out.end()) out.push_back(format.framework);
  }
  return out;
}

Result<Graph> import_model(const std::string& path, std::string_view framework, const InputShapes& shapes) {
  const std::string file_path = model_file(path);
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(file_path));
  // Small files are all structure; in large ones it lies between weights that must not be read.
  constexpr std::size_t kLarge = std::size_t{8} << 20U;
  if (file.bytes().size() > kLarge) file.expect_scattered_reads();
  auto graph = import_bytes(file.text(), file_path, framework, shapes);
  if (!graph) return tl::unexpected(std::move(graph).error().in(file_path));
  return graph;
}

}  // namespace joulecast
