// SPDX-License-Identifier: Apache-2.0
#include "evaluate/evaluate.h"

#include <fmt/format.h>

#include <cmath>

#include "dataset/table.h"
#include "evaluate/judges.h"

namespace joulecast {

namespace {

std::optional<JudgedValue> energy_of(const Readings& readings) {
  if (readings.time && readings.power) {
    return JudgedValue{.measured = readings.time->value() * readings.power->value()};
  }
  if (readings.energy) return JudgedValue{.measured = readings.energy->value()};
  return std::nullopt;
}

}  // namespace

// Time, power and energy of one row beside its prediction. Energy is time x power of the same row: the energy column of
// some logs is taken over another window (docs/formats/tables.md).
static void judge(Tally& tally, const Circumstances& at, const Readings& readings, const Found& found) {
  const auto pair = [](double measured, const FoundValue& value) {
    return JudgedValue{measured, value.value, value.lo, value.hi};
  };
  std::optional<JudgedValue> time, power, energy = energy_of(readings);
  if (readings.time) time = pair(readings.time->value(), found.time);
  if (readings.power) power = pair(readings.power->value(), found.power);
  if (energy) energy = pair(energy->measured, found.energy);
  tally.judged(at, time, power, energy);
}

Result<Evaluation> evaluate_table(const std::string& table, const std::string& pack, const Catalogue& catalogue,
                                  const EvaluateOptions& options) {
  Tally tally;
  JC_ASSIGN_OR_RETURN(OperationJudge operations, OperationJudge::open(pack, catalogue));
  JC_ASSIGN_OR_RETURN(NetworkJudge networks, NetworkJudge::open(pack, catalogue, options.graphs));
  bool needs_graphs = false;
  TableSink sink;
  sink.operation = [&](const MeasuredOperation& row) {
    if (!row.from.primary || row.at.low_power) return tally.set_aside(row.at);
    const auto found = operations.predict(row);
    if (!found) return tally.unmapped(row.at, found.error().text());
    judge(tally, row.at, row.readings, *found);
  };
  sink.network = [&](const MeasuredNetwork& row) {
    needs_graphs = needs_graphs || options.graphs.empty();
    if (!row.from.primary || row.at.low_power) return tally.set_aside(row.at);
    const auto found = networks.predict(row);
    if (!found) return tally.unmapped(row.at, found.error().text());
    judge(tally, row.at, row.readings, *found);
  };
  JC_ASSIGN_OR_RETURN(const Table read, read_table(table, sink));
  if (needs_graphs)
    return invalid(fmt::format("{}: a table of networks; say where their graphs are with --graphs DIR", table));
  Evaluation out = tally.finish();
  out.layout = read.layout;
  out.unread = read.unmapped.size();
  for (const UnmappedLine& line : read.unmapped) ++out.reasons[line.reason];
  return out;
}

}  // namespace joulecast
