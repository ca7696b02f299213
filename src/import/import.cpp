// SPDX-License-Identifier: Apache-2.0
#include "joulecast/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/mapped_file.h"

namespace joulecast {
namespace {

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view what;
};

using namespace std::string_view_literals;

// Files that people point at by mistake, or that another importer may read one day.
constexpr std::array kForeign{
    Signature{0, "\x89PNG\r\n"sv, "a PNG image"},
    Signature{0, "\xFF\xD8\xFF"sv, "a JPEG image"},
    Signature{0, "\x89HDF\r\n"sv, "an HDF5 file (Keras)"},
    Signature{0, "PK\x03\x04"sv, "a zip archive (PyTorch, Keras 3 or an export program)"},
    Signature{0, "\x80\x02"sv, "a pickle (PyTorch)"},
    Signature{0, "\x80\x03"sv, "a pickle"},
    Signature{0, "\x80\x04"sv, "a pickle"},
    Signature{0, "\x80\x05"sv, "a pickle"},
    Signature{4, "TFL3"sv, "a TensorFlow Lite model"},
    Signature{0, "GGUF"sv, "a GGUF file"},
    Signature{0, "\x1F\x8B"sv, "gzip-compressed"},
    Signature{0, "%PDF"sv, "a PDF document"},
    Signature{0,
              "\x7F"
              "ELF"sv,
              "a program"},
};

constexpr std::string_view kSupported = "supported are ONNX (.onnx) and the text form of graphs (.jcg)";

std::optional<std::string_view> foreign_format(std::string_view text) {
  for (const Signature& signature : kForeign) {
    if (text.size() >= signature.offset && text.substr(signature.offset).starts_with(signature.bytes)) {
      return signature.what;
    }
  }
  // safetensors: a 64-bit length, then JSON.
  if (text.size() > 10 && text.substr(8, 2) == "{\"") return "a safetensors file: weights without a network";
  return std::nullopt;
}

bool is_printable(std::string_view text) {
  const std::string_view start = text.substr(0, 256);
  return std::all_of(start.begin(), start.end(), [](char c) {
    return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) || c == '\n' || c == '\r' || c == '\t';
  });
}

// saved_model.pb: schema version 1, then a meta graph (field 2) that starts with its own meta information (field 1).
// An ONNX file has the producer's name in field 2, and no version 1 of it is left.
bool is_saved_model(std::string_view text) {
  return text.starts_with("\x08\x01\x12"sv);
}

Result<Graph> import_text(std::string_view text, const std::string& path) {
  auto graph = parse_graph(text);
  if (!graph) return tl::unexpected(std::move(graph).error().in(path));
  return graph;
}

}  // namespace

Result<Graph> import_model(const std::string& path) {
  {
    JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
    file.expect_scattered_reads();
    const std::string_view text = file.text();
    if (text.empty()) return invalid(fmt::format("{}: the file is empty", path));
    if (const auto what = foreign_format(text)) {
      return unsupported(fmt::format("{}: is {}; {}", path, *what, kSupported));
    }
    if (is_saved_model(text)) {
      return unsupported(fmt::format("{}: is a TensorFlow SavedModel; {}", path, kSupported));
    }
    if (text.starts_with("graph ")) return import_text(text, path);
    if (is_printable(text)) return unsupported(fmt::format("{}: is a text file; {}", path, kSupported));
  }
  return import_onnx(path);
}

}  // namespace joulecast
