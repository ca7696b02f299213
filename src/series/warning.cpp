// SPDX-License-Identifier: Apache-2.0
#include "series/warning.h"

#include <algorithm>

namespace joulecast::series {
namespace {

struct Words {
  std::string_view name, text, advice;
};

Words words(Warning warning) {
  switch (warning) {
    case Warning::kFewSamples:
      return {"few_samples", "There are few samples.", "Measure longer or repeat more often."};
    case Warning::kShortWindow:
      return {"short_window", "The window is short against the sensor's update period.",
              "Measure for at least 20 update periods, or repeat the work and divide."};
    case Warning::kGap:
      return {"gap", "There are gaps between readings.", "See the longest gap; what happened in it is a guess."};
    case Warning::kLostSamples:
      return {"lost_samples", "Samples were lost.", "Drain the sensor's buffer more often, or load the host less."};
    case Warning::kCounterWrapped:
      return {"counter_wrapped", "The energy counter wrapped.",
              "It was counted on; compare with the integral of power."};
    case Warning::kImplausibleStep:
      return {"implausible_step", "The energy counter rose faster than the device can draw power.",
              "Compare with the integral of power; the counter may belong to more than this device."};
    case Warning::kAliasing:
      return {"aliasing",
              "The sensor sees part of the time and the load repeats in step with it: the reading is worthless.",
              "Use the energy counter or a meter, or insert delays so that the load's phases spread."};
    case Warning::kSwingHidden:
      return {"swing_hidden", "The load swings faster than the sensor's window: means hold, single readings do not.",
              "Read only means over many periods of the load; peaks are higher than shown."};
    case Warning::kPartlySeen:
      return {"partly_seen", "The sensor sees only part of the time.",
              "Repeat the work at least 32 times or for 5 s, with delays of one sensor window between groups."};
    case Warning::kOneSecondAverage:
      return {"one_second_average", "Readings are means of the last second.",
              "Leave out 1 s after each change of load, or read the instantaneous power field."};
    case Warning::kSlowSensor:
      return {"slow_sensor", "Readings follow the load as a capacitor charges.",
              "Use windows much longer than a second, and none that begins or ends at a change of load."};
    case Warning::kEstimatedSensor:
      return {"estimated_sensor", "Power is estimated from activity, not sensed.", "Use a meter."};
    case Warning::kSourcesDisagree:
      return {"sources_disagree", "Two sources disagree.", "Find out which one sees all of the device's power."};
    case Warning::kPolledTooSlowly:
      return {"polled_too_slowly", "The sensor was polled too slowly to see each update.",
              "Poll at least twice an update period."};
    case Warning::kThrottled:
      return {"throttled", "The device was held back by its power limit or temperature.",
              "Cool it, or report the limit with the figure."};
    case Warning::kNoisy:
      return {"noisy", "Values scatter widely.",
              "Repeat on a quiet machine, and look for other programs on the device."};
    case Warning::kNoScatter:
      return {"no_scatter", "All values are equal, so the scatter says nothing about the error.",
              "Check that the repetitions are separate measurements."};
    case Warning::kOvershoot:
      return {"overshoot", "The cubic goes beyond the readings around it.", "Resample linearly."};
    case Warning::kNotCalibrated:
      return {"not_calibrated", "The card has no calibration line.",
              "Expect up to 6 % off on common cards; calibrate against a meter."};
  }
  return {};
}

}  // namespace

std::string_view warning_name(Warning warning) {
  return words(warning).name;
}
std::string_view warning_text(Warning warning) {
  return words(warning).text;
}
std::string_view warning_advice(Warning warning) {
  return words(warning).advice;
}

bool has(const Warnings& warnings, Warning warning) {
  return std::find(warnings.begin(), warnings.end(), warning) != warnings.end();
}

void add(Warnings& warnings, Warning warning) {
  if (!has(warnings, warning)) warnings.push_back(warning);
}

void add(Warnings& warnings, const Warnings& more) {
  for (const Warning warning : more) add(warnings, warning);
}

}  // namespace joulecast::series
