// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dataset/measured.h"
#include "evaluate/evaluate.h"

namespace joulecast {

// A prediction with its interval, beside what was measured.
struct JudgedValue {
  double measured = 0, found = 0, lo = 0, hi = 0;
};

// Collects rows into groups and judges them at the end.
class Tally {
 public:
  void judged(const Circumstances& at, const std::optional<JudgedValue>& time, const std::optional<JudgedValue>& power,
              const std::optional<JudgedValue>& energy);
  void unmapped(const Circumstances& at, const std::string& reason);
  void set_aside(const Circumstances& at);

  [[nodiscard]] Evaluation finish() const;

 private:
  struct Column {
    std::vector<double> measured, found, lo, hi;
    void add(const std::optional<JudgedValue>& value);
    [[nodiscard]] Judgement judge() const;
  };
  struct Group {
    std::size_t n = 0, unmapped = 0, set_aside = 0;
    Column time, power, energy;
  };
  Group& group(const Circumstances& at);

  std::map<std::pair<std::string, Mode>, Group> groups_;
  std::map<std::string, std::size_t> reasons_;
};

}  // namespace joulecast
