// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>

#include "import/format.h"

namespace joulecast {
namespace {

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view what;
};

using namespace std::string_view_literals;

constexpr std::string_view kPickle =
    "a pickle: no graph that can be read without running it; save the network with torch.export.save or torch.jit.save";

constexpr std::string_view kUtf16 = "text in UTF-16: save it as UTF-8";

// Files that people point at by mistake, or that another importer may read one day.
constexpr std::array kForeign{
    Signature{0, "\x89PNG\r\n"sv, "a PNG image"},
    Signature{0, "\xFF\xD8\xFF"sv, "a JPEG image"},
    Signature{0, "PK\x03\x04"sv, "a zip archive (PyTorch or an export program)"},
    Signature{0, "\x80\x02"sv, kPickle},
    Signature{0, "\x80\x03"sv, kPickle},
    Signature{0, "\x80\x04"sv, kPickle},
    Signature{0, "\x80\x05"sv, kPickle},
    Signature{0, "GGUF"sv, "a GGUF file"},
    Signature{0, "\x1F\x8B"sv, "gzip-compressed"},
    Signature{0, "%PDF"sv, "a PDF document"},
    Signature{0, "\xFF\xFE"sv, kUtf16},
    Signature{0, "\xFE\xFF"sv, kUtf16},
    Signature{0, "{\0"sv, kUtf16},
    Signature{0, "\0{"sv, kUtf16},
    Signature{0,
              "\x7F"
              "ELF"sv,
              "a program"},
};

// Versions and levels, all 0, then the length of a description, which begins with the elements' type.
bool is_paddle_weights(std::string_view bytes) {
  constexpr std::size_t kZeros = 16, kType = 20;
  return bytes.size() > kType && bytes.find_first_not_of('\0') == kZeros && bytes[kType] == '\x08';
}

}  // namespace

bool is_printable(std::string_view bytes) {
  const std::string_view start = bytes.substr(0, 256);
  return std::all_of(start.begin(), start.end(), [](char c) {
    return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) || c == '\n' || c == '\r' || c == '\t';
  });
}

std::string foreign_format(std::string_view bytes) {
  for (const Signature& signature : kForeign) {
    if (bytes.size() >= signature.offset && bytes.substr(signature.offset).starts_with(signature.bytes)) {
      return std::string(signature.what);
    }
  }
  // safetensors: a 64-bit length, then JSON.
  if (bytes.size() > 10 && bytes.substr(8, 2) == "{\"") return "a safetensors file: weights without a network";
  if (is_paddle_weights(bytes))
    return "a file of PaddlePaddle's weights: the network is in the .pdmodel or .json beside them";
  return is_printable(bytes) ? "a text file" : "";
}

}  // namespace joulecast
