// SPDX-License-Identifier: Apache-2.0
#include "measure/recorder.h"

#include <algorithm>
#include <map>
#include <utility>

namespace joulecast {
namespace {

using Clock = std::chrono::steady_clock;

// What is lost when we are killed, and when the machine is.
constexpr std::chrono::milliseconds kToFile{250};
constexpr std::chrono::milliseconds kToDisk{1000};

constexpr std::chrono::milliseconds kTogether{2};

}  // namespace

// A sensor's numbers of channels become the recording's.
class Recorder::ChannelSink : public ReadingSink {
 public:
  ChannelSink(Recorder& recorder, std::size_t first) : recorder_(recorder), first_(first) {}

  void reading(std::size_t channel, const Reading& reading) override {
    const std::lock_guard lock(recorder_.mutex_);
    auto& newest = recorder_.newest_[first_ + channel];
    if (newest && reading.time <= newest->time) return;  // two clocks at work: what comes late says nothing new
    newest = reading;
    recorder_.failing_[first_ + channel].reset();
    recorder_.pending_[first_ + channel].push_back(reading);
    ++recorder_.count_;
    if (recorder_.listener_) recorder_.listener_(first_ + channel, reading);
  }

  void absent(std::size_t channel, MonotonicUs time, Absence absence, std::uint64_t count,
              const std::string& text) override {
    const std::lock_guard lock(recorder_.mutex_);
    const auto id = static_cast<std::uint32_t>(first_ + channel);
    // Readings that the driver dropped are of before: it answers.
    if (absence != Absence::kLost) recorder_.failing_[id] = absence;
    // A sensor that fails at every reading is told once a write.
    for (AbsenceRecord& record : recorder_.absences_) {
      if (record.channel == id && record.absence == absence && absence != Absence::kLost) {
        record.count += count;
        return;
      }
    }
    recorder_.absences_.push_back({time, id, absence, count, text});
  }

 private:
  Recorder& recorder_;
  std::size_t first_;
};

Recorder::Recorder(std::vector<std::unique_ptr<Sensor>> sensors, RecordingWriter writer)
    : sensors_(std::move(sensors)), writer_(std::move(writer)) {
  for (const auto& sensor : sensors_) {
    for (const Channel& channel : sensor->channels()) {
      channels_.push_back(channel);
      writer_.channel(channel);
    }
  }
  pending_.resize(channels_.size());
  newest_.resize(channels_.size());
  failing_.resize(channels_.size());
}

Recorder::~Recorder() {
  if (writing_.joinable()) (void)finish("{}");
}

void Recorder::start() {
  std::map<Lane, std::vector<Scheduled>> lanes;
  std::size_t channel = 0;
  for (const auto& sensor : sensors_) {
    lanes[sensor->lane()].push_back({sensor.get(), channel, Clock::now()});
    channel += sensor->channels().size();
  }
  for (auto& [name, lane] : lanes) {
    lanes_.emplace_back([this, sensors = std::move(lane)]() mutable { run_lane(std::move(sensors)); });
  }
  writing_ = std::thread([this] { run_writer(); });
}

void Recorder::run_lane(std::vector<Scheduled> lane) {
  while (wait_until(std::min_element(lane.begin(), lane.end(), [](const Scheduled& a, const Scheduled& b) {
                      return a.due < b.due;
                    })->due)) {
    // Sensors of one pace are read at one waking: being woken costs more than reading.
    const Clock::time_point now = Clock::now() + kTogether;
    for (Scheduled& scheduled : lane) {
      if (scheduled.due > now) continue;
      read(scheduled);
      // Late readings are not made up for: the sensor has nothing for the time that is over.
      scheduled.due = std::max(scheduled.due + scheduled.sensor->period(), Clock::now());
    }
  }
  for (const Scheduled& scheduled : lane) read(scheduled);
}

void Recorder::read(const Scheduled& scheduled) {
  ChannelSink sink(*this, scheduled.first_channel);
  scheduled.sensor->read(sink);
}

// False once the recorder is to stop.
bool Recorder::wait_until(Clock::time_point due) {
  std::unique_lock lock(mutex_);
  return !stop_changed_.wait_until(lock, due, [this] { return stopping_; });
}

void Recorder::run_writer() {
  Clock::time_point to_disk = Clock::now();
  std::size_t writes = 0;
  while (true) {
    bool last = false;
    {
      std::unique_lock lock(mutex_);
      stop_changed_.wait_for(lock, kToFile, [this] { return lanes_done_; });
      last = lanes_done_;
    }
    const bool everything = last || ++writes % kWritesOfSlow == 0;
    write_pending(everything);
    if (Clock::now() >= to_disk || last) {
      writer_.clocks({monotonic_now(), utc_now()});
      if (auto done = writer_.sync(); !done && !error_) error_ = done.error();
      to_disk = Clock::now() + kToDisk;
    } else if (auto done = writer_.flush(); !done && !error_) {
      error_ = done.error();
    }
    if (last) return;
  }
}

void Recorder::write_pending(bool everything) {
  std::vector<std::vector<Reading>> readings(channels_.size());
  std::vector<AbsenceRecord> absences;
  std::vector<Event> events;
  std::vector<std::string> notes;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < readings.size(); ++i) {
      if (everything || pending_[i].size() >= kWorthAFrame) std::swap(readings[i], pending_[i]);
    }
    std::swap(absences, absences_);
    std::swap(events, events_);
    std::swap(notes, notes_);
  }
  for (std::size_t i = 0; i < readings.size(); ++i) writer_.readings(static_cast<std::uint32_t>(i), readings[i]);
  for (const AbsenceRecord& record : absences) writer_.absence(record);
  for (const Event& event : events) writer_.event(event);
  for (const std::string& note : notes) writer_.note(note);
}

void Recorder::event(const Event& event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(event);
}

void Recorder::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  notes_.push_back(text);
}

std::vector<std::optional<Reading>> Recorder::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

std::vector<std::optional<Absence>> Recorder::failing() const {
  const std::lock_guard lock(mutex_);
  return failing_;
}

Result<void> Recorder::finish(const std::string& end_json) {
  const auto set = [this](bool& flag) {
    {
      const std::lock_guard lock(mutex_);
      flag = true;
    }
    stop_changed_.notify_all();
  };
  set(stopping_);
  for (std::thread& lane : lanes_) lane.join();
  lanes_.clear();
  set(lanes_done_);
  if (writing_.joinable()) writing_.join();
  writer_.end(end_json);
  if (auto done = writer_.sync(); !done && !error_) error_ = done.error();
  if (error_) return tl::unexpected<Error>(*error_);
  return {};
}

}  // namespace joulecast
