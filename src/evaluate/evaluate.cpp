// SPDX-License-Identifier: Apache-2.0
#include "evaluate/evaluate.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "evaluate/judges.h"
#include "evaluate/sweep_judge.h"
#include "predict/layer_graph.h"
#include "predict/settings/sweep.h"

namespace joulecast {

namespace {

// Energy is time x power of the same row: the energy column of some logs is taken over another window
// (docs/formats/tables.md).
std::optional<double> energy_of(const Readings& readings) {
  if (readings.time && readings.power) return readings.time->value() * readings.power->value();
  if (readings.energy) return readings.energy->value();
  return std::nullopt;
}

// Figures are taken over all rows: a single infinity would void them.
Result<Estimate> finite(Result<Estimate> found) {
  if (!found) return found;
  for (const FoundValue& v : {found->time, found->power, found->energy, found->memory}) {
    if (!std::isfinite(v.value) || !std::isfinite(v.lo) || !std::isfinite(v.hi))
      return unsupported("the prediction is no finite number");
  }
  return found;
}

JudgedQuantity beside(double measured, const FoundValue& found) {
  return {measured, found.value, found.lo, found.hi, found.spread};
}

JudgedRow judged(const Circumstances& at, const Readings& readings, const Estimate& found) {
  JudgedRow out;
  out.gpu = at.gpu_label.empty() ? at.gpu : at.gpu_label;
  out.mode = at.mode;
  out.precision = at.precision;
  out.support = found.support;
  out.group = found.group;
  out.baseline = found.baseline;
  out.gpu_busy = found.gpu_busy;
  out.host_busy = found.host_busy;
  if (readings.time) out.time = beside(readings.time->value(), found.time);
  // What is read at the plug, or with the host, says nothing of the board's.
  const bool of_board = at.scope == PowerScope::kGpu;
  if (readings.power && of_board) out.power = beside(readings.power->value(), found.power);
  if (const auto energy = energy_of(readings); energy && of_board) out.energy = beside(*energy, found.energy);
  // What else tools read holds the driver's context, or segments that the allocator keeps.
  const bool allocated = readings.memory_kind == "max-allocated" && readings.memory_relation == MemoryRelation::kEqual;
  if (readings.memory && allocated && found.memory.value > 0.0)
    out.memory = beside(readings.memory->value(), found.memory);
  return out;
}

std::string_view variant_of(const MeasuredOperation&) {
  return {};
}
std::string_view variant_of(const MeasuredNetwork& row) {
  return row.compiled ? "compiled" : row.channels_last ? "channels-last" : "";
}

std::string subject_of(const MeasuredNetwork& row) {
  if (row.image_size) return fmt::format("{} {}", row.model, *row.image_size);
  if (row.sequence_length) return fmt::format("{} {}", row.model, *row.sequence_length);
  return row.model;
}

Circumstances circumstances_of(const settings::Sweep& sweep) {
  Circumstances out;
  out.gpu = sweep.gpu_label;
  out.mode = sweep.mode;
  return out;
}

}  // namespace

struct Evaluator::Judges {
  OperationJudge operations;
  NetworkJudge networks;
  SweepJudge sweeps;
  bool have_graphs;
};

Evaluator::Evaluator(std::unique_ptr<Judges> judges) : judges_(std::move(judges)) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

Result<Evaluator> Evaluator::open(const std::string& pack, const Catalogue& catalogue,
                                  const EvaluatorOptions& options) {
  JC_ASSIGN_OR_RETURN(OperationJudge operations, OperationJudge::open(pack, options.use, catalogue));
  JC_ASSIGN_OR_RETURN(NetworkJudge networks, NetworkJudge::open(pack, options.use, catalogue, options.graphs));
  JC_ASSIGN_OR_RETURN(SweepJudge sweeps, SweepJudge::open(pack, catalogue));
  return Evaluator(std::make_unique<Judges>(
      Judges{std::move(operations), std::move(networks), std::move(sweeps), !options.graphs.empty()}));
}

// One table: its rows as they come, then its sweeps, which want all of their rows.
class Evaluator::Judging {
 public:
  Judging(Judges& judges, const EvaluateOptions& options) : judges_(judges), options_(options) {}

