// SPDX-License-Identifier: Apache-2.0
// Reads sensors at their pace and keeps what they say.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "joulecast/result.h"
#include "power/sensor.h"
#include "recording/event.h"
#include "recording/writer.h"

namespace joulecast {

// A frame costs as much as four readings, so channels with fewer wait for every third write.
inline constexpr std::size_t kWritesOfSlow = 3;
inline constexpr std::size_t kWorthAFrame = 4;
// Counters step ten times a second: so much is recorded around what is measured that a step lies on both sides of its
// edges.
inline constexpr std::chrono::milliseconds kEdgeMargin{250};

// One thread a lane reads, one writes: to the file several times a second, to the disk once.
//
//   Recorder recorder(std::move(found.sensors), std::move(writer));
//   recorder.start();
//   recorder.event({monotonic_now(), EventKind::kBegin, 0, "command", ""});
//   ...
//   JC_RETURN_IF_ERROR(recorder.finish(R"({"exit":0})"));
class Recorder {
 public:
  Recorder(std::vector<std::unique_ptr<Sensor>> sensors, RecordingWriter writer);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  // Is told every reading as it comes, by the threads that read, one at a time. Requires: before start().
  using Listener = std::function<void(std::size_t channel, const Reading& reading)>;
  void listen(Listener listener) { listener_ = std::move(listener); }
  void start();
  // From any thread.
  void event(const Event& event);
  void note(const std::string& text);
  // Reads every sensor once more, writes everything and the end, an object in JSON. Errors: what went wrong with the
  // file first, here or before; the readings until then are in it.
  Result<void> finish(const std::string& end_json);

  // The newest reading of each channel, in their order.
  [[nodiscard]] const std::vector<Channel>& channels() const { return channels_; }
  [[nodiscard]] std::vector<std::optional<Reading>> newest() const;
  // Of each channel: why the driver gave nothing when it was asked after the newest reading; absent where it was not.
  [[nodiscard]] std::vector<std::optional<Absence>> failing() const;
  // Readings so far.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] const RecordingWriter& writer() const { return writer_; }

 private:
  class ChannelSink;
  struct Scheduled {
    Sensor* sensor = nullptr;
    std::size_t first_channel = 0;
    std::chrono::steady_clock::time_point due;
  };

  void run_lane(std::vector<Scheduled> lane);
  void run_writer();
  void write_pending(bool everything);
  void read(const Scheduled& scheduled);
  bool wait_until(std::chrono::steady_clock::time_point due);

  std::vector<std::unique_ptr<Sensor>> sensors_;
  RecordingWriter writer_;
  std::vector<Channel> channels_;
  std::vector<std::thread> lanes_;
  std::thread writing_;
  Listener listener_;

  mutable std::mutex mutex_;
  std::condition_variable stop_changed_;
  bool stopping_ = false, lanes_done_ = false;
  std::vector<std::vector<Reading>> pending_;
  std::vector<std::optional<Reading>> newest_;
  std::vector<std::optional<Absence>> failing_;
  std::vector<AbsenceRecord> absences_;
  std::vector<Event> events_;
  std::vector<std::string> notes_;
  std::atomic<std::uint64_t> count_ = 0;
  std::optional<Error> error_;
};

}  // namespace joulecast
