// SPDX-License-Identifier: Apache-2.0
// Who else had the processors while a case was timed on them, from Linux' counters (proc(5), /proc/stat and
// /proc/PID/stat), which tell hundredths of a second.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace joulecast::profile {

// Since some moment in the past, seconds; of all processors in question together.
struct ProcessorUse {
  double busy_s = 0;    // by anybody
  double stolen_s = 0;  // somebody would have run, and the hypervisor ran another machine
  double own_s = 0;     // by the runner, what it waited for, and us
};

// The lines of those processors in /proc/stat, without `own_s`; absent where there are none, or one is cut.
std::optional<ProcessorUse> processor_use(std::string_view stat, const std::set<int>& processors, double ticks_per_s);

// Of a line of /proc/PID/stat: of the process and the children it waited for. Absent where it is no such line.
std::optional<double> process_seconds(std::string_view stat, double ticks_per_s);

// What took more than 5 % (and 30 ms, for the counters' ticks) of what `threads` of so many processors can do in these
// seconds: "other processes", "the hypervisor", both, or "". Processors that the threads do not need are anybody's.
std::string other_work(const ProcessorUse& begin, const ProcessorUse& end, double seconds, std::size_t processors,
                       std::size_t threads);

// The same of a runner that works now, on the processors this program may use.
class OtherWork {
 public:
  // Threads: 0 for as many as there are processors.
  OtherWork(pid_t runner, std::int64_t threads);

  void look();  // at this moment
  // From the last look at or before `begin_us` (CLOCK_MONOTONIC) to the last look; "" too where nothing can be told.
  [[nodiscard]] std::string since(std::int64_t begin_us) const;

 private:
  struct Look {
    std::int64_t at_us;
    ProcessorUse use;
  };
  std::string runner_stat_;
  std::set<int> processors_;
  std::size_t threads_;
  std::vector<Look> looks_;
};

}  // namespace joulecast::profile
