// SPDX-License-Identifier: Apache-2.0
#include "report/decimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace joulecast::report {
namespace {

void add(series::Series& out, const series::Series& line, std::size_t i) {
  out.time_s.push_back(line.time_s[i]);
  out.value.push_back(line.value[i]);
}

}  // namespace

series::Series decimated(const series::Series& line, std::size_t most) {
  JC_CHECK(most >= 4, "a line of fewer than four points keeps no peak");
  const std::size_t count = line.time_s.size();
  if (count <= most) return line;
  const std::size_t buckets = (most - 2) / 2;
  const double begin = line.time_s.front();
  const double width = (line.time_s.back() - begin) / static_cast<double>(buckets);
  series::Series out;
  add(out, line, 0);
  std::size_t at = 1;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    // The last bucket takes what rounding would leave over.
    const double end = bucket + 1 == buckets ? std::numeric_limits<double>::infinity()
                                             : begin + width * static_cast<double>(bucket + 1);
    const std::size_t from = at;
    while (at + 1 < count && line.time_s[at] < end) ++at;
    if (at == from) continue;
    const auto values = line.value.begin();
    const auto [least, greatest] =
        std::minmax_element(values + static_cast<std::ptrdiff_t>(from), values + static_cast<std::ptrdiff_t>(at));
    const auto first = static_cast<std::size_t>(std::min(least, greatest) - values);
    const auto second = static_cast<std::size_t>(std::max(least, greatest) - values);
    add(out, line, first);
    if (second != first) add(out, line, second);
  }
  add(out, line, count - 1);
  return out;
}

}  // namespace joulecast::report
