// SPDX-License-Identifier: Apache-2.0
// A recording to export: everything but its readings in memory, these told as often as they are asked for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/mapped_file.h"
#include "joulecast/result.h"
#include "recording/recording.h"

namespace joulecast {

class RunSource {
 public:
  using Take = std::function<void(std::uint32_t channel, std::span<const Reading>)>;

  // A .jcrun, of which no more than a frame is in memory. Errors: the reader's.
  static Result<RunSource> open(const std::string& path);
  // The same of bytes, which must live as long.
  static Result<RunSource> parse(std::string_view bytes);
  // What is in memory.
  static RunSource of(Recording recording);

  // Without readings: Recording::readings is empty.
  [[nodiscard]] const Recording& outline() const { return outline_; }
  // One entry a channel: how many readings each() tells of it.
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const { return counts_; }
  [[nodiscard]] Recording::Span span() const { return span_; }
  // All readings, times of a channel rising; channels of a file in turns.
  void each(const Take& take) const;

 private:
  Recording outline_;
  std::vector<std::uint64_t> counts_;
  Recording::Span span_;
  std::vector<std::vector<Reading>> readings_;  // of a recording in memory
  std::string_view bytes_;                      // else
  std::shared_ptr<const MappedFile> file_;      // that they are of, if it is ours
};

}  // namespace joulecast
