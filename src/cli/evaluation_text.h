// SPDX-License-Identifier: Apache-2.0
// An evaluation as people, programs and spreadsheets read it.
#pragma once

#include <string>

#include "evaluate/evaluate.h"

namespace joulecast::cli {

// Per GPU and mode a table of 80 columns, then why rows were refused.
std::string evaluation_text(const Evaluation& evaluation);
// {"schema":"joulecast.evaluation/1", ...}; `table` is its path.
std::string evaluation_json(const std::string& table, const Evaluation& evaluation);
// One line a quantity of a GPU and mode.
std::string evaluation_csv(const Evaluation& evaluation);

}  // namespace joulecast::cli
