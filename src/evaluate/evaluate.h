// SPDX-License-Identifier: Apache-2.0
// Judges a predictor pack on measured tables.
//
//   JC_ASSIGN_OR_RETURN(Evaluator evaluator, Evaluator::open(pack_path, catalogue, {.graphs = graphs}));
//   JC_ASSIGN_OR_RETURN(Evaluation e, evaluator.judge("heidelberg_operations.csv", {}));
//   for (const EvaluationGroup& g : e.groups) fmt::print("{} {}: {}\n", g.gpu, name(g.mode), g.time.figures.mape);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/metrics.h"
#include "dataset/refusals.h"
#include "dataset/table.h"
#include "joulecast/gpu.h"
#include "joulecast/predict.h"
#include "joulecast/result.h"
#include "joulecast/workload.h"

namespace joulecast {

// One quantity of one group, predictions against measurements.
struct Judgement {
  ErrorFigures figures;
  std::optional<double> coverage;  // share of measurements inside the interval
};

// Rows of a sweep of clocks or power limits: their highest setting is known, time and power, and the others are
// foretold.
inline constexpr std::string_view kSettingsVariant = "settings";

struct EvaluationGroup {
  std::string gpu;  // as the table writes it
  Mode mode = Mode::kInference;
  // "compiled", "channels-last", or empty: networks as PyTorch runs them by default; kSettingsVariant
  std::string_view variant;
  std::size_t n = 0;         // rows judged
  std::size_t unmapped = 0;  // rows of this GPU and mode that could not be
  // Rows the table's guide says a better run replaced; of settings those that are known or below half of the limit.
  std::size_t set_aside = 0;
  Judgement time, power, energy, memory;
};

struct Evaluation {
  std::string layout;
  // The pack was fitted on a table of this layout, or of that of a judged row: they are not held out.
  bool fitted_on = false;
  std::vector<EvaluationGroup> groups;  // by GPU, then mode, then variant
  std::size_t unread = 0;               // lines that are no row at all, and rows that make no sweep
  Refusals refused;                     // unread lines and unmapped rows, and why

  // Rows judged, of all groups.
  [[nodiscard]] std::size_t judged() const;
};

// A measured value and its prediction.
struct JudgedQuantity {
  double measured = 0, found = 0, lo = 0, hi = 0;
  double spread = 1;  // of an operation: bounds are found * exp(+-factor * spread), with the pack's factor
};

// One row, for those who want more than the figures.
struct JudgedRow {
  std::size_t line = 0;    // in the table
  std::string subject;     // the operation as `train --without` wants it, the model with its image size, or the setting
  std::string_view group;  // the estimator's, of an operation
  std::string gpu;
  Mode mode = Mode::kInference;
  std::optional<Precision> precision = Precision::kFp32;  // absent where the table has another word for it, or none
  std::string_view variant;                               // as of EvaluationGroup
  std::int64_t batch = 0;                                 // of a network
  std::string_view support;
  // Seconds: the bound of an operation, the roofline of a network, of a sweep the time at the known setting.
  double baseline = 0;
  double gpu_busy = 0, host_busy = 0;  // seconds, of a network
  std::string cautions;                // words of dataset/cautions.h, with ',' between
  std::string campaign;                // as the table calls it, where it has several
  std::optional<JudgedQuantity> time, power, energy;
  std::optional<JudgedQuantity> memory;  // bytes at most in the allocator, of a network
  // Of a network, as it was predicted at the GPU's default setting; see EvaluateOptions.
  std::vector<OperationEstimate> operations;
};

struct EvaluateOptions {
  std::function<void(const JudgedRow&)> row = {};
  bool operations = false;  // rows of networks have theirs
  // What reads the table; read_table() where it is not set.
  std::function<Result<Table>(const std::string& table, const TableSink& sink)> read = {};
};

struct EvaluatorOptions {
  std::string graphs = {};  // folder with one graph a model, for tables of networks
  PackOptions use = {};
};

// One pack for any number of tables; the graph of a network is read once for all of them. The catalogue must outlive
// it.
class Evaluator {
 public:
  // Errors: those of the pack's reader.
  static Result<Evaluator> open(const std::string& pack, const Catalogue& catalogue, const EvaluatorOptions& options);
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  ~Evaluator();

  // Errors: those of the table's reader; kInvalidInput for a table of networks without graphs.
  Result<Evaluation> judge(const std::string& table, const EvaluateOptions& options);

 private:
  struct Judges;
  class Judging;
  explicit Evaluator(std::unique_ptr<Judges> judges);
  std::unique_ptr<Judges> judges_;
};

}  // namespace joulecast
