// SPDX-License-Identifier: Apache-2.0
// Comma-separated values (RFC 4180): quoted fields may hold commas, line ends and doubled quotes.
//
//   CsvReader reader(text);
//   while (reader.next(fields)) use(fields[0], reader.line());
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/result.h"

namespace joulecast {

// Longer records and more fields are refused: no table we know comes near, and a quote left open would swallow the
// file.
inline constexpr std::size_t kMaxCsvRecord = std::size_t{1} << 16;
inline constexpr std::size_t kMaxCsvFields = 1024;

// Reads one record after the other. Lines end in LF or CRLF; empty lines are skipped, a byte order mark too.
class CsvReader {
 public:
  // `text` must outlive the reader and the fields it gives.
  explicit CsvReader(std::string_view text);

  // False at the end. Errors: kInvalidInput for a record that is not well formed; reading goes on at the next line.
  // Fields stay valid until the next call.
  Result<bool> next(std::vector<std::string_view>& fields);

  // Where the record of the last next() began; the first line is 1.
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  Result<void> record(std::vector<std::string_view>& fields);
  Result<std::string_view> quoted_field();
  std::string_view plain_field();
  void resume_at_next_line(std::size_t begin);
  [[nodiscard]] bool at_line_end() const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t record_begin_ = 0;
  std::size_t line_ = 0, next_line_ = 1;
  std::deque<std::string> unescaped_;  // fields that are not a piece of the text as they stand
};

// A field of a line (RFC 4180): quoted where it must be.
std::string csv_field(std::string_view text);

// A finite number, or nothing.
std::optional<double> parse_number(std::string_view text);
// An integer, also as "64.0"; nothing beyond +-2^53.
std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace joulecast
