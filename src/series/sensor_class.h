// SPDX-License-Identifier: Apache-2.0
// What a power reading of NVML means, by architecture, driver and field.
// After Z. Yang, K. Adamek, W. Armour, "Accurate and Convenient Energy Measurements for GPUs", SC24 (arXiv 2312.02741)
// and the results beside it (JimZeyuYang/GPU_Power_Benchmark, Overall_Results.xlsx, "Result Matrix"). Single cards
// differ: an update period measured on the card at hand goes before the one here.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "joulecast/result.h"
#include "joulecast/units.h"
#include "series/series.h"
#include "series/warning.h"

namespace joulecast::series {

enum class Architecture : std::uint8_t {
  kFermi2,
  kKepler1,  // GK110: K40
  kKepler2,  // GK210: K80
  kMaxwell,
  kPascal,
  kVolta,
  kTuring,
  kAmpereGa100,  // A100, A30
  kAmpere,       // GA10x
  kAda,
  kHopper,
};

enum class PowerField : std::uint8_t {
  kLegacy,   // nvmlDeviceGetPowerUsage, `power.draw`
  kAverage,  // field 185, `power.draw.average`
  kInstant,  // field 186, `power.draw.instant`
};

enum class SensorClass : std::uint8_t { kA, kB, kC, kD, kE, kF, kG };

enum class Rise : std::uint8_t { kInstant, kRamp, kCharge, kEstimated };

struct SensorMeaning {
  Rise rise = Rise::kInstant;
  std::optional<Seconds> period;  // between updates
  std::optional<Seconds> window;  // that a reading is the mean of
  // Share of the time that is in some window: 1 where windows overlap.
  [[nodiscard]] std::optional<double> seen() const;
  // A polled reading is half a period old on average, and stands for the middle of its window.
  [[nodiscard]] std::optional<Seconds> delay() const;
};

// Absent where it is not known or the driver does not have the field. `driver` is the number before the first point.
// `power.draw` of GA10x and Ada changed its meaning twice: class C before 530, B with 530, C again after.
std::optional<SensorClass> sensor_class(Architecture architecture, int driver, PowerField field);
SensorMeaning meaning(SensorClass sensor);
char letter(SensorClass sensor);  // 'A'
std::string_view text(SensorClass sensor);

struct CorrectedPower {
  Series power_w;
  Warnings warnings;
};
// Readings at the times they stand for (earlier by the delay), with what remains in doubt: classes A and D see part of
// the time (aliasing.h tells when that is fatal), C is smeared over a second (running_mean.h), E and F trail the load,
// which is bearable over `window` of 10 s or more. Errors: check()'s; kUnsupported for shorter series of E and F, and
// for G, which senses nothing.
Result<CorrectedPower> correct(const Series& power_w, SensorClass sensor);

}  // namespace joulecast::series
