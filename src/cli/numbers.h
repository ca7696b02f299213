// SPDX-License-Identifier: Apache-2.0
// Numbers for people: three digits and a prefix. Powers of ten throughout (GB = 1e9 bytes).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace joulecast::cli {

// "4.09 G" + unit -> "4.09 GFLOP"; "25.6 M" without one; whole numbers below 1000 as they are.
std::string with_prefix(double value, std::string_view unit);
// "12.3 ms (9.10-15.0)": the bounds in the value's prefix.
std::string range_with_prefix(double value, double lo, double hi, std::string_view unit);
// "12.3 %"; "<0.1 %" for what would read as nothing; "-" where the whole is nothing.
std::string share(double part, double whole);
// The shortest text that a figure of a data sheet needs: "19.5", "1555", "0.37".
std::string plain(double value);
// "1 run", "2 runs".
std::string counted(std::size_t count, std::string_view noun);
// "45 s", "12 min", "1.5 h": how long something will take.
std::string duration_text(double seconds);

}  // namespace joulecast::cli
