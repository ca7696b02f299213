// SPDX-License-Identifier: Apache-2.0
// Who measures which repetition of a sweep's folder: machines share it, and a job that Slurm took for lost may still
// run.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "joulecast/result.h"

namespace joulecast {

// In the folder of a sweep, where it stays.
inline constexpr const char* kSweepLockFile = "/sweep.lock";

// Held until it is destroyed or its process dies, on any machine that sees the folder; file systems without locks
// give every claim.
class SweepClaim {
 public:
  // Errors: kDevice where another process has one of them, kIo.
  static Result<SweepClaim> take(const std::string& folder, const std::set<std::size_t>& repetitions);

  SweepClaim(SweepClaim&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  SweepClaim& operator=(SweepClaim&& other) noexcept;
  SweepClaim(const SweepClaim&) = delete;
  SweepClaim& operator=(const SweepClaim&) = delete;
  ~SweepClaim();

 private:
  explicit SweepClaim(int file) : file_(file) {}

  int file_;
};

}  // namespace joulecast
