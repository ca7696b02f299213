// SPDX-License-Identifier: Apache-2.0
// Whatever power, energy, clocks and the like can be read from.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "recording/channel.h"

namespace joulecast {

// Takes what a sensor reads. Channels are numbered as in the sensor's channels().
class ReadingSink {
 public:
  virtual ~ReadingSink() = default;
  virtual void reading(std::size_t channel, const Reading& reading) = 0;
  // `count` readings are missing, where that is known, else one attempt failed.
  virtual void absent(std::size_t channel, MonotonicUs time, Absence absence, std::uint64_t count,
                      const std::string& text) = 0;
};

// Sensors of one lane are read by one thread, so a slow one delays none of another lane.
enum class Lane : std::uint8_t { kPower, kState, kBuffer, kPcie, kMeter };

// One or more channels that are read together.
//
// Nothing here is for two threads at once; different sensors may be read at the same time.
class Sensor {
 public:
  virtual ~Sensor() = default;
  [[nodiscard]] virtual const std::vector<Channel>& channels() const = 0;
  [[nodiscard]] virtual Lane lane() const = 0;
  // When it is worth asking again; may change from reading to reading.
  [[nodiscard]] virtual std::chrono::microseconds period() const = 0;
  // Asks once. What cannot be read is told to the sink; nothing here stops a run.
  virtual void read(ReadingSink& sink) = 0;
};

// Something readings are of.
struct MeasuredDevice {
  std::string id;          // "gpu0", as in Channel::device
  std::string kind;        // "gpu", "cpu", "meter"
  std::string name;        // "NVIDIA H100 80GB HBM3"
  nlohmann::json details;  // an object: ids, driver, limits and clocks as they were found
};

// Something that cannot be read here, and what would change that.
struct Missing {
  std::string what;    // "gpu0: energy counter"
  std::string why;     // "NVML: not supported"
  std::string remedy;  // "chips before Volta have none; energy is integrated from power"; empty where nothing helps
};

// What a family of sensors found on this machine. No devices and one `Missing` where there is nothing of it.
struct Found {
  std::vector<std::unique_ptr<Sensor>> sensors;
  std::vector<MeasuredDevice> devices;
  std::vector<Missing> missing;
  std::string choice;               // why these GPUs: "CUDA_VISIBLE_DEVICES=1"; empty where there was nothing to choose
  std::vector<std::string> doubts;  // sentences for people
};

struct SensorOptions {
  std::optional<std::string> gpus;  // as typed: "0,2", "GPU-8f3a", "all"; absent: what the environment makes visible
  std::optional<std::chrono::microseconds> interval;  // absent: after the period the sensor is seen to have
  std::string root = "/";                             // where /sys is; for tests
  std::vector<std::string> meters;                    // commands that print watts
  std::optional<std::string> replay;                  // a recording in the place of all sensors
};

// Everything this machine has, by the list in sensors.cpp. Errors: kInvalidInput for GPUs that are asked for and are
// not there.
Result<Found> find_sensors(const SensorOptions& options);

// Of CLOCK_MONOTONIC.
MonotonicUs monotonic_now();
// Microseconds since 1970.
std::int64_t utc_now();

}  // namespace joulecast
