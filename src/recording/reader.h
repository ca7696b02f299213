// SPDX-License-Identifier: Apache-2.0
// Reads recordings, whole or cut off or damaged.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "joulecast/result.h"
#include "recording/channel.h"
#include "recording/event.h"

namespace joulecast {

// Is told what a recording holds, in the order of the file. Views are valid during the call. Names and texts are
// harmless (base/harmless.h), whoever wrote the file; head and end are JSON as it stands there.
class RecordingVisitor {
 public:
  virtual ~RecordingVisitor() = default;
  virtual void head(std::string_view /*json*/) {}
  // Channels come before anything about them, ids counting from 0; those of signals this version does not know are
  // left out, with all their readings.
  virtual void channel(std::uint32_t /*id*/, const Channel& /*channel*/) {}
  virtual void readings(std::uint32_t /*channel*/, std::span<const Reading> /*readings*/) {}
  virtual void absence(const AbsenceRecord& /*record*/) {}
  virtual void event(const Event& /*event*/) {}
  virtual void clocks(const ClockPair& /*pair*/) {}
  virtual void note(std::string_view /*text*/) {}
  virtual void end(std::string_view /*json*/) {}
};

// What of the file could not be read.
struct RecordingDamage {
  bool complete = false;      // the recorder wrote its end
  std::uint64_t cut_off = 0;  // bytes of a last frame that was not written whole
  std::uint64_t damaged = 0;  // bytes elsewhere that belong to no frame whose sum is right
  std::uint64_t unknown = 0;  // frames of kinds a newer joulecast writes

  bool operator==(const RecordingDamage&) const = default;
};

// Errors: kInvalidInput for what is no recording, or one of a newer version; a damaged or cut recording is none: what
// is whole of it is told, and the rest counted. Needs memory for one frame only.
Result<RecordingDamage> read_recording(std::string_view bytes, RecordingVisitor& visitor);
Result<RecordingDamage> read_recording_file(const std::string& path, RecordingVisitor& visitor);

}  // namespace joulecast
