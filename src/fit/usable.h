// SPDX-License-Identifier: Apache-2.0
// Which rows that anybody measured say something of a GPU at its default clocks, whole and awake.
#pragma once

#include "dataset/cautions.h"
#include "dataset/measured.h"
#include "joulecast/result.h"

namespace joulecast {

// Errors: unsupported, with the reason, where nothing is to be learnt from the row's time: a locked clock, a slice of
// the GPU, the low-power state, a better run that stands for it, or a caution that spoils times.
Result<void> check_usable(const Circumstances& at, const Provenance& from);

// Whether a caution of the row spoils its power.
bool power_is_spoilt(const Provenance& from);

}  // namespace joulecast
