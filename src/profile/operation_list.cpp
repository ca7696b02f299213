// SPDX-License-Identifier: Apache-2.0
#include "profile/operation_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/csv.h"
#include "base/mapped_file.h"

namespace joulecast::profile {
namespace {

using Fields = std::vector<std::string_view>;

// Where the columns are; absent ones are past the end of every line.
struct Columns {
  std::size_t op = 0, operands = 0, attributes = 0, mode = 0, precision = 0;
};

std::string_view field(const Fields& fields, std::size_t column) {
  return column < fields.size() ? fields[column] : std::string_view();
}

Result<Columns> columns_of(const Fields& header) {
  const auto place = [&](std::string_view name) {
    const auto at = std::find(header.begin(), header.end(), name);
    return at == header.end() ? kMaxCsvFields : static_cast<std::size_t>(at - header.begin());
  };
  const Columns out{place("operator"), place("operands"), place("attributes"), place("mode"), place("precision")};
  if (out.op == kMaxCsvFields || out.operands == kMaxCsvFields) {
    return invalid("line 1: a list of operations has the columns operator and operands");
  }
  return out;
}

Result<ListedOperation> listed(const Fields& fields, const Columns& columns, std::size_t line) {
  ListedOperation out{{std::string(field(fields, columns.op)), std::string(field(fields, columns.operands)),
                       std::string(field(fields, columns.attributes))},
                      parse_mode(field(fields, columns.mode)),
                      parse_precision(field(fields, columns.precision)),
                      line};
  if (!out.mode && !field(fields, columns.mode).empty()) {
    return invalid(fmt::format("'{}' is no mode", field(fields, columns.mode)));
  }
  if (!out.precision && !field(fields, columns.precision).empty()) {
    return invalid(fmt::format("'{}' is no precision", field(fields, columns.precision)));
  }
  auto graph = parse_operation(out.text);
  if (!graph) return tl::unexpected<Error>(std::move(graph).error());
  return out;
}

}  // namespace

Result<std::vector<ListedOperation>> parse_operation_list(std::string_view csv) {
  CsvReader reader(csv);
  Fields fields;
  JC_ASSIGN_OR_RETURN(const bool any, reader.next(fields));
  if (!any) return invalid("the list is empty");
  JC_ASSIGN_OR_RETURN(const Columns columns, columns_of(fields));
  std::vector<ListedOperation> out;
  std::set<std::tuple<std::string, std::string, std::string, int, int>> seen;
  while (true) {
    JC_ASSIGN_OR_RETURN(const bool more, reader.next(fields));
    if (!more) break;
    if (field(fields, columns.op).empty()) continue;
    auto one = listed(fields, columns, reader.line());
    if (!one) return tl::unexpected<Error>(std::move(one).error().in(fmt::format("line {}", reader.line())));
    const auto number = [](const auto& value) { return value ? static_cast<int>(*value) : -1; };
    if (seen.emplace(one->text.op, one->text.operands, one->text.attributes, number(one->mode), number(one->precision))
            .second) {
      out.push_back(*std::move(one));
    }
  }
  if (out.empty()) return invalid("holds no operations: no row has an operator");
  return out;
}

Result<std::vector<ListedOperation>> read_operation_list(const std::string& path) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  auto out = parse_operation_list(file.text());
  if (!out) return tl::unexpected<Error>(std::move(out).error().in(path));
  return out;
}

}  // namespace joulecast::profile
