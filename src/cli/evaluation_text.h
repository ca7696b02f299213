// SPDX-License-Identifier: Apache-2.0
// Evaluations as people, programs and spreadsheets read them. One table has forms of its own: all of its figures.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "evaluate/evaluate.h"

namespace joulecast::cli {

// What of sweeps of settings nothing is foretold for.
inline constexpr std::string_view kSettingsSetAside = "known settings, and those below half of the default limit";

// Per GPU and mode a table of 80 columns, then why rows were refused.
std::string evaluation_text(const Evaluation& evaluation);
// {"schema":"joulecast.evaluation/1", ...}; `table` is its path.
std::string evaluation_json(const std::string& table, const Evaluation& evaluation);
// One line a quantity of a GPU and mode.
std::string evaluation_csv(const Evaluation& evaluation);

// One of several tables.
struct TableEvaluation {
  std::string table;                     // its path
  std::optional<Evaluation> evaluation;  // absent: it could not be read
  std::string not_judged;                // why nothing of it was judged; empty: something was
};

// A line per GPU and mode of every table, then the tables that could not be judged.
std::string evaluations_text(std::span<const TableEvaluation> tables);
// {"schema":"joulecast.evaluations/1", ...}, each judged table as evaluation_json() has it.
std::string evaluations_json(std::span<const TableEvaluation> tables);
// evaluation_csv() with the table in front.
std::string evaluations_csv(std::span<const TableEvaluation> tables);

}  // namespace joulecast::cli
