// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace joulecast {

// Sentences that differ in nothing but one percentage, as those about each of several runs do, become one with the
// range: "disagree by +7 %" and "disagree by +9 %" are "disagree by +7 to +9 %". In the order of the first ones.
std::vector<std::string> said_once(const std::vector<std::string>& sentences);

}  // namespace joulecast
