// SPDX-License-Identifier: Apache-2.0
#include "evaluate/evaluate.h"

#include <fmt/format.h>

#include <cmath>

#include "evaluate/judges.h"

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
Result<Found> finite(Result<Found> found) {
  if (!found) return found;
  for (const FoundValue& v : {found->time, found->power, found->energy}) {
    if (!std::isfinite(v.value) || !std::isfinite(v.lo) || !std::isfinite(v.hi))
      return unsupported("the prediction is no finite number");
  }
  return found;
}

JudgedQuantity beside(double measured, const FoundValue& found) {
  return {measured, found.value, found.lo, found.hi};
}

JudgedRow judged(const Circumstances& at, const Readings& readings, const Found& found) {
  JudgedRow out;
  out.gpu = at.gpu_label.empty() ? at.gpu : at.gpu_label;
  out.mode = at.mode;
  out.precision = at.precision;
  out.support = found.support;
  out.baseline = found.baseline;
  out.gpu_busy = found.gpu_busy;
  out.host_busy = found.host_busy;
  if (readings.time) out.time = beside(readings.time->value(), found.time);
  if (readings.power) out.power = beside(readings.power->value(), found.power);
  if (const auto energy = energy_of(readings)) out.energy = beside(*energy, found.energy);
  return out;
}

std::string subject_of(const MeasuredNetwork& row) {
  if (row.image_size) return fmt::format("{} {}", row.model, *row.image_size);
  if (row.sequence_length) return fmt::format("{} {}", row.model, *row.sequence_length);
  return row.model;
}

}  // namespace

Result<Evaluation> evaluate_table(const std::string& table, const std::string& pack, const Catalogue& catalogue,
                                  const EvaluateOptions& options) {
  Tally tally;
  JC_ASSIGN_OR_RETURN(OperationJudge operations, OperationJudge::open(pack, catalogue));
  JC_ASSIGN_OR_RETURN(NetworkJudge networks, NetworkJudge::open(pack, catalogue, options.graphs));
  bool needs_graphs = false;
  TableSink sink;
  sink.operation = [&](const MeasuredOperation& row) {
    if (!row.from.primary || row.at.low_power) return tally.set_aside(row.at);
    const auto found = finite(operations.predict(row));
    if (!found) return tally.unmapped(row.at, row.from.line, found.error().text());
    JudgedRow done = judged(row.at, row.readings, *found);
    done.line = row.from.line;
    done.subject = row.group;
    tally.judged(row.at, done);
    if (options.row) options.row(done);
  };
  sink.network = [&](const MeasuredNetwork& row) {
    needs_graphs = needs_graphs || options.graphs.empty();
    if (!row.from.primary || row.at.low_power) return tally.set_aside(row.at);
    const auto found = finite(networks.predict(row));
    if (!found) return tally.unmapped(row.at, row.from.line, found.error().text());
    JudgedRow done = judged(row.at, row.readings, *found);
    done.line = row.from.line;
    done.subject = subject_of(row);
    done.batch = row.batch.value_or(0);
    tally.judged(row.at, done);
    if (options.row) options.row(done);
  };
  JC_ASSIGN_OR_RETURN(const Table read, options.read ? options.read(table, sink) : read_table(table, sink));
  if (needs_graphs)
    return invalid(fmt::format("{}: a table of networks; say where their graphs are with --graphs DIR", table));
  Evaluation out = tally.finish();
  out.layout = read.layout;
  out.fitted_on = operations.fitted_on(read.layout);
  out.unread = read.unmapped.rows();
  out.refused.add(read.unmapped);
  return out;
}

}  // namespace joulecast
