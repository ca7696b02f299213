// SPDX-License-Identifier: Apache-2.0
#include "dataset/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace joulecast {

void Refusals::add(std::size_t line, const std::string& reason, std::size_t count) {
  rows_ += count;
  const bool full = index_.size() >= kMaxReasons && !index_.contains(reason);
  const std::string& kept = full ? "other reasons" : reason;
  const auto [at, inserted] = index_.try_emplace(kept, reasons_.size());
  if (inserted) reasons_.push_back({kept, 0, line});
  Refusal& refusal = reasons_[at->second];
  refusal.count += count;
  refusal.first_line = std::min(refusal.first_line, line);
}

void Refusals::add(const Refusals& others) {
  for (const Refusal& other : others.reasons_) add(other.first_line, other.reason, other.count);
}

std::vector<Refusal> Refusals::by_frequency() const {
  std::vector<Refusal> out = reasons_;
  std::sort(out.begin(), out.end(), [](const Refusal& a, const Refusal& b) {
    return std::tie(b.count, a.first_line, a.reason) < std::tie(a.count, b.first_line, b.reason);
  });
  return out;
}

std::string refusal_text(const Refusal& refusal) {
  if (refusal.count == 1) return fmt::format("line {}: {}", refusal.first_line, refusal.reason);
  return fmt::format("{} rows, the first in line {}: {}", refusal.count, refusal.first_line, refusal.reason);
}

}  // namespace joulecast
