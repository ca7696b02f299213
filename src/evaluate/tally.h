// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "dataset/measured.h"
#include "evaluate/evaluate.h"

namespace joulecast {

// Collects rows into groups and judges them at the end.
class Tally {
 public:
  void judged(const Circumstances& at, const JudgedRow& row);
  void unmapped(const Circumstances& at, std::string_view variant, std::size_t line, const std::string& reason);
  void set_aside(const Circumstances& at, std::string_view variant = {});

  [[nodiscard]] Evaluation finish() const;

 private:
  struct Column {
    std::vector<double> measured, found, lo, hi;
    void add(const std::optional<JudgedQuantity>& value);
    [[nodiscard]] Judgement judge() const;
  };
  struct Group {
    std::size_t n = 0, unmapped = 0, set_aside = 0;
    Column time, power, energy, memory;
  };
  Group& group(const Circumstances& at, std::string_view variant);

  std::map<std::tuple<std::string, Mode, std::string_view>, Group> groups_;
  Refusals refused_;
};

}  // namespace joulecast
