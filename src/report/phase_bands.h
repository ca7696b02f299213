// SPDX-License-Identifier: Apache-2.0
// Phases as stretches of the page's time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/chart.h"
#include "report/run_view.h"

namespace joulecast::report {

struct Stretch {
  std::string name;
  double begin_s = 0, end_s = 0;
  std::size_t count = 1;  // phases that were joined, because no screen tells them apart
};

// In the order of their begins. Of a name with more than `most` phases, neighbours are joined until there are no more.
std::vector<Stretch> stretches(const RunView& run, std::size_t most);

// Columns name, begin_s, end_s, count, and odd: whether it is the second, fourth... of its name.
Json stretch_block(const std::vector<Stretch>& stretches);

struct Bands {
  std::vector<Stretch> stretches;
  std::size_t names_left_out = 0;  // of those that would make bands, were there colours for them
};

// The names that make bands behind a line: neither one stretch over everything nor too many to see. In the order of
// `all`.
Bands bands(const std::vector<Stretch>& all);

}  // namespace joulecast::report
