// SPDX-License-Identifier: Apache-2.0
#include "joulecast/workload.h"

#include <array>
#include <cstddef>

namespace joulecast {
namespace {

constexpr std::array<std::string_view, 2> kModes{"inference", "training"};
constexpr std::array<std::string_view, 8> kPrecisions{"fp64", "fp32", "tf32", "tf32-all", "fp16", "bf16", "fp8", "amp"};
constexpr std::array<std::string_view, 2> kRuntimes{"pytorch-eager", "cuda-graph"};

template <typename E, std::size_t N>
std::optional<E> parse(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Mode mode) {
  return kModes[static_cast<std::size_t>(mode)];
}
std::string_view name(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)];
}
std::string_view name(Runtime runtime) {
  return kRuntimes[static_cast<std::size_t>(runtime)];
}
std::optional<Mode> parse_mode(std::string_view text) {
  return parse<Mode>(kModes, text);
}
std::optional<Precision> parse_precision(std::string_view text) {
  return parse<Precision>(kPrecisions, text);
}
std::optional<Runtime> parse_runtime(std::string_view text) {
  return parse<Runtime>(kRuntimes, text);
}

}  // namespace joulecast
