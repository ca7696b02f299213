// SPDX-License-Identifier: Apache-2.0
// The line protocol of docs/formats/runner.md: words with spaces between, `key=value` after the first; in values space,
// '%' and control characters are written %XX.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace joulecast::runner {

// What the main program is told: a case that this runner cannot do, or a line that makes no sense.
class Refusal : public std::runtime_error {
 public:
  Refusal(std::string kind, const std::string& text) : std::runtime_error(text), kind_(std::move(kind)) {}
  [[nodiscard]] const std::string& kind() const { return kind_; }

 private:
  std::string kind_;  // "unsupported", "protocol"
};

std::vector<std::string_view> split(std::string_view text, char separator);
std::string escaped(std::string_view value);
std::string unescaped(std::string_view value);

// The words after the first of a line. Throws Refusal for values that are not what is asked for.
class Fields {
 public:
  explicit Fields(const std::vector<std::string_view>& words);

  [[nodiscard]] bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  [[nodiscard]] std::string text(std::string_view key, std::string_view absent = {}) const;
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t absent = 0) const;
  [[nodiscard]] double real(std::string_view key, double absent = 0.0) const;
  [[nodiscard]] bool flag(std::string_view key) const { return integer(key) != 0; }
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key) const;  // "1,2,3"; empty where absent

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

std::int64_t to_integer(std::string_view text);
double to_real(std::string_view text);

}  // namespace joulecast::runner
