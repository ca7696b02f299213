// SPDX-License-Identifier: Apache-2.0
// Predictions as people, programs and spreadsheets read them.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/json.h"
#include "joulecast/predict.h"

namespace joulecast::cli {

// Collects predictions and prints them all at once.
class PredictionReport {
 public:
  struct Options {
    std::size_t top = 0;     // operations shown of each prediction; 0: none
    bool breakdown = false;  // all of them
    bool settings = false;   // the table shows clock and power limit instead of memory and support
  };
  PredictionReport(std::string model, Options options) : model_(std::move(model)), options_(options) {}

  void add(const Workload& load, Prediction prediction);
  // A GPU that could not be predicted for, and why: each reason once.
  void leave_out(std::string why) {
    if (std::find(left_out_.begin(), left_out_.end(), why) == left_out_.end()) left_out_.push_back(std::move(why));
  }
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

  // {"schema":"joulecast.prediction/1", ...}
  [[nodiscard]] Json json() const;
  // One line a prediction, units in the header.
  [[nodiscard]] std::string csv() const;
  // A table of 80 columns, then notes. Requires: not empty.
  [[nodiscard]] std::string text() const;
  // What text() ends with, each once, for forms that have no place for it.
  [[nodiscard]] std::set<std::string> notes() const;

 private:
  // What of the workload is printed beside a prediction.
  struct Entry {
    Prediction prediction;
    std::int64_t batch;
    Mode mode;
    Runtime runtime;
    Layout layout;
    std::string_view optimizer;  // empty in inference
    double flops, bytes;
    std::int64_t parameters;
    std::vector<UnknownOperator> unknown;
    std::vector<std::string> notes;
  };
  [[nodiscard]] Json entry_json(const Entry& entry) const;
  [[nodiscard]] Json operations_json(const Entry& entry) const;
  [[nodiscard]] std::string operations_text(const Entry& entry) const;
  [[nodiscard]] std::string default_table() const;
  [[nodiscard]] std::string settings_table() const;
  [[nodiscard]] std::size_t shown(const Entry& entry) const;

  std::string model_;
  Options options_;
  std::vector<Entry> entries_;
  std::vector<std::string> left_out_;
};

}  // namespace joulecast::cli
