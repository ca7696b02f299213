// SPDX-License-Identifier: Apache-2.0
#include "series/blocks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "series/energy.h"

namespace joulecast::series {
namespace {

// Means of blocks [from + k * width, from + (k + 1) * width), from the integral since the start.
std::vector<double> block_means(const Series& integral, double from, double width, std::size_t count) {
  std::vector<double> means;
  for (std::size_t k = 0; k < count; ++k) {
    const double begin = from + static_cast<double>(k) * width;
    means.push_back((value_at(integral, Seconds{begin + width}) - value_at(integral, Seconds{begin})) / width);
  }
  return means;
}

// The integral of held values is a line between readings, so reading it linearly is exact.
Series held_integral(const Series& series) {
  Series integral{series.time_s, {0.0}};
  for (std::size_t i = 1; i < series.time_s.size(); ++i) {
    integral.value.push_back(integral.value.back() + series.value[i - 1] * (series.time_s[i] - series.time_s[i - 1]));
  }
  return integral;
}

bool level(const std::vector<double>& means, std::size_t first, std::size_t last, double tolerance) {
  const auto begin = means.begin() + static_cast<std::ptrdiff_t>(first);
  const auto [low, high] = std::minmax_element(begin, means.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  return *high - *low <= tolerance * std::max(std::abs(*high), std::abs(*low));
}

}  // namespace

Result<Blocks> steady_blocks(const Series& reading, const Series& reference, const BlockOptions& options) {
  JC_RETURN_IF_ERROR(check(reading));
  JC_ASSIGN_OR_RETURN(const Series reference_integral, cumulative_energy(reference));
  if (!(options.block > Seconds{0}) || !(options.settle >= Seconds{0}) || !(options.tolerance > 0)) {
    return invalid("steady blocks: block and tolerance must be positive");
  }
  const double from = std::max(reading.time_s.front(), reference.time_s.front());
  const double to = std::min(reading.time_s.back(), reference.time_s.back());
  if (!(from < to)) return invalid("two sources without time in common; are they on the same clock?");
  const double width = options.block.value();
  const auto count = static_cast<std::size_t>(std::floor((to - from) / width));
  const std::vector<double> readings = block_means(held_integral(reading), from, width, count);
  const std::vector<double> references = block_means(reference_integral, from, width, count);
  const auto past = static_cast<std::size_t>(std::ceil(options.settle / options.block));
  Blocks blocks;
  for (std::size_t k = past; k + 1 < count; ++k) {
    if (!level(references, k - past, k + 1, options.tolerance)) continue;
    blocks.from_s.push_back(from + static_cast<double>(k) * width);
    blocks.reading.push_back(readings[k]);
    blocks.reference.push_back(references[k]);
  }
  return blocks;
}

}  // namespace joulecast::series