  TableSink sink() {
    TableSink out;
    out.operation = [this](const MeasuredOperation& row) { judge(row); };
    out.network = [this](const MeasuredNetwork& row) { judge(row); };
    out.other = [this](const MeasuredOther& row) {
      if (judges_.sweeps.takes(row)) return sweep_rows_.add(row);
      others_.add(row.from.line, row.reason);
    };
    return out;
  }

  // Nothing but networks, whose graphs are not there.
  [[nodiscard]] bool needs_graphs(const Evaluation& done) const {
    return without_graph_ > 0 && done.judged() == 0 && done.refused.rows() == without_graph_;
  }

  Evaluation finish(const Table& read) {
    others_.add(read.unmapped);
    judge_sweeps();
    Evaluation out = tally_.finish();
    out.layout = read.layout;
    out.fitted_on = fitted_on_ || judges_.operations.fitted_on(read.layout);
    out.unread = others_.rows();
    out.refused.add(others_);
    return out;
  }

 private:
  void judge(const MeasuredOperation& row) {
    if (!row.from.primary || row.at.low_power) return tally_.set_aside(row.at);
    hold_against(row, judges_.operations.predict(row), [&](JudgedRow& done) { done.subject = row.group; });
  }

  void judge(const MeasuredNetwork& row) {
    const bool lacks_graph = !judges_.have_graphs && !is_layer(row);
    if (!row.from.primary || row.at.low_power) return tally_.set_aside(row.at, variant_of(row));
    if (lacks_graph) {
      ++without_graph_;
      return tally_.unmapped(row.at, variant_of(row), row.from.line, "a network: --graphs DIR says where its graph is");
    }
    hold_against(row, judges_.networks.predict(row, options_.operations), [&](JudgedRow& done) {
      done.subject = subject_of(row);
      done.batch = row.batch.value_or(0);
    });
  }

  void judge_sweeps() {
    const settings::SweepSet sweeps = sweep_rows_.sweeps(judges_.sweeps.catalogue());
    for (const auto& [layout, refused] : sweeps.refused) others_.add(refused);
    for (const settings::Sweep& sweep : sweeps.sweeps) {
      const Circumstances at = circumstances_of(sweep);
      const std::vector<JudgedRow> rows = judges_.sweeps.judge(sweep);
      for (const JudgedRow& done : rows) add(at, sweep.layout, done);
      for (std::size_t i = rows.size(); i < sweep.points.size(); ++i) tally_.set_aside(at, kSettingsVariant);
    }
  }

  // The row's own words come from `describe`.
  template <typename Row, typename Describe>
  void hold_against(const Row& row, Result<Estimate> prediction, const Describe& describe) {
    const auto found = finite(std::move(prediction));
    if (!found) return tally_.unmapped(row.at, variant_of(row), row.from.line, found.error().text());
    JudgedRow done = judged(row.at, row.readings, *found);
    done.operations = found->operations;
    done.line = row.from.line;
    done.variant = variant_of(row);
    done.cautions = row.from.anomaly;
    done.campaign = row.at.campaign;
    describe(done);
    add(row.at, row.from.table, done);
  }

  void add(const Circumstances& at, std::string_view layout, const JudgedRow& done) {
    fitted_on_ = fitted_on_ || judges_.operations.fitted_on(layout);
    tally_.judged(at, done);
    if (options_.row) options_.row(done);
  }

  Judges& judges_;
  const EvaluateOptions& options_;
  Tally tally_;
  settings::SweepRows sweep_rows_;
  Refusals others_;
  std::size_t without_graph_ = 0;
  bool fitted_on_ = false;
};

Result<Evaluation> Evaluator::judge(const std::string& table, const EvaluateOptions& options) {
  Judging judging(*judges_, options);
  const TableSink sink = judging.sink();
  JC_ASSIGN_OR_RETURN(const Table read, options.read ? options.read(table, sink) : read_table(table, sink));
  Evaluation out = judging.finish(read);
  if (judging.needs_graphs(out))
    return invalid(fmt::format("{}: a table of networks; say where their graphs are with --graphs DIR", table));
  return out;
}

std::size_t Evaluation::judged() const {
  return std::accumulate(groups.begin(), groups.end(), std::size_t{0},
                         [](std::size_t sum, const EvaluationGroup& g) { return sum + g.n; });
}

}  // namespace joulecast
