// SPDX-License-Identifier: Apache-2.0
#include "cli/predict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/interval_json.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/table.h"

namespace joulecast::cli {
namespace {

template <typename Unit>
std::string range_text(const Interval<Unit>& interval, std::string_view unit) {
  return range_with_prefix(interval.value.value(), interval.lo.value(), interval.hi.value(), unit);
}

double byte_share(const std::vector<UnknownOperator>& unknown) {
  double out = 0.0;
  for (const UnknownOperator& u : unknown) out += u.byte_share;
  return out;
}

// Why a prediction is outside of all that was measured: by Predictor::support(), a tenth in unknown operators is
// enough.
std::string outside_text(const std::string& gpu, double unknown) {
  constexpr double kEnough = 0.10;
  const std::string why = unknown > kEnough
                              ? fmt::format("{} of the bytes are of unknown operators", share(unknown, 1.0))
                              : fmt::format("{}: nothing like it was measured", gpu);
  return why + "; the bounds are wide and the value is physics";
}

}  // namespace

void PredictionReport::add(const Workload& load, Prediction prediction) {
  const bool training = load.options.mode == Mode::kTraining;
  Flops flops = load.total.forward_flops;
  Bytes bytes = load.total.forward_read + load.total.forward_written;
  if (training) {
    flops += load.total.backward_flops;
    bytes += load.total.backward_read + load.total.backward_written;
  }
  entries_.push_back({.prediction = std::move(prediction),
                      .batch = load.batch,
                      .mode = load.options.mode,
                      .runtime = load.options.runtime,
                      .layout = load.options.layout,
                      .optimizer = training ? name(load.options.optimizer) : "",
                      .flops = flops.value(),
                      .bytes = bytes.value(),
                      .parameters = load.total.parameter_count,
                      .unknown = load.unknown_operators,
                      .notes = load.notes});
}

std::size_t PredictionReport::shown(const Entry& entry) const {
  const std::size_t all = entry.prediction.operations.size();
  return options_.breakdown && options_.top == 0 ? all : std::min(all, options_.top);
}

Json PredictionReport::operations_json(const Entry& entry) const {
  Json out = Json::array();
  for (std::size_t i = 0; i < shown(entry); ++i) {
    const OperationEstimate& o = entry.prediction.operations[i];
    out.push_back({{"operation", o.label},
                   {"count", o.count},
                   {"time_s", json_number(o.time.value())},
                   {"energy_j", json_number(o.energy.value())},
                   {"bound_s", json_number(o.bound.value())}});
  }
  return out;
}

Json PredictionReport::entry_json(const Entry& e) const {
  const Prediction& p = e.prediction;
  Json unknown = Json::array();
  for (const UnknownOperator& u : e.unknown)
    unknown.push_back({{"name", u.name}, {"count", u.count}, {"byte_share", u.byte_share}});
  Json out = {{"gpu", p.gpu},
              {"batch", e.batch},
              {"mode", name(e.mode)},
              {"precision", name(p.precision)},
              {"runtime", name(e.runtime)},
              {"layout", name(e.layout)},
              {"optimizer", e.optimizer.empty() ? Json(nullptr) : Json(e.optimizer)},
              {"setting", setting_json(p.setting)},
              {"time_s", interval_json(p.time)},
              {"power_w", interval_json(p.power)},
              {"energy_j", interval_json(p.energy)},
              {"memory_bytes", interval_json(whole_bytes(p.memory))},
              {"edp_js", interval_json(p.edp)},
              {"fits", p.fits},
              {"mig_profile", p.mig_profile ? Json(*p.mig_profile) : Json(nullptr)},
              {"support", name(p.support)},
              {"host", joulecast::text(p.host)},
              {"gpu_busy_s", json_number(p.gpu_busy.value())},
              {"host_busy_s", json_number(p.host_busy.value())},
              {"host_bound", p.host_bound},
              {"unknown_operators", std::move(unknown)},
              {"flops", json_number(e.flops)},
              {"bytes", json_number(e.bytes)},
              {"parameters", e.parameters}};
  if (shown(e) > 0) out["operations"] = operations_json(e);
  if (!e.notes.empty()) out["notes"] = e.notes;
  return out;
}

Json PredictionReport::json() const {
  Json predictions = Json::array();
  for (const Entry& e : entries_) predictions.push_back(entry_json(e));
  return {{"schema", "joulecast.prediction/1"},
          {"model", model_},
          {"predictions", std::move(predictions)},
          {"left_out", left_out_}};
}

std::string PredictionReport::csv() const {
  std::string out =
      "model,gpu,batch,mode,precision,runtime,time_s,time_lo_s,time_hi_s,power_w,power_lo_w,power_hi_w,energy_j,"
      "energy_lo_j,energy_hi_j,memory_bytes,memory_lo_bytes,memory_hi_bytes,edp_js,mig_profile,support,flops,bytes,"
      "parameters,sm_clock_mhz,power_limit_w,layout,unknown_byte_share,optimizer,fits\r\n";
  for (const Entry& e : entries_) {
    const Prediction& p = e.prediction;
    const Interval<Bytes> memory = whole_bytes(p.memory);
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
                       csv_field(model_), csv_field(p.gpu), e.batch, name(e.mode), name(p.precision), name(e.runtime),
                       p.time.value.value(), p.time.lo.value(), p.time.hi.value(), p.power.value.value(),
                       p.power.lo.value(), p.power.hi.value(), p.energy.value.value(), p.energy.lo.value(),
                       p.energy.hi.value(), memory.value.value(), memory.lo.value(), memory.hi.value(),
                       p.edp.value.value(), p.mig_profile.value_or(""), name(p.support), e.flops, e.bytes, e.parameters,
                       p.setting.sm_clock->value() / 1e6, p.setting.power_limit->value(), name(e.layout),
                       byte_share(e.unknown), e.optimizer, p.fits);
  }
  return out;
}

