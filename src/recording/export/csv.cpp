// SPDX-License-Identifier: Apache-2.0
// One line a reading.
#include <fmt/format.h>

#include "base/csv.h"
#include "recording/export/exporters.h"
#include "recording/export/timeline.h"
#include "recording/import/wall_time.h"

namespace joulecast {

Result<void> export_csv(const RunSource& run, const ExportOptions& /*options*/, const Put& put) {
  const Recording& outline = run.outline();
  const UtcClock clock(outline.clocks);
  const PhaseLabels phases(outline.events);
  std::vector<std::string> streams;
  for (const Channel& channel : outline.channels) {
    streams.push_back(
        fmt::format("{},{},{}", csv_field(channel.device), csv_field(channel.source), info(channel.signal).key));
  }
  put("time_utc,time_s,device,source,signal,value,phase\r\n");
  run.each([&](std::uint32_t channel, std::span<const Reading> readings) {
    std::string lines;
    for (const Reading& reading : readings) {
      const MonotonicUs since = reading.time - run.span().begin;
      fmt::format_to(std::back_inserter(lines), "{},{}.{:06},{},{},{}\r\n",
                     clock.known() ? utc_text(clock.utc(reading.time)) : "", since / 1'000'000, since % 1'000'000,
                     streams[channel], si_text(reading, outline.channels[channel].signal),
                     csv_field(phases.at(reading.time)));
    }
    put(lines);
  });
  return {};
}

}  // namespace joulecast
