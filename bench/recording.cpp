// SPDX-License-Identifier: Apache-2.0
// Size and speed of recordings: bench_recording write FILE SECONDS makes one as eight GPUs at 50 Hz would,
// bench_recording read FILE reads it, frame by frame. Both print what they saw, times being of the processor, and their
// peak of memory.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "measure/recorder.h"
#include "recording/reader.h"
#include "recording/writer.h"

namespace {

using namespace joulecast;

constexpr int kGpus = 8;
constexpr int kHertz = 50;
constexpr MonotonicUs kSecond = 1'000'000;
constexpr double kSecondsOfWeek = 7 * 86'400;

// A stream of readings, with noise as sensors have it: `swing` steps up and down, `jitter` microseconds late.
struct Stream {
  Signal signal;
  const char* source;
  std::int64_t level, swing, step;  // every value is a multiple of `step`
  std::int64_t rate;                // counters: steps a reading
  int every;                        // ticks
};
constexpr Stream kStreams[] = {
    {Signal::kPower, "nvml-instant", 450'000, 60'000, 1, 0, 1},
    {Signal::kEnergy, "nvml-counter", 0, 500'000, 1000, 9'000'000, 1},
    {Signal::kSmClock, "nvml", 1'755'000'000, 45'000'000, 15'000'000, 0, 10},
    {Signal::kTemperature, "nvml", 62'000, 1000, 1000, 0, 10},
    {Signal::kUtilization, "nvml", 9500, 500, 100, 0, 10},
    {Signal::kMemoryUsed, "nvml", 60'000'000'000, 0, 1, 0, 10},
    {Signal::kPowerLimit, "nvml", 700'000, 0, 1, 0, 10},
    {Signal::kEventReasons, "nvml", 4, 0, 1, 0, 10},
};

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double peak_mebibytes() {
  constexpr double kKibibytesOfMebibyte = 1024;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / kKibibytesOfMebibyte;
}

// Memory that is not the file's pages, which the system takes back whenever it needs them.
double own_mebibytes() {
  std::ifstream in("/proc/self/status");
  std::string word;
  double kibibytes = 0;
  while (in >> word) {
    if (word == "RssAnon:") in >> kibibytes;
  }
  return kibibytes / 1024;
}

class Simulation {
 public:
  explicit Simulation(RecordingWriter& writer) : writer_(writer) {
    for (int gpu = 0; gpu < kGpus; ++gpu) {
      for (const Stream& stream : kStreams) {
        writer_.channel({fmt::format("gpu{}", gpu), stream.signal, stream.source, 0.025});
      }
    }
    counters_.resize(static_cast<std::size_t>(kGpus) * std::size(kStreams));
    pending_.resize(counters_.size());
  }

  // As the recorder writes: to the file four times a second, to the disk once (which is left out here).
  Result<void> run(std::int64_t seconds) {
    for (std::int64_t tick = 0; tick < seconds * kHertz; ++tick) {
      read(tick);
      if (tick % (kHertz / 4) == 0) JC_RETURN_IF_ERROR(write(tick));
    }
    writer_.end("{}");
    JC_RETURN_IF_ERROR(write(seconds * kHertz));
    return {};
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  std::int64_t below(std::int64_t limit) {
    return limit <= 0 ? 0 : static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit + 1));
  }

  void read(std::int64_t tick) {
    const MonotonicUs now = tick * kSecond / kHertz + below(120);
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const Stream& stream = kStreams[i % std::size(kStreams)];
      if (tick % stream.every != 0) continue;
      counters_[i] += stream.rate;
      const std::int64_t value = stream.level + counters_[i] + below(2 * stream.swing) - stream.swing;
      pending_[i].push_back({now, value / stream.step * stream.step});
      ++count_;
    }
  }

  Result<void> write(std::int64_t tick) {
    const bool everything = ++writes_ % kWritesOfSlow == 0;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (!everything && pending_[i].size() < kWorthAFrame) continue;
      writer_.readings(static_cast<std::uint32_t>(i), pending_[i]);
      pending_[i].clear();
    }
    const bool whole_second = writes_ % 4 == 0;
    if (whole_second) writer_.clocks({tick * kSecond / kHertz, 1'700'000'000 * kSecond + tick * kSecond / kHertz});
    return writer_.flush();
  }

  RecordingWriter& writer_;
  std::mt19937_64 random_{1};
  std::vector<std::int64_t> counters_;
  std::vector<std::vector<Reading>> pending_;
  std::uint64_t count_ = 0;
  std::size_t writes_ = 0;
};

Result<void> write(const char* path, std::int64_t seconds) {
  JC_ASSIGN_OR_RETURN(RecordingWriter writer, RecordingWriter::create(path, Existing::kReplace));
  Simulation simulation(writer);
  const double before = processor_seconds();
  JC_RETURN_IF_ERROR(simulation.run(seconds));
  const double spent = processor_seconds() - before;
  const auto bytes = static_cast<double>(writer.bytes_written());
  const auto count = static_cast<double>(simulation.count());
  fmt::print("{:.0f} readings of {} channels in {} s, {:.2f} bytes each, {:.1f} GB a week\n", count,
             kGpus * std::size(kStreams), seconds, bytes / count,
             bytes / static_cast<double>(seconds) * kSecondsOfWeek * 1e-9);
  fmt::print(
      "made and written: {:.1f} million readings a second, {:.3f} % of a core while it records; {:.0f} MiB at most\n",
      count / spent * 1e-6, spent / static_cast<double>(seconds) * 100, peak_mebibytes());
  return {};
}

class Counter : public RecordingVisitor {
 public:
  void readings(std::uint32_t /*channel*/, std::span<const Reading> readings) override {
    count += readings.size();
    for (const Reading& reading : readings) sum += static_cast<double>(reading.value);
  }
  std::uint64_t count = 0;
  double sum = 0;
};

Result<void> read(const char* path) {
  Counter counter;
  const double before = processor_seconds();
  JC_ASSIGN_OR_RETURN(const RecordingDamage damage, read_recording_file(path, counter));
  const double spent = processor_seconds() - before;
  if (!damage.complete || damage.damaged > 0) return invalid("the recording is not whole");
  fmt::print("read: {:.1f} million readings a second; {:.1f} MiB of its own, {:.0f} MiB with the file's pages\n",
             static_cast<double>(counter.count) / spent * 1e-6, own_mebibytes(), peak_mebibytes());
  // A sum nobody takes would not be made.
  if (counter.sum < 0) fmt::print("{}\n", counter.sum);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 2 ? argv[1] : "";
  Result<void> done;
  if (verb == "write" && argc == 4) {
    done = write(argv[2], std::atoll(argv[3]));
  } else if (verb == "read" && argc == 3) {
    done = read(argv[2]);
  } else {
    fmt::print(stderr, "usage: bench_recording write FILE SECONDS | read FILE\n");
    return 2;
  }
  if (!done) fmt::print(stderr, "{}\n", done.error().text());
  return done ? 0 : 1;
}
