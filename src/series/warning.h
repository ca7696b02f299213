// SPDX-License-Identifier: Apache-2.0
// Doubts about a figure. They travel with it and are printed with advice; a doubt that makes a figure wrong is an
// error.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace joulecast::series {

enum class Warning : std::uint8_t {
  kFewSamples,
  kShortWindow,
  kGap,
  kLostSamples,
  kCounterWrapped,
  kImplausibleStep,
  kAliasing,
  kSwingHidden,
  kPartlySeen,
  kOneSecondAverage,
  kSlowSensor,
  kEstimatedSensor,
  kSourcesDisagree,
  kPolledTooSlowly,
  kThrottled,
  kNoisy,
  kNoScatter,
  kOvershoot,
  kNotCalibrated,
};
inline constexpr std::array kWarnings{
    Warning::kFewSamples,      Warning::kShortWindow,      Warning::kGap,           Warning::kLostSamples,
    Warning::kCounterWrapped,  Warning::kImplausibleStep,  Warning::kAliasing,      Warning::kSwingHidden,
    Warning::kPartlySeen,      Warning::kOneSecondAverage, Warning::kSlowSensor,    Warning::kEstimatedSensor,
    Warning::kSourcesDisagree, Warning::kPolledTooSlowly,  Warning::kThrottled,     Warning::kNoisy,
    Warning::kNoScatter,       Warning::kOvershoot,        Warning::kNotCalibrated,
};

using Warnings = std::vector<Warning>;

// For programs: "few_samples".
std::string_view warning_name(Warning warning);
// For people: what is in doubt, and what to do about it; a sentence each.
std::string_view warning_text(Warning warning);
std::string_view warning_advice(Warning warning);

bool has(const Warnings& warnings, Warning warning);
// Once each, in the order they came up.
void add(Warnings& warnings, Warning warning);
void add(Warnings& warnings, const Warnings& more);

}  // namespace joulecast::series
