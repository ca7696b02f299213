// SPDX-License-Identifier: Apache-2.0
#include "fit/usable.h"

#include <fmt/format.h>

namespace joulecast {
namespace {

bool spoils_time(const Caution& caution) {
  return caution.spoils == Spoils::kTime || caution.spoils == Spoils::kTimeAndPower || caution.spoils == Spoils::kAll;
}

bool spoils_power(const Caution& caution) {
  return caution.spoils == Spoils::kPower || caution.spoils == Spoils::kTimeAndPower || caution.spoils == Spoils::kAll;
}

// The first caution of the row for which that holds, or nullptr.
const Caution* caution_that(bool (*spoils)(const Caution&), const Provenance& from) {
  for (const Caution& caution : cautions()) {
    if (spoils(caution) && has_caution(from.anomaly, caution.word)) return &caution;
  }
  return nullptr;
}

}  // namespace

Result<void> check_usable(const Circumstances& at, const Provenance& from) {
  if (at.low_power) return unsupported("low-power state");
  if (at.sm_clock) return unsupported("at a locked clock");
  if (at.memory_clock) return unsupported("at a locked memory clock");
  if (!at.mig_profile.empty()) return unsupported("on a slice of the GPU");
  if (!from.primary) return unsupported("a better run stands for it");
  if (const Caution* caution = caution_that(spoils_time, from); caution != nullptr)
    return unsupported(fmt::format("{}: {}", caution->word, caution->meaning));
  return {};
}

bool power_is_spoilt(const Provenance& from) {
  return caution_that(spoils_power, from) != nullptr;
}

}  // namespace joulecast