std::string PredictionReport::operations_text(const Entry& entry) const {
  Table table({{"operation", Table::Align::kLeft, 40},
               {"count", Table::Align::kRight},
               {"GPU time", Table::Align::kRight},
               {"energy", Table::Align::kRight},
               {"share", Table::Align::kRight}});
  double whole = 0.0;
  for (const OperationEstimate& o : entry.prediction.operations) whole += o.time.value();
  for (std::size_t i = 0; i < shown(entry); ++i) {
    const OperationEstimate& o = entry.prediction.operations[i];
    table.add({o.label, std::to_string(o.count), with_prefix(o.time.value(), "s"), with_prefix(o.energy.value(), "J"),
               share(o.time.value(), whole)});
  }
  return fmt::format("\n{}, batch {}:\n{}", entry.prediction.gpu, entry.batch, table.text(2));
}

std::string PredictionReport::settings_table() const {
  Table table({{"GPU", Table::Align::kLeft, 16},
               {"batch", Table::Align::kRight},
               {"MHz", Table::Align::kRight},
               {"limit", Table::Align::kRight},
               {"time", Table::Align::kLeft, 30},
               {"power", Table::Align::kRight},
               {"energy", Table::Align::kRight}});
  for (const Entry& e : entries_) {
    const Prediction& p = e.prediction;
    table.add({p.gpu, std::to_string(e.batch), fmt::format("{:.0f}", p.setting.sm_clock->value() / 1e6),
               fmt::format("{:.0f} W", p.setting.power_limit->value()), range_text(p.time, "s"),
               with_prefix(p.power.value.value(), "W"), with_prefix(p.energy.value.value(), "J")});
  }
  return table.text();
}

std::set<std::string> PredictionReport::notes() const {
  // Of a limit: up to a sixth more is what the prediction at the default setting adds at lower ones too.
  constexpr double kKept = 1.2;
  std::set<std::string> lines;
  for (const Entry& e : entries_) {
    for (const std::string& note : e.notes) lines.insert(printable(note));
    for (const UnknownOperator& u : e.unknown) {
      lines.insert(fmt::format("unknown operator {} ({} times, {} of the bytes): costed by its bytes",
                               printable(u.name), u.count, share(u.byte_share, 1.0)));
    }
    if (!e.prediction.fits) {
      lines.insert(fmt::format("{}, batch {}: needs more memory than the board has", e.prediction.gpu, e.batch));
    }
    const double limit = e.prediction.setting.power_limit->value();
    if (options_.settings && e.prediction.power.value.value() > kKept * limit) {
      lines.insert(fmt::format("{}, batch {}: draws more than a limit of {:.0f} W, which is too low to be kept",
                               e.prediction.gpu, e.batch, limit));
    }
    if (e.prediction.support == Support::kOutside) {
      lines.insert(outside_text(e.prediction.gpu, byte_share(e.unknown)));
    }
  }
  return lines;
}

std::string PredictionReport::text() const {
  const Entry& first = entries_.front();
  const std::string what =
      fmt::format("{}: {} with {}{}{}, {} parameters", printable(model_), name(first.mode), name(first.runtime),
                  first.layout == Layout::kChannelsLast ? " channels-last" : "",
                  first.optimizer.empty() ? "" : fmt::format(" and {}", first.optimizer),
                  with_prefix(static_cast<double>(first.parameters), ""));
  std::string out = wrapped(what, 80, 2) + "\n";
  out += fmt::format("value (bounds that hold it in {:.0f} % of all cases)\n\n", kIntervalLevel * 100);
  out += options_.settings ? settings_table() : default_table();
  for (const Entry& e : entries_) {
    if (shown(e) > 0) out += operations_text(e);
  }
  const auto lines = notes();
  if (!lines.empty()) out += "\n";
  for (const std::string& line : lines) out += wrapped("note: " + line, 80, 6) + "\n";
  return out;
}

std::string PredictionReport::default_table() const {
  Table table({{"GPU", Table::Align::kLeft, 24},
               {"batch", Table::Align::kRight},
               {"time", Table::Align::kLeft, 30},
               {"power", Table::Align::kRight},
               {"energy", Table::Align::kRight},
               {"memory", Table::Align::kRight},
               {"support", Table::Align::kLeft}});
  for (const Entry& e : entries_) {
    const Prediction& p = e.prediction;
    table.add({p.gpu, std::to_string(e.batch), range_text(p.time, "s"), with_prefix(p.power.value.value(), "W"),
               with_prefix(p.energy.value.value(), "J"), with_prefix(p.memory.value.value(), "B"),
               std::string(name(p.support))});
  }
  return table.text();
}

}  // namespace joulecast::cli
