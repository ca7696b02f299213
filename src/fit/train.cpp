// SPDX-License-Identifier: Apache-2.0
// From tables to a pack with its own report.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/mapped_file.h"
#include "dataset/metrics.h"
#include "fit/fit.h"
#include "predict/compose.h"
#include "predict/describe.h"
#include "predict/estimator.h"
#include "predict/pack/writer.h"
#include "predict/pack_names.h"

namespace joulecast {
namespace {

using Json = nlohmann::ordered_json;
using Numbers = std::map<std::string, double>;

Json figure(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json figures_json(const std::vector<double>& measured, const std::vector<double>& predicted) {
  const ErrorFigures f = error_figures(measured, predicted);
  return {{"n", f.count},
          {"r2", figure(f.r2)},
          {"mape", figure(f.mape)},
          {"median_ape", figure(f.median)},
          {"p90_ape", figure(f.p90)},
          {"bias", figure(f.bias)}};
}

// Pairs of one cell of the report.
struct Pairs {
  std::vector<double> time, time_found, bound, power, power_found, energy, energy_found;
};

// Primary rows only: by the table's GPU and mode, and over all groups together.
void collect(const std::vector<Sample>& samples, const HeldOut& held, std::map<std::string, Pairs>& cells) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& s = samples[i];
    if (!s.primary) continue;
    Pairs& p = cells[fmt::format("{}/{}/{}", s.table, s.gpu_name, name(s.mode))];
    std::array<float, kMaxFeatures> unused{};
    p.time.push_back(s.time);
    p.time_found.push_back(held.time[i]);
    p.bound.push_back(physics_of(s.work, s.device, s.situation, unused).bound);
    if (!s.power) continue;
    p.power.push_back(*s.power);
    p.power_found.push_back(held.power[i]);
    p.energy.push_back(*s.power * s.time);
    p.energy_found.push_back(held.power[i] * held.time[i]);
  }
}

Json cells_json(const std::map<std::string, Pairs>& cells) {
  Json out = Json::object();
  for (const auto& [key, p] : cells) {
    out[key] = {{"time", figures_json(p.time, p.time_found)},
                {"time_bound_alone", figures_json(p.time, p.bound)},
                {"power", figures_json(p.power, p.power_found)},
                {"energy", figures_json(p.energy, p.energy_found)}};
  }
  return out;
}

// Split conformal: the factor that holds the measured value in `kIntervalLevel` of the held-out cases, as a logarithm.
double conformal(const std::vector<double>& measured, const std::vector<double>& found) {
  std::vector<double> distances;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (measured[i] > 0.0 && found[i] > 0.0) distances.push_back(std::abs(std::log(found[i] / measured[i])));
  }
  constexpr double kLevel = 0.9;
  const auto n = static_cast<double>(distances.size());
  return quantile(distances, std::min(1.0, kLevel * (n + 1.0) / std::max(n, 1.0))).value_or(1.0);
}

void add_intervals(Group group, std::string_view split, const std::vector<Sample>& samples, const HeldOut& held,
                   Numbers& out) {
  Pairs p;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].primary) continue;
    p.time.push_back(samples[i].time);
    p.time_found.push_back(held.time[i]);
    if (!samples[i].power) continue;
    p.power.push_back(*samples[i].power);
    p.power_found.push_back(held.power[i]);
    p.energy.push_back(*samples[i].power * samples[i].time);
    p.energy_found.push_back(held.power[i] * held.time[i]);
  }
  const std::string prefix = fmt::format("operation/{}/{}", name(group), split);
  out[prefix + "/time"] = conformal(p.time, p.time_found);
  out[prefix + "/power"] = conformal(p.power, p.power_found);
  out[prefix + "/energy"] = conformal(p.energy, p.energy_found);
}

// Fewer rows than this tell no model what a GPU is like.
constexpr int kSeenRows = 20;

void add_gpus(Group group, const std::vector<Sample>& samples, Numbers& gpus, Numbers& ranges) {
  double& largest = ranges[std::string(name(group))];
  std::map<std::string, int> rows;
  for (const Sample& s : samples) {
    gpus[fmt::format("architecture/{}", s.gpu->architecture)] = 1.0;
    largest = std::max(largest, work_size(s.work));
    ++rows[fmt::format("seen/{}/{}", name(group), s.gpu->id)];
    // Whole networks of convolutions were measured there: only then is a network inside.
    if (group == Group::kConv) ++rows[fmt::format("measured/{}", s.gpu->id)];
    if (const auto math = arithmetic_of(s.work))
      ++rows[fmt::format("arithmetic/{}/{}/{}", name(group), name(*math), s.gpu->id)];
  }
  for (const auto& [key, count] : rows) {
    if (count >= kSeenRows) gpus[key] = 1.0;
  }
}

