// SPDX-License-Identifier: Apache-2.0
#include "base/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace joulecast {

CsvReader::CsvReader(std::string_view text) : text_(text) {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
}

bool CsvReader::at_line_end() const {
  return at_ >= text_.size() || text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n";
}

Result<bool> CsvReader::next(std::vector<std::string_view>& fields) {
  fields.clear();
  unescaped_.clear();
  while (at_ < text_.size() && at_line_end()) {
    at_ += text_[at_] == '\n' ? 1 : 2;
    ++next_line_;
  }
  line_ = next_line_;
  if (at_ >= text_.size()) return false;
  record_begin_ = at_;
  if (auto ok = record(fields); !ok) {
    fields.clear();
    resume_at_next_line(record_begin_);
    return tl::unexpected(std::move(ok).error());
  }
  // A quoted field may have spanned lines.
  const auto record = text_.substr(record_begin_, at_ - record_begin_);
  next_line_ += static_cast<std::size_t>(std::count(record.begin(), record.end(), '\n'));
  return true;
}

Result<void> CsvReader::record(std::vector<std::string_view>& fields) {
  while (true) {
    if (fields.size() == kMaxCsvFields) return invalid(fmt::format("more than {} fields", kMaxCsvFields));
    if (at_ < text_.size() && text_[at_] == '"') {
      JC_ASSIGN_OR_RETURN(const std::string_view field, quoted_field());
      fields.push_back(field);
    } else {
      fields.push_back(plain_field());
    }
    if (at_ - record_begin_ > kMaxCsvRecord) return invalid(fmt::format("longer than {} bytes", kMaxCsvRecord));
    if (at_line_end()) return {};
    if (text_[at_] != ',') return invalid(fmt::format("field {}: text after the closing quote", fields.size()));
    ++at_;
  }
}

std::string_view CsvReader::plain_field() {
  const std::size_t begin = at_;
  at_ = std::min(text_.find_first_of(",\n", at_), text_.size());
  std::size_t end = at_;
  if (end > begin && end < text_.size() && text_[end] == '\n' && text_[end - 1] == '\r') {
    --end;
    --at_;
  }
  return text_.substr(begin, end - begin);
}

Result<std::string_view> CsvReader::quoted_field() {
  const std::size_t begin = ++at_;
  std::string* copy = nullptr;
  std::size_t piece = begin;
  while (true) {
    const auto window = text_.substr(at_, kMaxCsvRecord - std::min(at_ - record_begin_, kMaxCsvRecord));
    const std::size_t quote = window.find('"');
    if (quote == std::string_view::npos) return invalid("a quote is left open");
    at_ += quote;
    if (text_.substr(at_, 2) != "\"\"") break;
    if (copy == nullptr) copy = &unescaped_.emplace_back();
    *copy += text_.substr(piece, at_ + 1 - piece);
    at_ += 2;
    piece = at_;
  }
  const std::string_view rest = text_.substr(piece, at_ - piece);
  ++at_;
  return copy == nullptr ? rest : std::string_view(*copy += rest);
}

void CsvReader::resume_at_next_line(std::size_t begin) {
  at_ = std::min(text_.find('\n', begin), text_.size());
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  return out + "\"";
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const auto value = parse_number(text);
  if (!value || std::abs(*value) > 9007199254740992.0 || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

}  // namespace joulecast
