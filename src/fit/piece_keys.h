// SPDX-License-Identifier: Apache-2.0
// What the pieces of a training depend on: a checkpoint is only good for the same.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fit/fit.h"
#include "fit/samples.h"
#include "predict/settings/sweep.h"

namespace joulecast {

// Of the program, the group's rows as the models see them, and `how`: the options that change what is fitted.
std::uint64_t key_of(Group group, const std::vector<Sample>& samples, std::string_view how);
std::uint64_t key_of(const settings::SweepSet& set, std::string_view how);

}  // namespace joulecast