Numbers compose_numbers() {
  const ComposeConstants c;
  return {{"host_inference", c.host_inference},
          {"host_training", c.host_training},
          {"functional_inference_s", c.functional_inference},
          {"functional_training_s", c.functional_training},
          {"benchmark_call_s", c.benchmark_call},
          {"parameter_call_s", c.parameter_call},
          {"sharpness", c.sharpness},
          {"power_ceiling", c.power_ceiling}};
}

// Without a calibration file nothing is known about whole networks: a factor of three, whatever is predicted.
void add_network_intervals(Numbers& out) {
  for (const char* what : {"time", "power", "energy"}) {
    for (const char* support : {"inside", "edge", "outside"})
      out[fmt::format("network/{}/{}", what, support)] = std::log(3.0);
  }
}

Json provenance_json(const SampleSet& set) {
  Json tables = Json::object();
  for (const auto& [table, count] : set.used) tables[table]["used"] = count;
  Json reasons = Json::object();
  for (const auto& [table, refused] : set.refused) {
    tables[table]["refused"] = refused.rows();
    for (const Refusal& refusal : refused.by_frequency())
      reasons[fmt::format("{}: {}", table, refusal.reason)] = refusal.count;
  }
  return {{"tables", std::move(tables)}, {"refused_because", std::move(reasons)}};
}

// Files of options: lists of operations, factors.
Result<std::string> text_of(const std::string& path) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  if (file.text().size() > kMaxTableBytes)
    return unsupported(fmt::format("{}: has {} bytes; at most {} are read", path, file.text().size(), kMaxTableBytes));
  return std::string(file.text());
}

// What the calibration file says; null without one.
Result<Json> calibration_of(const std::string& path) {
  if (path.empty()) return Json(nullptr);
  JC_ASSIGN_OR_RETURN(const std::string text, text_of(path));
  Json calibration = Json::parse(text, nullptr, false);
  if (!calibration.is_object() || calibration["schema"] != "joulecast.calibration/1" ||
      !calibration["intervals"].is_object())
    return invalid(fmt::format("{}: no joulecast.calibration/1", path));
  for (const auto& [key, value] : calibration["intervals"].items()) {
    if (!value.is_number() || value.get<double>() < 0.0 || value.get<double>() > 10.0)
      return invalid(fmt::format("{}: '{}' is no logarithm of a factor", path, key));
  }
  return calibration;
}

// Factors that were judged on families and GPUs left out replace those of random folds: operations of one network
// resemble each other, and random folds put them on both sides.
void add_calibration(const Json& calibration, Numbers& intervals) {
  if (calibration.is_null()) return;
  for (const auto& [key, value] : calibration.at("intervals").items()) intervals[key] = value.get<double>();
}

// Takes rows out of the set, before anything is thinned: what is left is what would have been measured without them.
Result<std::size_t> leave_out(const TrainOptions& options, SampleSet& set) {
  std::set<std::string, std::less<>> keys;
  if (!options.without.empty()) {
    JC_ASSIGN_OR_RETURN(const std::string text, text_of(options.without));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) keys.insert(line);
  }
  std::string gpu;
  if (!options.without_gpu.empty()) {
    JC_ASSIGN_OR_RETURN(const Gpu* found, Catalogue::shipped().find(options.without_gpu));
    gpu = found->id;
  }
  std::size_t count = 0;
  for (std::vector<Sample>& samples : set.groups)
    count += std::erase_if(samples, [&](const Sample& s) { return s.gpu->id == gpu || keys.contains(s.key); });
  return count;
}

// The most frequent reasons; a damaged table has thousands.
std::vector<std::string> refusal_lines(const Refusals& refused) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> out;
  if (refused.rows() > 0) out.push_back(fmt::format("{} rows not used", refused.rows()));
  const std::vector<Refusal> sorted = refused.by_frequency();
  for (std::size_t i = 0; i < std::min(kShown, sorted.size()); ++i) out.push_back("  " + refusal_text(sorted[i]));
  if (sorted.size() > kShown) out.push_back(fmt::format("  and {} further reasons", sorted.size() - kShown));
  return out;
}

