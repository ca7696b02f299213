// SPDX-License-Identifier: Apache-2.0
#include "recording/recording.h"

#include <algorithm>
#include <utility>

#include "base/mapped_file.h"
#include "recording/outliner.h"

namespace joulecast {
namespace {

class Loader : public Outliner {
 public:
  explicit Loader(Recording& run) : Outliner(run), run_(run) {}

  void channel(std::uint32_t id, const Channel& channel) override {
    Outliner::channel(id, channel);
    run_.readings.emplace_back();
  }
  void readings(std::uint32_t channel, std::span<const Reading> readings) override {
    const auto rising = rising_.of(channel, readings);
    auto& own = run_.readings[channel];
    own.insert(own.end(), rising.begin(), rising.end());
  }

 private:
  Recording& run_;
  RisingReadings rising_;
};

}  // namespace

Result<Recording> parse_recording(std::string_view bytes) {
  Recording run;
  Loader loader(run);
  JC_ASSIGN_OR_RETURN(run.damage, read_recording(bytes, loader));
  return run;
}

Result<Recording> load_recording(const std::string& path) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  auto run = parse_recording(file.text());
  if (!run) return tl::unexpected<Error>(std::move(run).error().in(path));
  return run;
}

std::optional<std::int64_t> Recording::utc(MonotonicUs time) const {
  if (clocks.empty()) return std::nullopt;
  const auto after =
      std::find_if(clocks.begin(), clocks.end(), [&](const ClockPair& pair) { return pair.monotonic >= time; });
  if (after == clocks.begin()) return time - after->monotonic + after->utc;
  const ClockPair& before = *std::prev(after);
  const MonotonicUs since = time - before.monotonic;
  if (after == clocks.end()) return before.utc + since;
  const double rate =
      static_cast<double>(after->utc - before.utc) / static_cast<double>(after->monotonic - before.monotonic);
  return before.utc + static_cast<std::int64_t>(rate * static_cast<double>(since));
}

std::optional<Recording::Span> Recording::span() const {
  std::optional<Span> span;
  const auto add = [&](MonotonicUs time) {
    if (!span) span = Span{time, time};
    span->begin = std::min(span->begin, time);
    span->end = std::max(span->end, time);
  };
  for (const auto& series : readings) {
    if (series.empty()) continue;
    add(series.front().time);
    add(series.back().time);
  }
  for (const Event& event : events) add(event.time);
  for (const ClockPair& pair : clocks) add(pair.monotonic);
  return span;
}

}  // namespace joulecast
