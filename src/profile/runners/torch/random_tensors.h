// SPDX-License-Identifier: Apache-2.0
// What a program's inputs and weights hold: numbers that keep activations near one, and indices that are in range.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "program.h"

namespace joulecast::runner {

struct Use {
  bool statistic = false;             // mean or variance of a batch norm: no gradient
  bool variance = false;              // must not be negative
  std::optional<std::int64_t> below;  // an index into that many rows
};
std::vector<Use> uses_of_values(const Program& program);

at::Tensor random_tensor(const Value& value, const Use& use, const at::Device& device);

}  // namespace joulecast::runner
