// SPDX-License-Identifier: Apache-2.0
// What a training says while it runs.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace joulecast {

using Progress = std::function<void(const std::string&)>;

// Says how far the work is and how long the rest will take, a line every few seconds at most.
class Pace {
 public:
  using Now = std::function<double()>;  // seconds from any moment on

  // `total`: the cost of all work, in any unit.
  Pace(Progress say, double total, Now now);
  Pace(Progress say, double total);

  // Work that somebody did before: it costs no time now.
  void skip(double cost) { total_ -= cost; }
  void done(double cost, std::string_view what);

 private:
  Progress say_;
  Now now_;
  double total_, done_ = 0.0;
  double begin_, said_;
};

// "0:07", "12:34", "1:02:03"
std::string clock_text(double seconds);

}  // namespace joulecast
