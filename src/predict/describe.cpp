// SPDX-License-Identifier: Apache-2.0
#include "predict/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "predict/physics.h"

namespace joulecast {
namespace {

// "25.7M" for 25,690,112 elements.
std::string count(double value) {
  static constexpr std::array<const char*, 5> kPrefixes{"", "k", "M", "G", "T"};
  std::size_t i = 0;
  while (value >= 999.5 && i + 1 < kPrefixes.size()) {
    value /= 1000.0;
    ++i;
  }
  return i == 0 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}{}", value, kPrefixes[i]);
}

struct PointwiseWords {
  std::string_view name;
  double usual_backward;  // its traffic over the forward one's, for operands of one shape; 0: none is usual
};
constexpr double kActivation = 3.0 / 2.0;  // reads what was saved and the gradient, writes a gradient
constexpr std::array<PointwiseWords, 18> kPointwise{{{"relu", kActivation},
                                                     {"sigmoid", kActivation},
                                                     {"silu", kActivation},
                                                     {"gelu", kActivation},
                                                     {"tanh", kActivation},
                                                     {"add", 0.0},
                                                     {"mul", 2.0},
                                                     {"div", 14.0 / 3.0},
                                                     {"pow", 17.0 / 3.0},
                                                     {"add scalar", 0.0},
                                                     {"mul scalar", 1.0},
                                                     {"div scalar", 1.0},
                                                     {"pow scalar", 3.5},
                                                     {"stochastic depth", 1.0},
                                                     {"copy", 1.0},
                                                     {"dropout", 1.0},
                                                     {"other", 0.0},
                                                     {"fused", 0.0}}};
constexpr std::array<std::string_view, 8> kReductions{"softmax",      "layer norm", "batch norm", "adaptive pool",
                                                      "average pool", "max pool",   "group norm", "reduce"};

bool is_pool(ReductionKind kind) {
  return kind == ReductionKind::kAdaptivePool || kind == ReductionKind::kAveragePool || kind == ReductionKind::kMaxPool;
}

// Nothing for the default precision's.
std::string arithmetic_text(Arithmetic arithmetic) {
  const bool usual = arithmetic == Arithmetic::kFp32 || arithmetic == Arithmetic::kTf32;
  return usual ? std::string() : fmt::format(", {}", name(arithmetic));
}

std::int64_t usual_extent(std::int64_t in, std::int64_t kernel, const ConvWork& w) {
  return (in + 2 * w.padding - kernel) / std::max<std::int64_t>(1, w.stride) + 1;
}

// What of two different operations would read the same is told apart: whatever is usual is left unsaid.
struct Describe {
  std::string operator()(const ConvWork& w) const {
    std::string out = fmt::format("conv {}x{}x{}x{} -> {}, {}x{}", w.batch, w.in_channels, w.in_height, w.in_width,
                                  w.out_channels, w.kernel_height, w.kernel_width);
    if (w.stride != 1) out += fmt::format(" s{}", w.stride);
    if (w.strides > 0) out += fmt::format(", {} in all", w.strides);
    if (w.padding != w.kernel_height / 2) out += fmt::format(" p{}", w.padding);
    if (w.groups != 1) out += fmt::format(" g{}", w.groups);
    if (w.out_height != usual_extent(w.in_height, w.kernel_height, w) ||
        w.out_width != usual_extent(w.in_width, w.kernel_width, w))
      out += fmt::format(" to {}x{}", w.out_height, w.out_width);
    if (w.bias != 0) out += " bias";
    return out + arithmetic_text(w.arithmetic);
  }
  std::string operator()(const GemmWork& w) const {
    std::string out = w.steps > 0 ? fmt::format("recurrent {} x ", w.steps) : "";
    if (w.weight && w.batch == 1) {
      out += fmt::format("linear {}x{} -> {}{}", w.rows, w.depth, w.columns, w.bias == 0 ? ", no bias" : "");
    } else {
      out += fmt::format("{} {} x {}x{}x{}{}", w.weight ? "linear" : "matmul", w.batch, w.rows, w.depth, w.columns,
                         w.bias != 0 ? ", bias" : "");
    }
    out += arithmetic_text(w.arithmetic);
    return w.output_bytes == w.element_bytes ? out : out + fmt::format(", {}-byte result", w.output_bytes);
  }
  std::string operator()(const PointwiseWork& w) const {
    const PointwiseWords& words = kPointwise[static_cast<std::size_t>(w.kind)];
    const auto forward = static_cast<double>(w.forward_bytes);
    const auto backward = static_cast<double>(w.backward_bytes);
    std::string out = fmt::format("{} {}, {}B", words.name, count(static_cast<double>(w.elements)), count(forward));
    if (w.backward_bytes == 0 && words.usual_backward > 0.0) {
      out += ", no gradient";
    } else if (std::abs(backward - words.usual_backward * forward) > 0.01 * forward) {
      out += fmt::format(" + {}B back", count(backward));
    }
    if (w.placed > 0) out += ", place by place";
    if (w.gated_rows > 0) out += fmt::format(", {} rows by an engine", w.gated_rows);
    return w.in_place != 0 ? out + ", in place" : out;
  }
  std::string operator()(const ReductionWork& w) const {
    std::string out = fmt::format("{} {}x{}", kReductions[static_cast<std::size_t>(w.kind)], w.rows, w.columns);
    if (is_pool(w.kind) && w.in_elements != w.rows * w.columns)
      out += fmt::format(" of {}", count(static_cast<double>(w.in_elements)));
    if (w.by_engine) out += ", by an engine";
    if (w.gradient == ReductionGradient::kOneKernel) out += ", one kernel back";
    if (w.gradient == ReductionGradient::kView) out += ", none back";
    return w.element_bytes == 4 ? out : out + fmt::format(", {} bytes each", w.element_bytes);
  }
  std::string operator()(const AttentionWork& w) const {
    std::string out = fmt::format("attention {}x{}, {} queries, {} keys, {}", w.batch, w.heads, w.queries,
                                  w.past + w.queries, w.head);
    if (w.value_head > 0) out += fmt::format(" and {}", w.value_head);
    if (w.kv_heads != w.heads) out += fmt::format(", {} of keys", w.kv_heads);
    if (!w.causal) out += ", full";
    if (w.window > 0) out += fmt::format(", window {}", w.window);
    if (w.mask_bytes > 0) out += ", masked";
    if (w.kv_bytes != w.element_bytes) out += fmt::format(", {}-byte keys", w.kv_bytes);
    return w.element_bytes == 2 ? out : out + fmt::format(", {} bytes each", w.element_bytes);
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
