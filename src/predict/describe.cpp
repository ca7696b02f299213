// SPDX-License-Identifier: Apache-2.0
#include "predict/describe.h"

#include <fmt/format.h>

#include <array>

namespace joulecast {
namespace {

// "25.7M" for 25,690,112 elements.
std::string count(double value) {
  static constexpr std::array<const char*, 5> kPrefixes{"", "k", "M", "G", "T"};
  std::size_t i = 0;
  while (value >= 1000.0 && i + 1 < kPrefixes.size()) {
    value /= 1000.0;
    ++i;
  }
  return i == 0 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}{}", value, kPrefixes[i]);
}

constexpr std::array<std::string_view, 17> kPointwise{
    "relu", "sigmoid", "silu",       "gelu",       "tanh",       "add",        "mul",
    "div",  "pow",     "add scalar", "mul scalar", "div scalar", "pow scalar", "stochastic depth",
    "copy", "dropout", "other"};
constexpr std::array<std::string_view, 8> kReductions{"softmax",      "layer norm", "batch norm", "adaptive pool",
                                                      "average pool", "max pool",   "group norm", "reduce"};

struct Describe {
  std::string operator()(const ConvWork& w) const {
    std::string out = fmt::format("conv {}x{}x{}x{} -> {}, {}x{}", w.batch, w.in_channels, w.in_height, w.in_width,
                                  w.out_channels, w.kernel_height, w.kernel_width);
    if (w.stride != 1) out += fmt::format(" s{}", w.stride);
    if (w.groups != 1) out += fmt::format(" g{}", w.groups);
    return out;
  }
  std::string operator()(const GemmWork& w) const {
    if (w.weight && w.batch == 1) return fmt::format("linear {}x{} -> {}", w.rows, w.depth, w.columns);
    return fmt::format("matmul {} x {}x{}x{}", w.batch, w.rows, w.depth, w.columns);
  }
  std::string operator()(const PointwiseWork& w) const {
    return fmt::format("{} {}", kPointwise[static_cast<std::size_t>(w.kind)], count(static_cast<double>(w.elements)));
  }
  std::string operator()(const ReductionWork& w) const {
    return fmt::format("{} {}x{}", kReductions[static_cast<std::size_t>(w.kind)], w.rows, w.columns);
  }
  std::string operator()(const AttentionWork& w) const {
    return fmt::format("attention {}x{}, {} queries, {} keys, {}", w.batch, w.heads, w.queries, w.past + w.queries,
                       w.head);
  }
};

}  // namespace

std::string describe(const Work& work) {
  return std::visit(Describe{}, work);
}

double work_size(const Work& work) {
  struct Visitor {
    double operator()(const ConvWork& w) const {
      const std::int64_t depth = w.in_channels / w.groups * w.kernel_height * w.kernel_width;
      return 2.0 * static_cast<double>(w.batch * w.out_height * w.out_width) * static_cast<double>(w.out_channels) *
             static_cast<double>(depth);
    }
    double operator()(const GemmWork& w) const {
      return 2.0 * static_cast<double>(w.batch) * static_cast<double>(w.rows) * static_cast<double>(w.columns) *
             static_cast<double>(w.depth);
    }
    double operator()(const PointwiseWork& w) const { return static_cast<double>(w.forward_bytes); }
    double operator()(const ReductionWork& w) const {
      return static_cast<double>((w.in_elements + w.out_elements) * w.element_bytes);
    }
    double operator()(const AttentionWork& w) const {
      return 4.0 * static_cast<double>(w.batch * w.heads) * static_cast<double>(w.queries) *
             static_cast<double>(w.past + w.queries) * static_cast<double>(w.head);
    }
  };
  return std::visit(Visitor{}, work);
}

}  // namespace joulecast
