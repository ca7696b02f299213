// SPDX-License-Identifier: Apache-2.0
#include "analysis/event_reasons.h"

#include <array>

namespace joulecast {

std::span<const EventReason> slowing_reasons() {
  static constexpr std::array kReasons{
      EventReason{0x4, "power limit"},
      EventReason{0x8, "hardware slowdown"},
      EventReason{0x10, "sync boost"},
      EventReason{0x20, "thermal slowdown"},
      EventReason{0x40, "hardware thermal slowdown"},
      EventReason{0x80, "power brake"},
      EventReason{0x100, "display clock"},
  };
  return kReasons;
}

std::string reasons_text(std::uint64_t bits) {
  std::string out;
  for (const EventReason& reason : slowing_reasons()) {
    if ((bits & reason.bit) == 0) continue;
    if (!out.empty()) out += ", ";
    out += reason.text;
  }
  return out;
}

}  // namespace joulecast
