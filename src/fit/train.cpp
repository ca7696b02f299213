// SPDX-License-Identifier: Apache-2.0
// From tables to a pack with its own report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

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
void collect(const std::vector<Sample>& samples, const GroupFit& fit, const HeldOut& held,
             std::map<std::string, Pairs>& cells) {
  (void)fit;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& s = samples[i];
    if (!s.primary) continue;
    Pairs& p = cells[fmt::format("{}/{}/{}", s.table, s.gpu_name, name(s.mode))];
    FeatureRow unused;
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

void add_gpus(Group group, const std::vector<Sample>& samples, Numbers& gpus, Numbers& ranges) {
  double& largest = ranges[std::string(name(group))];
  for (const Sample& s : samples) {
    gpus[fmt::format("seen/{}/{}", name(group), s.gpu->id)] = 1.0;
    gpus[fmt::format("architecture/{}", s.gpu->architecture)] = 1.0;
    if (s.situation.host == Host::kOlder) gpus[fmt::format("older-host/{}", s.gpu->id)] = 1.0;
    // Whole networks of convolutions were measured there: only then is a network inside.
    if (group == Group::kConv) gpus[fmt::format("measured/{}", s.gpu->id)] = 1.0;
    largest = std::max(largest, work_size(s.work));
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

// Whole networks: factors from networks of families that were left out (docs/accuracy.md), wider where less is known.
void add_network_intervals(Numbers& out) {
  const auto set = [&](const std::string& what, double inside, double edge, double outside) {
    out[fmt::format("network/{}/inside", what)] = std::log(inside);
    out[fmt::format("network/{}/edge", what)] = std::log(edge);
    out[fmt::format("network/{}/outside", what)] = std::log(outside);
  };
  set("time", 1.35, 1.8, 2.5);
  set("power", 1.25, 1.6, 2.0);
  set("energy", 1.45, 2.0, 3.0);
}

Json provenance_json(const SampleSet& set) {
  Json tables = Json::object();
  for (const auto& [table, count] : set.used) tables[table]["used"] = count;
  for (const auto& [table, count] : set.refused) tables[table]["refused"] = count;
  Json reasons = Json::object();
  for (const auto& [reason, count] : set.reasons) reasons[reason] = count;
  return {{"tables", std::move(tables)}, {"refused_because", std::move(reasons)}};
}

}  // namespace

Result<void> train(const TrainOptions& options, const Progress& progress) {
  SampleSet set;
  for (const std::string& path : options.tables) {
    progress("reading " + path);
    JC_RETURN_IF_ERROR(add_table(path, Catalogue::shipped(), set));
  }
  thin_out(set);
  PackWriter writer;
  Numbers gpus, ranges, intervals, trust;
  std::map<std::string, Pairs> random, unseen;
  for (std::size_t g = 0; g < kGroups; ++g) {
    const auto group = static_cast<Group>(g);
    const std::string group_name(name(group));
    JC_ASSIGN_OR_RETURN(const GroupFit fit, fit_group(group, set.groups[g], progress));
    JC_RETURN_IF_ERROR(writer.add_forest("time/" + group_name, fit.time));
    JC_RETURN_IF_ERROR(writer.add_forest("power/" + group_name, fit.power));
    collect(set.groups[g], fit, fit.random, random);
    collect(set.groups[g], fit, fit.unseen_gpu, unseen);
    add_intervals(group, "seen", set.groups[g], fit.random, intervals);
    add_intervals(group, "unseen-gpu", set.groups[g], fit.unseen_gpu, intervals);
    add_gpus(group, set.groups[g], gpus, ranges);
    trust[group_name] = trust_unseen(group);
  }
  add_network_intervals(intervals);
  const Json report = {{"schema", "joulecast.pack-report/1"},
                       {"fitted_on", provenance_json(set)},
                       {"held_out_operations", cells_json(random)},
                       {"held_out_gpus", cells_json(unseen)}};
  JC_RETURN_IF_ERROR(writer.add_table(std::string(pack_names::kCompose), compose_numbers()));
  JC_RETURN_IF_ERROR(writer.add_table(std::string(pack_names::kGpus), gpus));
  JC_RETURN_IF_ERROR(writer.add_table(std::string(pack_names::kRanges), ranges));
  JC_RETURN_IF_ERROR(writer.add_table(std::string(pack_names::kIntervals), intervals));
  JC_RETURN_IF_ERROR(writer.add_table(std::string(pack_names::kTrust), trust));
  JC_RETURN_IF_ERROR(writer.add_json(std::string(pack_names::kReport), report.dump(1)));
  progress("writing " + options.out);
  return writer.write(options.out);
}

}  // namespace joulecast
