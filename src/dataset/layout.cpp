// SPDX-License-Identifier: Apache-2.0
#include "dataset/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataset/cautions.h"
#include "dataset/details.h"

namespace joulecast {

std::string_view Row::text(std::string_view column) const {
  const auto found = header_.find(column);
  return found == header_.end() ? std::string_view() : fields_[found->second];
}

namespace {

// A cell may be as long as a line.
std::string shown(std::string_view cell) {
  constexpr std::size_t kShown = 40;
  if (cell.size() <= kShown) return std::string(cell);
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(cell[end]) & 0xC0U) == 0x80U) --end;  // not within a letter of UTF-8
  return fmt::format("{}...", cell.substr(0, end));
}

}  // namespace

void Row::fail(std::string_view column, std::string_view what) {
  if (complaint_.empty()) complaint_ = fmt::format("column '{}': '{}' {}", column, shown(text(column)), what);
}

std::int64_t Row::integer(std::string_view column) {
  const auto value = parse_integer(text(column));
  if (!value) fail(column, "is not an integer");
  return value.value_or(0);
}

std::int64_t Row::extent(std::string_view column) {
  const std::int64_t value = integer(column);
  if (value < 1 || value > kMaxElements) fail(column, "is not a possible extent");
  return std::clamp<std::int64_t>(value, 1, kMaxElements);
}

double Row::number(std::string_view column) {
  const auto value = parse_number(text(column));
  if (!value) fail(column, "is not a number");
  return value.value_or(0.0);
}

std::optional<std::int64_t> Row::optional_integer(std::string_view column) {
  return text(column).empty() ? std::nullopt : std::optional(integer(column));
}

std::optional<double> Row::optional_number(std::string_view column) {
  return text(column).empty() ? std::nullopt : std::optional(number(column));
}

std::optional<double> Row::optional_number_between(std::string_view column, const PossibleRange& range) {
  const auto value = optional_number(column);
  if (value && (*value < range.least || *value > range.most))
    fail(column, fmt::format("is not between {:g} and {:g} {}", range.least, range.most, range.unit));
  return value;
}

bool Row::flag(std::string_view column) {
  const std::string_view value = text(column);
  if (value != "0" && value != "1") fail(column, "is neither 0 nor 1");
  return value == "1";
}

Result<void> Row::status() const {
  return complaint_.empty() ? Result<void>() : invalid(complaint_);
}

void RowSink::set_line(std::size_t line) {
  line_ = line;
  part_ = 0;
}

void RowSink::place(Provenance& from) {
  from.table = layout_;
  from.file = file_;
  from.line = line_;
  from.part = part_++;
  from.origin = origin_;
}

void RowSink::add(MeasuredOperation row) {
  ++rows_;
  place(row.from);
  if (sink_.operation) sink_.operation(std::move(row));
}

void RowSink::add(MeasuredNetwork row) {
  ++rows_;
  place(row.from);
  if (sink_.network) sink_.network(std::move(row));
}

void RowSink::add(MeasuredOther row) {
  place(row.from);
  if (!reason_.empty()) row.reason = reason_;
  if (sink_.other) {
    ++rows_;
    sink_.other(std::move(row));
  } else {
    unmapped(ErrorCode::kUnsupported, std::move(row.reason));
  }
}

void RowSink::unmapped(ErrorCode code, std::string reason) {
  ++rows_;
  if (sink_.unmapped) sink_.unmapped({line_, std::move(reason), code});
}

Result<void> RowSink::add(const Measurement& row) {
  ++rows_;
  return deliver(row, pool_, sink_);
}

MeasuredOther other_row(Row& row, std::string_view gpu_column, bool network, std::string name) {
  MeasuredOther out;
  out.network = network;
  out.model = std::move(name);
  out.at.gpu = row.text(gpu_column);
  if (out.at.gpu.empty()) {
    out.at.gpu = "not stated";
    add_caution(out.from.anomaly, "gpu-not-stated");
  }
  out.reason = network ? "not one step of a whole network in words of ours" : "an operation that is none of ours";
  return out;
}

void add_details(MeasuredOther& out, const Row& row, std::initializer_list<std::string_view> columns) {
  for (const std::string_view column : columns) add_detail(out.details, column, row.text(column));
}

std::vector<GpuColumn> gpu_columns(const CsvHeader& header) {
  std::vector<GpuColumn> columns;
  for (const auto& [name, at] : header) {
    if (name.size() > 2 && name.ends_with("_s")) columns.push_back({name, name.substr(0, name.size() - 2)});
  }
  std::sort(columns.begin(), columns.end(),
            [&](const GpuColumn& a, const GpuColumn& b) { return header.at(a.column) < header.at(b.column); });
  return columns;
}

Result<Shape> parse_shape(std::string_view text) {
  Shape shape;
  std::string_view rest = text;
  while (true) {
    const std::size_t end = std::min(rest.find('x'), rest.size());
    const auto extent = parse_integer(rest.substr(0, end));
    if (!extent || *extent < 1 || shape.full()) return invalid(fmt::format("'{}' is not a shape", text));
    shape.push_back(*extent);
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (!checked_elements(shape)) return invalid(fmt::format("'{}' has too many elements", text));
  return shape;
}

}  // namespace joulecast
