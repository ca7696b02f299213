// SPDX-License-Identifier: Apache-2.0
// Readings with times of a wall clock, made into a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/recording.h"

namespace joulecast {

// Readings may come in any order of times and channels. Names and texts become harmless (base/harmless.h).
class Gathering {
 public:
  std::uint32_t channel(Channel channel);
  // `value` in SI units; false for what is too large to be kept. All times are microseconds since 1970 in UTC.
  [[nodiscard]] bool reading(std::uint32_t channel, std::int64_t utc, double value);
  // Absences of one kind and text that follow each other are one record.
  void absent(std::uint32_t channel, std::int64_t utc, Absence absence, std::string_view text);
  void event(std::int64_t utc, EventKind kind, std::string_view name, std::string_view details);
  void note(std::string_view text);
  nlohmann::json& head() { return run_.head; }

  // What was gathered, on a clock that starts with the first of it. Readings of a channel that have the same time are
  // one: the first. What is no reading of a GPU's power is set apart (implausible.h).
  Recording finish() &&;

 private:
  Recording run_;
  std::vector<std::optional<std::size_t>> newest_absence_;  // one entry a channel
};

// What a cell holds where a number should be; absent for anything else. nvidia-smi's words, and Python's.
std::optional<Absence> absence_of_cell(std::string_view cell);

std::string_view trimmed(std::string_view text);

}  // namespace joulecast
