// SPDX-License-Identifier: Apache-2.0
// Why another program ended is most often the last it said.
#pragma once

#include <cstdint>
#include <string>

namespace joulecast::profile {

// The last line of a file that has anything in it, of what lies behind the first `from` bytes; "" where there is none.
std::string last_line(const std::string& path, std::int64_t from = 0);

}  // namespace joulecast::profile
