// SPDX-License-Identifier: Apache-2.0
// Rows that cannot be used: why, how many of a kind, and where the first of them stands.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace joulecast {

struct Refusal {
  std::string reason;
  std::size_t count = 0;
  std::size_t first_line = 0;
};

// Its size does not grow with the table: beyond kMaxReasons different reasons, rows are counted as "other reasons".
class Refusals {
 public:
  static constexpr std::size_t kMaxReasons = 1000;

  void add(std::size_t line, const std::string& reason, std::size_t count = 1);
  void add(const Refusals& others);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  // In the order in which they were first met.
  [[nodiscard]] const std::vector<Refusal>& reasons() const { return reasons_; }
  // The most frequent first, the earlier line first among equals.
  [[nodiscard]] std::vector<Refusal> by_frequency() const;

 private:
  std::vector<Refusal> reasons_;
  std::map<std::string, std::size_t> index_;
  std::size_t rows_ = 0;
};

// "3 rows, the first in line 7: matrix products in nvfp4"; "line 7: 2 fields for 4 columns" for a single one.
std::string refusal_text(const Refusal& refusal);

}  // namespace joulecast
