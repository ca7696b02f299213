// SPDX-License-Identifier: Apache-2.0
#include "dataset/measurement_csv.h"

#include <fmt/format.h>

#include "base/csv.h"

namespace joulecast {

std::string csv_header() {
  std::string out;
  for (const Column column : all_columns()) out += fmt::format("{}{}", out.empty() ? "" : ",", info(column).name);
  return out + "\r\n";
}

std::string csv_line(const Measurement& row) {
  std::string out;
  for (const Column column : all_columns()) {
    if (column != all_columns().front()) out += ',';
    out += csv_field(cell_text(row.cell(column)));
  }
  return out + "\r\n";
}

}  // namespace joulecast
