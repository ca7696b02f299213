// SPDX-License-Identifier: Apache-2.0
// What a pack says of itself, for people and for programs.
#pragma once

#include <string>

#include "joulecast/result.h"
#include "predict/pack/pack.h"

namespace joulecast::cli {

// Errors: those of the pack; kInvalidInput for a pack without a report of ours. Reports of older packs say less.
Result<std::string> pack_text(const Pack& pack);
// The report as it is, and the factors of the intervals.
Result<std::string> pack_json(const Pack& pack);
// The held-out figures, a quantity a line.
Result<std::string> pack_csv(const Pack& pack);

}  // namespace joulecast::cli
