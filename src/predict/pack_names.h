// SPDX-License-Identifier: Apache-2.0
// The sections of a predictor pack, said once for those who write and those who read it. docs/formats/pack.md
#pragma once

#include <string>
#include <string_view>

namespace joulecast::pack_names {

inline constexpr std::string_view kCompose = "compose";
inline constexpr std::string_view kGpus = "gpus";
inline constexpr std::string_view kTrust = "trust";
inline constexpr std::string_view kRanges = "ranges";
inline constexpr std::string_view kIntervals = "intervals";
inline constexpr std::string_view kSettings = "settings";
inline constexpr std::string_view kCorrections = "corrections";  // where a pack was calibrated
inline constexpr std::string_view kCorrected = "corrected";      // and the text that says by what
inline constexpr std::string_view kPowerLaws = "power-laws";
// In that table: how much of the power between waiting and limit a busy part ("compute", "memory", "gpu") draws.
inline std::string power_law(std::string_view group, std::string_view part) {
  return std::string(group) + "/" + std::string(part);
}
inline constexpr std::string_view kReport = "report";
// The forest that says how far off the time, power or energy of a group's operations is.
inline std::string spread(std::string_view what, std::string_view group) {
  return "spread-" + std::string(what) + "/" + std::string(group);
}

// In the table of GPUs: that the group was measured on a GPU of that major compute capability.
inline std::string generation(std::string_view group, double capability) {
  return "generation/" + std::string(group) + "/" + std::to_string(static_cast<int>(capability));
}

}  // namespace joulecast::pack_names
