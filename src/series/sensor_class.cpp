// SPDX-License-Identifier: Apache-2.0
#include "series/sensor_class.h"

#include <fmt/format.h>

#include <algorithm>

namespace joulecast::series {
namespace {

constexpr int kOddDriver = 530;     // in which GA10x's and Ada's `power.draw` was a 100 ms mean
constexpr int kFirstInstant = 525;  // accepts `.instant` on Pascal to GA100, where it is `power.draw`
constexpr Seconds kLongForSlow{10};

std::optional<SensorClass> of_hopper(int driver, PowerField field) {
  // H100 PCIe with 525.105 and 525.116 was measured; 530 was not.
  if (driver < kFirstInstant || driver == kOddDriver) return std::nullopt;
  return field == PowerField::kInstant ? SensorClass::kA : SensorClass::kC;
}

std::optional<SensorClass> of_ga10x(int driver, PowerField field) {
  if (field == PowerField::kLegacy) return driver == kOddDriver ? SensorClass::kB : SensorClass::kC;
  if (driver <= kOddDriver) return std::nullopt;
  return field == PowerField::kInstant ? SensorClass::kB : SensorClass::kC;
}

// Architectures on which all fields there are mean the same.
std::optional<SensorClass> of_one_meaning(Architecture architecture) {
  switch (architecture) {
    case Architecture::kFermi2:
      return SensorClass::kG;
    case Architecture::kKepler1:
      return SensorClass::kF;
    case Architecture::kKepler2:
    case Architecture::kMaxwell:
      return SensorClass::kE;
    case Architecture::kPascal:
    case Architecture::kVolta:
      return SensorClass::kD;
    case Architecture::kTuring:
      return SensorClass::kB;
    case Architecture::kAmpereGa100:
      return SensorClass::kA;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<double> SensorMeaning::seen() const {
  if (!period || !window) return std::nullopt;
  return std::min(1.0, *window / *period);
}

std::optional<Seconds> SensorMeaning::delay() const {
  if (!period || !window) return std::nullopt;
  return (*period + *window) / 2;
}

std::optional<SensorClass> sensor_class(Architecture architecture, int driver, PowerField field) {
  if (architecture == Architecture::kHopper) return of_hopper(driver, field);
  if (architecture == Architecture::kAmpere || architecture == Architecture::kAda) return of_ga10x(driver, field);
  if (field == PowerField::kAverage) return std::nullopt;
  if (field == PowerField::kInstant) {
    const bool old = architecture == Architecture::kFermi2 || architecture == Architecture::kKepler1 ||
                     architecture == Architecture::kKepler2;
    if (old || driver < kFirstInstant) return std::nullopt;
  }
  return of_one_meaning(architecture);
}

SensorMeaning meaning(SensorClass sensor) {
  switch (sensor) {
    case SensorClass::kA:
      return {Rise::kInstant, Seconds{0.1}, Seconds{0.025}};
    case SensorClass::kB:
      return {Rise::kInstant, Seconds{0.1}, Seconds{0.1}};
    case SensorClass::kC:
      return {Rise::kRamp, Seconds{0.1}, Seconds{1.0}};
    case SensorClass::kD:
      return {Rise::kInstant, Seconds{0.02}, Seconds{0.01}};
    case SensorClass::kE:
      return {Rise::kCharge, Seconds{0.1}, std::nullopt};
    case SensorClass::kF:
      return {Rise::kCharge, Seconds{0.015}, std::nullopt};
    case SensorClass::kG:
      return {Rise::kEstimated, std::nullopt, std::nullopt};
  }
  return {};
}

char letter(SensorClass sensor) {
  return static_cast<char>('A' + static_cast<int>(sensor));
}

std::string_view text(SensorClass sensor) {
  switch (sensor) {
    case SensorClass::kA:
      return "mean of 25 ms, every 100 ms: a quarter of the time is seen";
    case SensorClass::kB:
      return "mean of 100 ms, every 100 ms";
    case SensorClass::kC:
      return "running mean of 1 s, every 100 ms";
    case SensorClass::kD:
      return "mean of 10 ms, every 20 ms: half of the time is seen";
    case SensorClass::kE:
      return "follows the load as a capacitor charges, every 100 ms";
    case SensorClass::kF:
      return "follows the load as a capacitor charges, every 15 ms";
    case SensorClass::kG:
      return "estimated from activity, not sensed";
  }
  return {};
}

Result<CorrectedPower> correct(const Series& power_w, SensorClass sensor) {
  JC_RETURN_IF_ERROR(check(power_w));
  if (sensor == SensorClass::kG) return unsupported("this device estimates its power; use a meter");
  const SensorMeaning means = meaning(sensor);
  if (means.rise == Rise::kCharge && duration(power_w) < kLongForSlow) {
    return unsupported(fmt::format("this sensor {}; {:.1f} s are too short for it, measure at least {} s", text(sensor),
                                   duration(power_w).value(), kLongForSlow.value()));
  }
  // Without a known window nothing says how late it is.
  CorrectedPower result{relative_time(power_w, means.delay().value_or(Seconds{0})), {}};
  if (means.seen().value_or(1.0) < 1) add(result.warnings, Warning::kPartlySeen);
  if (means.rise == Rise::kRamp) add(result.warnings, Warning::kOneSecondAverage);
  if (means.rise == Rise::kCharge) add(result.warnings, Warning::kSlowSensor);
  return result;
}

}  // namespace joulecast::series
