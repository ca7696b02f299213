// SPDX-License-Identifier: Apache-2.0
#include "joulecast/workload.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstddef>

namespace joulecast {
namespace {

constexpr std::array<std::string_view, 2> kModes{"inference", "training"};
constexpr std::array<std::string_view, 10> kPrecisions{"fp64", "fp32", "tf32",  "tf32-all", "fp16",
                                                       "bf16", "fp8",  "nvfp4", "amp",      "amp-bf16"};
constexpr std::array<std::string_view, 4> kRuntimes{"pytorch-eager", "cuda-graph", "pytorch-compiled", "tensorflow"};
constexpr std::array<std::string_view, 2> kLayouts{"channels-first", "channels-last"};

constexpr std::array<std::string_view, 2> kProfiles{"modern", "older"};

template <typename E, std::size_t N>
std::optional<E> parse(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace

Precision default_precision(Runtime runtime) {
  return runtime == Runtime::kTensorflow ? Precision::kTf32All : Precision::kTf32;
}

std::string_view name(Mode mode) {
  return kModes[static_cast<std::size_t>(mode)];
}
std::string_view name(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)];
}
std::string_view name(Runtime runtime) {
  return kRuntimes[static_cast<std::size_t>(runtime)];
}
std::string_view name(Layout layout) {
  return kLayouts[static_cast<std::size_t>(layout)];
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

std::optional<Layout> parse_layout(std::string_view text) {
  return parse<Layout>(kLayouts, text);
}

std::optional<HostMachine> parse_host(std::string_view text) {
  HostMachine out;
  const std::size_t colon = text.find(':');
  const std::string_view first = text.substr(0, colon);
  if (const auto profile = parse<HostProfile>(kProfiles, first)) {
    out.profile = *profile;
    if (colon == std::string_view::npos) return out;
    text.remove_prefix(colon + 1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.scale);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(out.scale >= 0.01 && out.scale <= 100.0)) return std::nullopt;
  return out;
}

std::string text(const HostMachine& host) {
  const std::string_view profile = kProfiles[static_cast<std::size_t>(host.profile)];
  return host.scale == 1.0 ? std::string(profile) : fmt::format("{}:{}", profile, host.scale);
}

}  // namespace joulecast
