// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace joulecast {

// "±0.3 %": a standard error beside its value, in two digits, at most two of them behind the point; "<0.01 %", ">100
// %". Empty for a value that is not positive.
std::string relative_error(double error, double value);

}  // namespace joulecast
