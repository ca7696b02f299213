// SPDX-License-Identifier: Apache-2.0
#include "fit/calibrate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/output_file.h"
#include "dataset/store_place.h"
#include "fit/calibration_file.h"
#include "fit/network_rows.h"
#include "fit/rows.h"
#include "predict/network_parts.h"
#include "predict/pack/writer.h"
#include "predict/pack_names.h"

namespace joulecast {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // as reports are written

// What is to be learnt of one GPU.
struct Deviations {
  std::vector<Deviation> time, power;
  std::vector<double> power_scale;  // watts that a share of 1 is, over the measured watts
  std::array<bool, kGroups> groups{};
};

void add(const Sample& sample, const OperationPrediction& found, Deviations& out) {
  const Group group = group_of(sample.work);
  const CorrectionTerms terms = correction_terms(sample.work, sample.situation.state, found.physics);
  out.groups[static_cast<std::size_t>(group)] = true;
  out.time.push_back({.off = std::log(sample.time / found.time), .terms = terms, .operation = sample.key});
  if (!sample.power) return;
  const double range = sample.device.limit - sample.device.awake;
  out.power.push_back({.off = (*sample.power - found.power) / range, .terms = terms, .operation = sample.key});
  out.power_scale.push_back(range / *sample.power);
}

// Networks have no part of their power that an operation would answer for.
void add(const std::vector<Deviation>& networks, Deviations& out) {
  for (const Deviation& network : networks) {
    for (std::size_t g = 0; g < kGroups; ++g)
      out.groups[g] = out.groups[g] || network.terms[kCorrectionGroups + g] > 0.0;
  }
  out.time.insert(out.time.end(), networks.begin(), networks.end());
}

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0.0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

CalibrationErrors errors(const std::vector<Deviation>& rows, const std::vector<LeftOut>& left, const auto& error) {
  std::vector<double> before_errors;
  std::vector<double> after_errors;
  for (const LeftOut& one : left) {
    before_errors.push_back(error(one.row, rows[one.row].off));
    after_errors.push_back(error(one.row, one.off));
  }
  return {.rows = rows.size(), .before = mean(before_errors), .after = mean(after_errors)};
}

CalibratedGpu judged(const std::string& gpu, const Deviations& rows, const std::vector<LeftOut>& left,
                     const std::vector<LeftOut>& left_of_power) {
  CalibratedGpu out{.gpu = gpu, .time = {}, .power = {}, .unseen_groups = {}};
  out.time = errors(rows.time, left, [](std::size_t, double off) { return std::abs(std::exp(-off) - 1.0); });
  out.power =
      errors(rows.power, left_of_power, [&](std::size_t i, double off) { return std::abs(off) * rows.power_scale[i]; });
  for (std::size_t g = 0; g < kGroups; ++g) {
    if (!rows.groups[g]) out.unseen_groups.emplace_back(name(static_cast<Group>(g)));
  }
  return out;
}

// The pack without the corrections of these GPUs predicts the rows.
Result<std::map<std::string, Deviations>> deviations(const SampleSet& set, const Estimator& estimator) {
  std::map<std::string, Deviations> out;
  for (const std::vector<Sample>& samples : set.groups) {
    for (const Sample& sample : samples) {
      Estimator::Trust trust = estimator.trust(sample.gpu->id);
      trust.correction.reset();
      OperationPrediction found;
      JC_RETURN_IF_ERROR(estimator.predict({&sample.work, 1}, sample.device, sample.situation, trust, {&found, 1}));
      add(sample, found, out[std::string(sample.gpu->id)]);
    }
  }
  return out;
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Json json(const CalibrationErrors& errors) {
  const auto number = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
  return {{"rows", errors.rows}, {"mape_before", number(errors.before)}, {"mape_after", number(errors.after)}};
}

// A section of the pack; what is no object, or not there, is an empty one.
template <class J>
Result<J> object_of(const Pack& pack, std::string_view section) {
  if (!contains(pack.jsons(), section)) return J::object();
  JC_ASSIGN_OR_RETURN(const std::string_view text, pack.json(section));
  const auto shallow = [](int depth, typename J::parse_event_t, const J&) { return depth < 16; };
  J out = J::parse(text, shallow, false);
  return out.is_object() ? out : J::object();
}

Result<Numbers> numbers_of(const Pack& pack, std::string_view section) {
  Numbers out;
  if (!contains(pack.tables(), section)) return out;
  JC_ASSIGN_OR_RETURN(const TableView table, pack.table(section));
  for (std::size_t i = 0; i < table.size(); ++i) out.emplace(table.key(i), table.value(i));
  return out;
}

// By section, what stands in place of the pack's own.
struct Replaced {
  std::map<std::string, Numbers, std::less<>> tables;
  std::map<std::string, std::string, std::less<>> texts;
};

// By GPU what corrected it; what the pack said of others stays.
Result<void> add_corrections(const Pack& pack, const Corrections& corrections, const std::vector<CalibratedGpu>& gpus,
                             const std::vector<std::string>& tables, Replaced& out) {
  JC_ASSIGN_OR_RETURN(Json said, object_of<Json>(pack, pack_names::kCorrected));
  Json names = Json::array();
  for (const std::string& table : tables)
    names.push_back(is_database_url(table) ? shown_place(table) : std::filesystem::path(table).filename().string());
  for (const CalibratedGpu& gpu : gpus)
    said[gpu.gpu] = {{"tables", names}, {"time", json(gpu.time)}, {"power", json(gpu.power)}};
  out.tables.emplace(pack_names::kCorrections, corrections_table(corrections));
  out.texts.emplace(pack_names::kCorrected, said.dump(-1, ' ', false, Json::error_handler_t::replace));
  return {};
}

// Factors that the file does not have stay. The report tells where factors come from.
Result<void> add_factors(const Pack& pack, const OrderedJson& calibration, Replaced& out) {
  JC_ASSIGN_OR_RETURN(Numbers intervals, numbers_of(pack, pack_names::kIntervals));
  for (const auto& [key, factor] : interval_factors(calibration)) intervals[key] = factor;
  JC_ASSIGN_OR_RETURN(OrderedJson report, object_of<OrderedJson>(pack, pack_names::kReport));
  report["calibration"] = calibration;
  out.tables.emplace(pack_names::kIntervals, std::move(intervals));
  out.texts.emplace(pack_names::kReport, report.dump(1, ' ', false, OrderedJson::error_handler_t::replace));
  return {};
}

Result<void> write_pack(const Pack& pack, const Replaced& replaced, const std::string& path) {
  PackWriter writer;
  JC_RETURN_IF_ERROR(writer.add_forests_of(pack));
  for (const std::string_view section : pack.tables()) {
    if (replaced.tables.contains(section)) continue;
    JC_ASSIGN_OR_RETURN(const Numbers numbers, numbers_of(pack, section));
    JC_RETURN_IF_ERROR(writer.add_table(std::string(section), numbers));
  }
  for (const std::string_view section : pack.jsons()) {
    if (replaced.texts.contains(section)) continue;
    JC_ASSIGN_OR_RETURN(const std::string_view text, pack.json(section));
    JC_RETURN_IF_ERROR(writer.add_json(std::string(section), std::string(text)));
  }
  for (const auto& [section, numbers] : replaced.tables) JC_RETURN_IF_ERROR(writer.add_table(section, numbers));
  for (const auto& [section, text] : replaced.texts) JC_RETURN_IF_ERROR(writer.add_json(section, text));
  return writer.write(path);
}

// What the pack says without its corrections, beside what the tables say.
Result<std::map<std::string, Deviations>> deviations_of(const CalibrateOptions& options, const Pack& pack,
                                                        const Catalogue& catalogue, const Progress& progress) {
  Estimator estimator;
  ComposeConstants compose;
  const auto read = [&]() -> Result<void> {
    JC_ASSIGN_OR_RETURN(estimator, Estimator::from(pack));
    JC_ASSIGN_OR_RETURN(compose, read_compose(pack));
    return {};
  };
  if (auto ok = read(); !ok) return tl::unexpected(std::move(ok).error().in(options.pack));
  SampleSet set;
  NetworkRows networks(options.graphs, catalogue, estimator, compose);
  const auto add_network = [&](const MeasuredNetwork& row) { return networks.add(row); };
  for (const std::string& path : options.tables) {
    JC_ASSIGN_OR_RETURN(const Refusals refused, add_table(path, options.layouts, catalogue, set, add_network));
    for (const std::string& line : refusal_lines(refused)) progress(line);
  }
  JC_ASSIGN_OR_RETURN(auto rows, deviations(set, estimator));
  for (const auto& [gpu, found] : networks.deviations()) add(found, rows[gpu]);
  return rows;
}

}  // namespace

Result<std::vector<CalibratedGpu>> calibrate(const CalibrateOptions& options, const Catalogue& catalogue,
                                             const Progress& progress) {
  JC_RETURN_IF_ERROR(PackWriter::check_writable(options.out));
  std::vector<std::string> inputs = options.tables;  // a pack may be corrected in its place
  inputs.push_back(options.calibration);
  JC_RETURN_IF_ERROR(check_no_input(options.out, inputs));
  JC_RETURN_IF_ERROR(check_not_in(options.out, options.graphs));
  JC_ASSIGN_OR_RETURN(const OrderedJson calibration, read_calibration(options.calibration));
  JC_ASSIGN_OR_RETURN(const Pack pack, Pack::open(options.pack));
  if (auto whole = pack.verify(); !whole) return tl::unexpected(std::move(whole).error().in(options.pack));
  JC_ASSIGN_OR_RETURN(const auto rows, deviations_of(options, pack, catalogue, progress));
  if (rows.empty() && calibration.is_null()) return invalid("no row of the tables says anything of a GPU");
  Corrections corrections;
  if (contains(pack.tables(), pack_names::kCorrections)) {
    JC_ASSIGN_OR_RETURN(const TableView table, pack.table(pack_names::kCorrections));
    corrections = corrections_of(table);
  }
  std::vector<CalibratedGpu> out;
  for (const auto& [gpu, found] : rows) {
    const CorrectionPrior time = told_by(found.time, time_prior()), power = told_by(found.power, power_prior());
    const std::vector<LeftOut> left = left_out(found.time, time);
    corrections[gpu] = {.time = most_likely(found.time, time),
                        .power = most_likely(found.power, power),
                        .network_width = network_widths(found.time, left)};
    out.push_back(judged(gpu, found, left, left_out(found.power, power)));
  }
  Replaced replaced;
  if (!out.empty()) JC_RETURN_IF_ERROR(add_corrections(pack, corrections, out, options.tables, replaced));
  if (!calibration.is_null()) JC_RETURN_IF_ERROR(add_factors(pack, calibration, replaced));
  JC_RETURN_IF_ERROR(write_pack(pack, replaced, options.out));
  return out;
}

std::string calibration_text(const std::vector<CalibratedGpu>& gpus) {
  if (gpus.empty()) return {};
  const auto percent = [](std::optional<double> share) { return share ? fmt::format("{:.1f}", *share * 100.0) : "-"; };
  std::string out =
      "mean errors in percent, each row by a correction made with the others\n\n"
      "GPU                   rows  time before  after  power before  after\n";
  for (const CalibratedGpu& g : gpus) {
    out += fmt::format("{:<20} {:>5}  {:>11}  {:>5}  {:>12}  {:>5}\n", g.gpu, g.time.rows, percent(g.time.before),
                       percent(g.time.after), percent(g.power.before), percent(g.power.after));
  }
  for (const CalibratedGpu& g : gpus) {
    if (!g.unseen_groups.empty())
      out += fmt::format("{}: nothing measured of {}\n", g.gpu, fmt::join(g.unseen_groups, ", "));
  }
  return out;
}

}  // namespace joulecast
