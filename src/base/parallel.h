// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work on all cores.
#pragma once

#include <cstddef>
#include <functional>

#include "joulecast/result.h"

namespace joulecast {

// Calls work(0) ... work(count - 1), each once, from this thread and helpers: as many at a time as there are cores, or
// `threads`. Comes back when all are done; after an error no further ones are begun. Errors: that of the lowest number.
// Requires: work() may be called from several threads at once, and does not throw.
Result<void> in_parallel(std::size_t count, const std::function<Result<void>(std::size_t)>& work, unsigned threads = 0);

}  // namespace joulecast
