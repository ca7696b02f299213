// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "base/mapped_file.h"
#include "import/onnx/import_bytes.h"
#include "import/onnx/importer.h"
#include "import/onnx/reader.h"
#include "import/text.h"
#include "joulecast/import.h"

namespace joulecast {

Result<Graph> onnx::import_bytes(std::span<const std::byte> bytes, std::string_view name) {
  if (bytes.empty()) return invalid("the file is empty");
  JC_ASSIGN_OR_RETURN(const onnx::ModelView model, read_model(bytes));
  JC_ASSIGN_OR_RETURN(Graph graph, Importer(model).run(name));
  JC_RETURN_IF_ERROR(validate(graph));
  return graph;
}

Result<Graph> import_onnx(std::span<const std::byte> bytes, std::string_view name) {
  auto graph = onnx::import_bytes(bytes, name);
  if (!graph) return tl::unexpected(std::move(graph).error().in(printable(name)));
  return graph;
}

Result<Graph> import_onnx(const std::string& path) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  // Small files are all structure; in large ones it lies between weights that must not be read.
  constexpr std::size_t kLarge = std::size_t{8} << 20U;
  if (file.bytes().size() > kLarge) file.expect_scattered_reads();
  auto graph = onnx::import_bytes(file.bytes(), std::filesystem::path(path).stem().string());
  if (!graph) return tl::unexpected(std::move(graph).error().in(path));
  return graph;
}

}  // namespace joulecast