Result<SampleSet> read_tables(const TrainOptions& options, const Progress& progress) {
  SampleSet set;
  for (const std::string& path : options.tables) {
    progress("reading " + path);
    JC_ASSIGN_OR_RETURN(const Refusals refused, add_table(path, options.layouts, Catalogue::shipped(), set));
    for (const std::string& line : refusal_lines(refused)) progress("  " + line);
  }
  JC_ASSIGN_OR_RETURN(const std::size_t left_out, leave_out(options, set));
  if (!options.without.empty() || !options.without_gpu.empty()) progress(fmt::format("{} rows left out", left_out));
  thin_out(set);
  return set;
}

// Everything the pack holds beside the forests.
struct Gathered {
  Numbers gpus, ranges, intervals, trust;
  std::vector<std::string> without_rows;  // groups
  std::map<std::string, Pairs> random, unseen;
};

Result<void> add_group(Group group, const std::vector<Sample>& samples, const TrainOptions& options,
                       const Progress& progress, PackWriter& writer, Gathered& out) {
  const std::string group_name(name(group));
  JC_ASSIGN_OR_RETURN(const GroupFit found, fit_group(group, samples, options.method,
                                                      options.quick ? Judging::kQuick : Judging::kFull, progress));
  if (samples.empty()) out.without_rows.push_back(group_name);
  JC_RETURN_IF_ERROR(writer.add_forest("time/" + group_name, found.any.time));
  JC_RETURN_IF_ERROR(writer.add_forest("power/" + group_name, found.any.power));
  JC_RETURN_IF_ERROR(writer.add_forest("time-seen/" + group_name, found.seen.time));
  JC_RETURN_IF_ERROR(writer.add_forest("power-seen/" + group_name, found.seen.power));
  add_gpus(group, samples, out.gpus, out.ranges);
  out.trust[group_name] = trust_unseen(group);
  if (options.quick) return {};
  collect(samples, found.random, out.random);
  collect(samples, found.unseen_gpu, out.unseen);
  add_intervals(group, "seen", samples, found.random, out.intervals);
  add_intervals(group, "unseen-gpu", samples, found.unseen_gpu, out.intervals);
  return {};
}

}  // namespace

Result<void> train(const TrainOptions& options, const Progress& progress) {
  // What was typed wrongly is said before the hours of work, not after.
  JC_RETURN_IF_ERROR(PackWriter::check_writable(options.out));
  for (const std::string& table : options.tables) {
    std::error_code none;
    if (std::filesystem::equivalent(table, options.out, none))
      return invalid(fmt::format("{}: the pack would overwrite the table", options.out));
  }
  JC_ASSIGN_OR_RETURN(Json calibration, calibration_of(options.calibration));
  JC_ASSIGN_OR_RETURN(const SampleSet set, read_tables(options, progress));
  if (set.used.empty()) return invalid("no row of the tables can be fitted on");
  PackWriter writer;
  Gathered all;
  for (std::size_t g = 0; g < kGroups; ++g) {
    JC_RETURN_IF_ERROR(add_group(static_cast<Group>(g), set.groups[g], options, progress, writer, all));
  }
  add_network_intervals(all.intervals);
  add_calibration(calibration, all.intervals);
  const Json report = {{"schema", "joulecast.pack-report/1"},     {"quick", options.quick},
                       {"method", name(options.method)},          {"fitted_on", provenance_json(set)},
                       {"groups_without_rows", all.without_rows}, {"held_out_operations", cells_json(all.random)},
                       {"held_out_gpus", cells_json(all.unseen)}, {"calibration", std::move(calibration)}};
  JC_RETURN_IF_ERROR(writer.add_table(std::string(pack_names::kCompose), compose_numbers()));
  JC_RETURN_IF_ERROR(writer.add_table(std::string(pack_names::kGpus), all.gpus));
  JC_RETURN_IF_ERROR(writer.add_table(std::string(pack_names::kRanges), all.ranges));
  JC_RETURN_IF_ERROR(writer.add_table(std::string(pack_names::kIntervals), all.intervals));
  JC_RETURN_IF_ERROR(writer.add_table(std::string(pack_names::kTrust), all.trust));
  JC_RETURN_IF_ERROR(writer.add_json(std::string(pack_names::kReport), report.dump(1)));
  progress("writing " + options.out);
  return writer.write(options.out);
}

}  // namespace joulecast
