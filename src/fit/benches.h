// SPDX-License-Identifier: Apache-2.0
// On which bench a GPU was measured: which of the models answer for it.
#pragma once

#include <string>
#include <vector>

#include "fit/samples.h"

namespace joulecast {

// By sample of one group: whose models answer for such work on its GPU. Those of modules where enough of them were
// measured, for what runs as modules is what people ask for.
std::vector<Bench> answering_benches(const std::vector<Sample>& samples);

// The keys of the pack's table of GPUs for what was measured enough: "seen/<group>/<gpu id>" and, for work that has an
// arithmetic, "arithmetic/<group>/<arithmetic>/<gpu id>", with "-loops" behind the first word where models of loops
// answer; and "generation/<group>/<major compute capability>" (pack_names.h).
std::vector<std::string> measured_keys(const std::vector<Sample>& samples);

}  // namespace joulecast
