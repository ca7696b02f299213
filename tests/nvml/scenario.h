// SPDX-License-Identifier: Apache-2.0
// What the stand-in pretends: GPUs, their sensors and loads, and what goes wrong when. Read from TOML (README.md).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/result.h"
#include "power/nvml_abi.h"

namespace joulecast::nvml {

// Nanoseconds since the start of the scenario. Whole numbers, so that edges of a square wave never drift.
using Nanoseconds = std::int64_t;
inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;
inline constexpr Nanoseconds kForever = std::numeric_limits<Nanoseconds>::max();

struct LoadStep {
  Nanoseconds at = 0;
  double power_w = 0;
};

// What the GPU would draw at its highest clock and without a limit. Steps hold until the next one; the first holds
// before the start, too. With a period they repeat, in both directions.
struct Load {
  std::vector<LoadStep> steps;
  Nanoseconds period = 0;  // 0: the last step holds for ever
};

struct Sensor {
  Nanoseconds update = 100 * kMillisecond;
  Nanoseconds phase = 0;                   // of the updates
  Nanoseconds window = 25 * kMillisecond;  // the part before each update that an "instant" reading is the mean of
  Nanoseconds rise = 0;                    // not 0: instead an RC curve with this time constant (Maxwell, Kepler)
  bool legacy_is_average = true;           // nvmlDeviceGetPowerUsage is the mean of one second
  bool has_average = true;                 // field 185
  bool has_fields = true;                  // fields 185 to 192
  double gain = 1;                         // reading = gain * power + offset
  double offset_w = 0;
  std::size_t ring = 120;  // entries of the sample buffer; 0: it has none
};

struct Counter {
  bool present = true;
  Nanoseconds update = 100 * kMillisecond;
  std::uint64_t start_mj = 123'456'789;  // no driver was loaded this very moment
  unsigned bits = 64;                    // wraps to 0 after that many
};

struct MigSlice {
  std::string name;
  std::string uuid;
  std::uint64_t memory_bytes = 0;
};

struct OutOfBandLimit {
  Nanoseconds at = 0;
  std::optional<std::uint32_t> limit_mw;  // absent: the limit is taken away
};

enum class MigMode : std::uint8_t { kUnsupported, kDisabled, kEnabled };

struct GpuSpec {
  std::string name = "NVIDIA H100 80GB HBM3";
  std::string uuid;
  std::string serial;  // empty: it has none
  std::string bus_id;
  std::uint32_t pci_device_id = 0x233010DE;  // device and vendor
  Architecture architecture = Architecture::kHopper;
  std::uint64_t memory_bytes = 0;
  std::uint64_t used_memory_bytes = 0;
  std::uint32_t default_limit_mw = 700'000;
  std::uint32_t min_limit_mw = 200'000;
  std::uint32_t max_limit_mw = 700'000;
  double idle_w = 70;
  std::vector<std::uint32_t> sm_clocks_mhz;  // highest first, as the library answers
  std::vector<std::uint32_t> memory_clocks_mhz;
  double temperature_c = 30;
  double temperature_c_per_w = 0.06;
  std::uint32_t pcie_kb_per_s = 0;
  bool persistence = true;
  bool limit_takes = true;
  std::vector<PowerScope> power_scopes = {PowerScope::kGpu};
  double module_extra_w = 0;
  double memory_fraction = 0;
  Load load;
  Sensor sensor;
  Counter counter;
  std::vector<OutOfBandLimit> out_of_band;  // by time
  MigMode mig = MigMode::kDisabled;
  std::vector<MigSlice> slices;
};

// One thing that goes wrong. It hits calls of `function` (or reads of `field`), on `gpu` or on all, in its time, every
// `every`-th of them or only the `call`-th.
struct Fault {
  std::string function;  // "*": every function that takes a device
  std::optional<FieldId> field;
  std::optional<std::size_t> gpu;
  Nanoseconds from = 0;
  Nanoseconds until = kForever;
  std::uint64_t every = 1;
  std::uint64_t call = 0;  // 0: any
  Return result = Return::kSuccess;
  std::optional<std::uint64_t> value;  // what the call writes, with success
  Nanoseconds delay = 0;
};

struct Scenario {
  std::string driver = "550.54.15";
  std::string nvml_version = "12.550.54.15";
  std::int32_t cuda_version = 12040;
  bool allow_set = false;  // limits and clocks: as root or not
  std::vector<GpuSpec> gpus;
  std::vector<Fault> faults;
};

// One idle H100.
Scenario default_scenario();

// `folder` is where the load files of a scenario are looked for. Every fault of the text is in the message.
Result<Scenario> read_scenario(const std::string& path);
Result<Scenario> parse_scenario(const std::string& text, const std::string& folder);

// "NOT_SUPPORTED" and so on, NVIDIA's names without the prefix.
std::optional<Return> return_named(const std::string& name);
const char* name_of(Return code);

}  // namespace joulecast::nvml
