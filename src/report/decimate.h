// SPDX-License-Identifier: Apache-2.0
// Fewer points of a line, with its peaks.
#pragma once

#include <cstddef>

#include "series/series.h"

namespace joulecast::report {

// Points a line has on a page: two for each of a thousand columns of pixels.
inline constexpr std::size_t kLinePoints = 2000;

// At most `most` of the points, none of them made up: the first, the last, and the least and the greatest of each
// stretch of time, so that no peak is lost. Unchanged where there are no more. Requires: most >= 4, times rising.
series::Series decimated(const series::Series& line, std::size_t most);

}  // namespace joulecast::report
