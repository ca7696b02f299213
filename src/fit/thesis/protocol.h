// SPDX-License-Identifier: Apache-2.0
// The thesis' evaluation on measurements at hand: its features, raw targets and three estimators, judged its way and by
// operations left out, and there beside ours.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dataset/metrics.h"
#include "fit/fit.h"
#include "fit/thesis/published.h"

namespace joulecast {

struct ThesisOptions {
  std::vector<std::string> tables, layouts;  // as TrainOptions has them
  std::vector<Method> methods;
};

// R2 as the thesis gives it.
struct FoldScore {
  double mean = 0, deviation = 0;  // over the folds
  double test = 0;                 // of a fifth of the rows
};

// Time, power and their product.
struct Quantities {
  ErrorFigures time, power, energy;
};

struct ThesisScores {
  std::optional<std::pair<FoldScore, FoldScore>> rows;  // time, power; only of the thesis' three
  Quantities operations;                                // pooled over folds of operations
};

struct ThesisTable {
  const PublishedTable* published = nullptr;
  std::size_t rows = 0, operations = 0;  // those there are
  std::size_t judged = 0;                // rows of the comparison by operations: those that we would learn from
  std::map<Method, ThesisScores> scores;
};

struct ThesisResult {
  std::vector<ThesisTable> tables;  // one a table of the thesis that has rows here
  Refusals refused;
};

// Errors: those of read_rows(); kInvalidInput for tables without a row of any of the thesis' four.
Result<ThesisResult> run_thesis_protocol(const ThesisOptions& options, const Progress& progress);

// 80 columns.
std::string thesis_text(const ThesisResult& result);
// Schema joulecast.thesis-tables/1.
std::string thesis_json(const ThesisResult& result);

// The program: quiet|progress text|json ESTIMATOR|all [--layout NAME]... TABLE...
int thesis_main(const std::vector<std::string>& words);

}  // namespace joulecast
