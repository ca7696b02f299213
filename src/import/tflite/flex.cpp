// SPDX-License-Identifier: Apache-2.0
// FlexBuffers are read from their end: the root, a byte for its type and a byte for its width. Offsets lead backwards.
#include "import/tflite/flex.h"

#include <cstdint>

namespace joulecast::tflite {
namespace {

constexpr unsigned kString = 5;
constexpr unsigned kVector = 10;

std::optional<std::uint64_t> number(std::string_view bytes, std::size_t at, std::size_t width) {
  if (width == 0 || width > 8 || at > bytes.size() || width > bytes.size() - at) return std::nullopt;
  std::uint64_t out = 0;
  for (std::size_t i = width; i-- > 0;) out = out << 8U | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

// Where the offset at `at` leads to.
std::optional<std::size_t> followed(std::string_view bytes, std::size_t at, std::size_t width) {
  const auto offset = number(bytes, at, width);
  if (!offset || *offset > at) return std::nullopt;
  return at - static_cast<std::size_t>(*offset);
}

}  // namespace

std::optional<std::string_view> flex_node(std::string_view options) {
  if (options.size() < 3) return std::nullopt;
  const std::size_t root_width = static_cast<unsigned char>(options[options.size() - 1]);
  const unsigned root_type = static_cast<unsigned char>(options[options.size() - 2]);
  if (root_type >> 2U != kVector || root_width + 2 > options.size()) return std::nullopt;
  const auto vector = followed(options, options.size() - 2 - root_width, root_width);
  const std::size_t width = std::size_t{1} << (root_type & 3U);
  if (!vector || *vector < width || number(options, *vector - width, width) != 2) return std::nullopt;
  const auto type = number(options, *vector + 2 * width + 1, 1);  // of the second: types follow the elements
  if (!type || *type >> 2U != kString) return std::nullopt;
  const auto text = followed(options, *vector + width, width);
  const std::size_t text_width = std::size_t{1} << (*type & 3U);
  if (!text || *text < text_width) return std::nullopt;
  const auto length = number(options, *text - text_width, text_width);
  if (!length || *length > options.size() - *text) return std::nullopt;
  return options.substr(*text, static_cast<std::size_t>(*length));
}

}  // namespace joulecast::tflite
