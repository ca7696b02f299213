// SPDX-License-Identifier: Apache-2.0
// Operations that somebody wrote down, or that were measured elsewhere: what to measure here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/operation_text.h"
#include "joulecast/result.h"
#include "joulecast/workload.h"

namespace joulecast::profile {

struct ListedOperation {
  OperationText text;
  std::optional<Mode> mode;  // absent where the list does not say
  std::optional<Precision> precision;
  std::size_t line = 0;
};

// A table in CSV with the columns `operator`, `operands` and, where wanted, `attributes`, `mode` and `precision`, as
// docs/formats/measurements.md has them; its other columns, times among them, do not matter, and rows without an
// operator (networks) are passed over. Each operation once. Errors: kInvalidInput, with the line; for a table without
// any, too.
Result<std::vector<ListedOperation>> parse_operation_list(std::string_view csv);
// Errors: those of MappedFile::open() too, all with the path.
Result<std::vector<ListedOperation>> read_operation_list(const std::string& path);

}  // namespace joulecast::profile
