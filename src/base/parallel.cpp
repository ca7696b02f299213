// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace joulecast {

Result<void> in_parallel(std::size_t count, const std::function<Result<void>(std::size_t)>& work, unsigned threads) {
  std::vector<Result<void>> results(count);
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      results[i] = work(i);
      if (!results[i]) next = count;
    }
  };
  const std::size_t cores = threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < std::min(cores, count); ++i) helpers.emplace_back(take);
  take();
  helpers.clear();
  const auto failed = std::find_if(results.begin(), results.end(), [](const auto& result) { return !result; });
  return failed == results.end() ? Result<void>() : *failed;
}

}  // namespace joulecast
