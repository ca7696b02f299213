// SPDX-License-Identifier: Apache-2.0
// What this process does, measured from within: windows that it opens and closes itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "measure/recent_readings.h"
#include "measure/recorder.h"
#include "power/sensor.h"
#include "recording/recording.h"
#include "recording/writer.h"

namespace joulecast {

struct MeterOptions {
  SensorOptions sensors;
  std::optional<std::string> output;  // a recording of everything; without it only what windows need is kept, in memory
  Existing existing = Existing::kRefuse;
  std::vector<std::string> command;  // of this process, as the recording names it
  std::string tool_version;
};

// Windows may nest and overlap, and belong to any thread. Readings are kept as long as a window needs them: from the
// begin of the oldest that is not dropped.
//
//   JC_ASSIGN_OR_RETURN(const auto meter, Meter::start(options));
//   JC_ASSIGN_OR_RETURN(const auto window, meter->begin("epoch"));
//   ...
//   JC_RETURN_IF_ERROR(meter->end(window));
//   JC_ASSIGN_OR_RETURN(const Recording recording, meter->recording(window));
//   meter->drop(window);
//
// A process that was forked off has a copy that measures nothing: there every call but drop() fails with kUnsupported.
class Meter {
 public:
  using Window = std::uint64_t;

  // Returns when every sensor has been read for some time. Errors: kInvalidInput for GPUs and meters that are not
  // there, kIo where there can be no recording.
  static Result<std::unique_ptr<Meter>> start(const MeterOptions& options);
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  ~Meter();

  // Errors: kInvalidInput for a name that is empty or over 256 bytes.
  Result<Window> begin(const std::string& name);
  // Errors: kInvalidInput where it has ended.
  Result<void> end(Window window);
  // The window as the command of a recording, those within it as its phases. Waits until sensors have said something
  // of its end. Errors: kInvalidInput where it is still open.
  Result<Recording> recording(Window window);
  // Nobody will ask for it any more. Requires: called once a window.
  void drop(Window window);
  // Readings in memory.
  [[nodiscard]] std::size_t kept();
  // Nothing is read any more; an open window has no end. Errors: kIo where the recording is not whole.
  Result<void> finish();

 private:
  struct Marked {
    std::string name;
    MonotonicUs begin = 0;
    std::optional<MonotonicUs> end;
    std::uint64_t ended = 0;  // its place among the ends: several fit into a microsecond
    bool dropped = false;
  };

  Meter(Found found, RecordingWriter writer, const MeterOptions& options);
  [[nodiscard]] Result<void> check_process() const;
  void mark(EventKind kind, MonotonicUs time, const std::string& name, Window window);
  [[nodiscard]] std::vector<Event> events_of(Window window, const Marked& marked) const;
  void trim(MonotonicUs now);

  pid_t process_;
  nlohmann::json head_;
  std::vector<std::string> notes_;
  std::unique_ptr<Recorder> recorder_;
  std::vector<Channel> channels_;
  std::mutex finishing_;  // before the other, where both are held

  std::mutex mutex_;  // of what follows
  std::optional<Result<void>> finished_;
  RecentReadings kept_{0};
  std::map<Window, Marked> windows_;
  Window next_ = 1;
  std::uint64_t ends_ = 0;
};

}  // namespace joulecast
