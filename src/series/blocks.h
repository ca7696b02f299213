// SPDX-License-Identifier: Apache-2.0
// Two sources of one quantity, block by block where the load is steady: there neither a delay nor a smear counts.
#pragma once

#include <vector>

#include "series/series.h"

namespace joulecast::series {

struct BlockOptions {
  Seconds block{0.5};
  // The reference stays level since this long before a block, and one block after it: longer than the sensor trails.
  Seconds settle{1.5};
  double tolerance = 0.05;  // share by which the reference's blocks may differ and still be level
};

struct Blocks {
  std::vector<double> from_s;
  std::vector<double> reading, reference;  // means
};
// The reading is held between its updates; the reference is sampled. Both on one clock, of which the common time
// counts. Blocks without a settled past are left out, so there may be none. Errors: check()'s; kInvalidInput where the
// two have no time in common or an option is not positive.
Result<Blocks> steady_blocks(const Series& reading, const Series& reference, const BlockOptions& options = {});

}  // namespace joulecast::series
