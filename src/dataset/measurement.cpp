// SPDX-License-Identifier: Apache-2.0
#include "dataset/measurement.h"

#include <fmt/format.h>

#include <map>

#include "base/check.h"
#include "base/csv.h"

namespace joulecast {
namespace {

constexpr auto kText = ColumnType::kText;
constexpr auto kInteger = ColumnType::kInteger;
constexpr auto kReal = ColumnType::kReal;
constexpr auto kSubject = ColumnHome::kSubject;
constexpr auto kSetup = ColumnHome::kSetup;
constexpr auto kOrigin = ColumnHome::kOrigin;
constexpr auto kRow = ColumnHome::kRow;

// In the order of Column. `kind` tells what a row's subject is, and yet stands in the row: so rows are counted by kind
// without a look at their subjects, of which there are about as many.
constexpr std::array<ColumnInfo, kColumns> kInfos = {{
    {"kind", kText, kRow},
    {"name", kText, kSubject},
    {"operation_group", kText, kSubject},
    {"operator", kText, kSubject},
    {"operands", kText, kSubject},
    {"attributes", kText, kSubject},
    {"batch", kInteger, kSubject},
    {"image_size", kInteger, kSubject},
    {"channels", kInteger, kSubject},
    {"sequence_length", kInteger, kSubject},
    {"per", kText, kSubject},
    {"details", kText, kSubject},
    {"gpu", kText, kSetup},
    {"gpu_label", kText, kSetup},
    {"gpu_count", kInteger, kSetup},
    {"mig_profile", kText, kSetup},
    {"sm_clock_hz", kReal, kSetup},
    {"memory_clock_hz", kReal, kSetup},
    {"power_limit_w", kReal, kSetup},
    {"mode", kText, kSetup},
    {"precision", kText, kSetup},
    {"runtime", kText, kSetup},
    {"software", kText, kSetup},
    {"optimizer", kText, kSetup},
    {"state", kText, kSetup},
    {"weight_copies", kInteger, kSetup},
    {"power_scope", kText, kSetup},
    {"campaign", kText, kSetup},
    {"split", kText, kSetup},
    {"layout", kText, kOrigin},
    {"file", kText, kOrigin, false},
    {"source", kText, kOrigin},
    {"licence", kText, kOrigin},
    {"protocol", kText, kOrigin},
    {"line", kInteger, kRow, false},
    {"part", kInteger, kRow, false},
    {"upstream", kText, kRow},
    {"kernel", kText, kRow},
    {"is_primary", kInteger, kRow},
    {"cautions", kText, kRow},
    {"time_s", kReal, kRow},
    {"time_std_s", kReal, kRow},
    {"time_se_s", kReal, kRow},
    {"power_w", kReal, kRow},
    {"power_std_w", kReal, kRow},
    {"power_se_w", kReal, kRow},
    {"energy_j", kReal, kRow},
    {"energy_std_j", kReal, kRow},
    {"energy_se_j", kReal, kRow},
    {"memory_bytes", kReal, kRow},
    {"memory_se_bytes", kReal, kRow},
    {"memory_kind", kText, kRow},
    {"memory_relation", kText, kRow},
    {"repeats", kInteger, kRow},
}};

constexpr std::array<Column, kColumns> make_columns() {
  std::array<Column, kColumns> out{};
  for (std::size_t i = 0; i < kColumns; ++i) out[i] = static_cast<Column>(i);
  return out;
}
constexpr std::array<Column, kColumns> kAllColumns = make_columns();

}  // namespace

const ColumnInfo& info(Column column) {
  return kInfos[static_cast<std::size_t>(column)];
}

const std::array<Column, kColumns>& all_columns() {
  return kAllColumns;
}

std::optional<Column> find_column(std::string_view name) {
  static const auto by_name = [] {
    std::map<std::string_view, Column> out;
    for (const Column column : kAllColumns) out.emplace(info(column).name, column);
    return out;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? std::nullopt : std::optional(found->second);
}

const std::string& Measurement::text(Column column) const {
  static const std::string empty;
  const auto* value = std::get_if<std::string>(&cell(column));
  return value == nullptr ? empty : *value;
}

std::optional<std::int64_t> Measurement::integer(Column column) const {
  const auto* value = std::get_if<std::int64_t>(&cell(column));
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<double> Measurement::real(Column column) const {
  const auto* value = std::get_if<double>(&cell(column));
  return value == nullptr ? std::nullopt : std::optional(*value);
}

void Measurement::set_text(Column column, std::string_view value) {
  JC_CHECK(info(column).type == kText, "a text for a column of numbers");
  Cell& cell = cells_[static_cast<std::size_t>(column)];
  if (value.empty()) {
    cell = std::monostate();
  } else {
    cell = std::string(value);
  }
}

void Measurement::set_integer(Column column, std::optional<std::int64_t> value) {
  JC_CHECK(info(column).type == kInteger, "an integer for another column");
  Cell& cell = cells_[static_cast<std::size_t>(column)];
  cell = value ? Cell(*value) : Cell();
}

void Measurement::set_real(Column column, std::optional<double> value) {
  JC_CHECK(info(column).type == kReal, "a real number for another column");
  Cell& cell = cells_[static_cast<std::size_t>(column)];
  cell = value ? Cell(*value) : Cell();
}

Result<void> Measurement::parse(Column column, std::string_view value) {
  const auto complain = [&](std::string_view what) {
    return invalid(fmt::format("column '{}': '{}' {}", info(column).name, value.substr(0, 80), what));
  };
  if (value.size() > kMaxCellText) return complain(fmt::format("is longer than {} bytes", kMaxCellText));
  if (value.empty()) {
    cells_[static_cast<std::size_t>(column)] = std::monostate();
    return {};
  }
  switch (info(column).type) {
    case kText:
      set_text(column, value);
      return {};
    case kInteger: {
      const auto number = parse_integer(value);
      if (!number) return complain("is not an integer");
      set_integer(column, number);
      return {};
    }
    case kReal: {
      const auto number = parse_number(value);
      if (!number) return complain("is not a number");
      set_real(column, number);
      return {};
    }
  }
  return {};
}

std::string cell_text(const Measurement::Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *integer);
  // The shortest digits that read back as the same double.
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  return {};
}

}  // namespace joulecast
