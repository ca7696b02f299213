// SPDX-License-Identifier: Apache-2.0
// Factors of the intervals around single operations, from errors of rows that were left out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fit/fit.h"
#include "fit/samples.h"
#include "fit/spread.h"

namespace joulecast {

using Numbers = std::map<std::string, double>;

// "operation/<group>/seen/time|power|energy", in units of the spread. Those that `factors` does not have yet.
void add_seen_factors(Group group, const std::vector<Sample>& samples, const HeldOut& held, const HeldOutSpread& spread,
                      Numbers& factors);

// Where `factors` has none of the group for GPUs left out: ".../relative/..." of samples that have a relative, another
// GPU of their major compute capability, and ".../unseen-gpu/..." of the others, or of all where it would be of none.
void add_unseen_factors(Group group, const std::vector<Sample>& samples, const HeldOut& held, Numbers& factors);

// Of FP4 one GPU was measured, whose rows its law was made for: with it left out nothing is. Other GPUs get the factors
// of tensor products, which must be there.
constexpr bool nothing_left_out(Group group) {
  return group == Group::kGemmFp4;
}
void borrow_unseen_factors(Group group, Numbers& factors);

// By sample: the factors that its GPU gets where it is left out.
HeldOutSpread unseen_factors_of(Group group, const std::vector<Sample>& samples, const Numbers& factors);

}  // namespace joulecast
