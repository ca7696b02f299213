// SPDX-License-Identifier: Apache-2.0
// What loading a recording and exporting it frame by frame have in common.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "recording/reader.h"
#include "recording/recording.h"

namespace joulecast {

// Collects everything but readings. Times that nobody can have measured are left out.
class Outliner : public RecordingVisitor {
 public:
  // `run` must live as long.
  explicit Outliner(Recording& run) : run_(run) {}

  void head(std::string_view json) override;
  void channel(std::uint32_t id, const Channel& channel) override;
  void absence(const AbsenceRecord& record) override;
  void event(const Event& event) override;
  void clocks(const ClockPair& pair) override;
  void note(std::string_view text) override;
  void end(std::string_view json) override;

 private:
  Recording& run_;
};

// A damaged or foreign file may go back in time; what reads series relies on rising times.
class RisingReadings {
 public:
  // Those of one channel that come after all before. Valid until the next call.
  std::span<const Reading> of(std::uint32_t channel, std::span<const Reading> readings);

 private:
  std::vector<std::optional<MonotonicUs>> newest_;  // one entry a channel
  std::vector<Reading> part_;
};

}  // namespace joulecast
