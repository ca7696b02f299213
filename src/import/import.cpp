// SPDX-License-Identifier: Apache-2.0
#include "joulecast/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "import/format.h"
#include "import/text.h"

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

// Keras' files are TensorFlow's too.
bool is_of(const Format& format, std::string_view framework) {
  return format.framework == framework || (framework == "tensorflow" && format.framework == "keras");
}

const Format* recognised(std::string_view bytes) {
  for (const Format& format : formats()) {
    if (format.recognises(bytes)) return &format;
  }
  return nullptr;
}

Result<const Format*> named_format(std::string_view framework, std::string_view bytes) {
  const Format* found = nullptr;
  for (const Format& format : formats()) {
    if (!is_of(format, framework)) continue;
    if (format.recognises(bytes)) return &format;
    if (found == nullptr) found = &format;
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
  if (const Format* found = recognised(bytes); found != nullptr) return found;
  return unsupported(fmt::format("is {}; {}", foreign_format(bytes), supported_formats()));
}

// The caller was believed, and was wrong: what the file is instead says more than what the reader stumbled over.
tl::unexpected<Error> not_of(std::string_view framework, std::string_view bytes, const Error& error) {
  const Format* format = recognised(bytes);
  const std::string foreign = foreign_format(bytes);
  if (format != nullptr && format->framework != "onnx") {
    return invalid(fmt::format("is no file of {}: it looks like {}", framework, format->files));
  }
  const std::string other = format != nullptr ? fmt::format("may be {}", format->files) : "is " + foreign;
  if (format == nullptr && foreign.empty()) return tl::unexpected(error);
  return invalid(fmt::format("is no file of {} ({}): it {}", framework, error.text(), other));
}

// Beside a config.json there may lie the same network in another form, with more in it than the config tells.
void note_others(const std::string& folder, const std::string& taken, Graph& graph) {
  const std::filesystem::path own = taken;
  if (own.filename() != "config.json") return;
  constexpr std::size_t kLooked = 1000, kShown = 4;
  std::vector<std::string> others;
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (std::size_t i = 0; !error && i < kLooked && at != std::filesystem::directory_iterator();
       ++i, at.increment(error)) {
    if (at->path() == own || !at->is_regular_file(error) || !is_model_file(at->path())) continue;
    others.push_back(printable(at->path().filename().string(), kLongestInGraph));
  }
  if (others.empty()) return;
  std::sort(others.begin(), others.end());
  if (others.size() > kShown) others.resize(kShown);
  graph.notes.push_back({fmt::format("of this folder config.json was read; it also has {}: name the file to read it",
                                     fmt::join(others, ", "))});
}

Result<Graph> import_bytes(std::string_view bytes, const std::string& path, std::string_view framework,
                           const InputShapes& shapes) {
  JC_ASSIGN_OR_RETURN(const Format* format, format_of(bytes, framework));
  auto graph = format->read_with == nullptr ? format->read(bytes, path) : format->read_with(bytes, path, shapes);
  if (!graph && !format->recognises(bytes)) return not_of(framework, bytes, graph.error());
  return graph;
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
  if (file_path != path) note_others(path, file_path, *graph);
  return graph;
}

}  // namespace joulecast
