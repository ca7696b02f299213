// SPDX-License-Identifier: Apache-2.0
#include "fit/network_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <utility>

#include "fit/usable.h"
#include "predict/layer_graph.h"
#include "predict/measured_work.h"
#include "predict/network_parts.h"

namespace joulecast {
namespace {

// A network's error is that of many operations together: half of what one is off.
constexpr double kScatter = 0.5;

// Beyond it no correction is the reason.
constexpr double kFar = 100;

Result<void> check_learnable(const MeasuredNetwork& row) {
  if (!row.readings.time) return unsupported("a network without its time");
  if (is_layer(row)) return unsupported("a single layer in TensorFlow 1");
  if (row.kernels_alone) return unsupported("the time of its kernels alone");
  return check_usable(row.at, row.from);
}

}  // namespace

Result<void> NetworkRows::add(const MeasuredNetwork& row) {
  JC_RETURN_IF_ERROR(check_learnable(row));
  if (!has_graphs_) return unsupported("a network: --graphs DIR says where their graphs are");
  JC_ASSIGN_OR_RETURN(const Workload load, graphs_.workload(row));
  JC_ASSIGN_OR_RETURN(const Gpu* gpu, catalogue_.find(row.at.gpu));
  Estimator::Trust trust = estimator_.trust(gpu->id);
  trust.correction.reset();
  const MeasuredHost host = measured_host(row, *gpu);
  const NetworkPlace place{.setting = {.sm_clock = {}, .power_limit = row.at.power_limit},
                           .host = host.machine,
                           .input_copy = host.input_copy};
  JC_ASSIGN_OR_RETURN(const NetworkParts network, network_parts(load, *gpu, place, {estimator_, trust, compose_}));
  if (!(network.whole.time > 0.0)) return unsupported("a network of nothing");
  const double off = row.readings.time->value() / network.whole.time;
  if (off > kFar || off < 1.0 / kFar)
    return unsupported(fmt::format("the time is {:.2g} times what is predicted: is it of a step, in seconds?", off));
  Deviation found{.off = std::log(off), .terms = correction_terms(network, row.at.mode, compose_.sharpness)};
  found.scatter = kScatter;
  found.way = network_way(load.options);
  rows_[std::string(gpu->id)].push_back({row.model, std::move(found)});
  return {};
}

std::map<std::string, std::vector<Deviation>> NetworkRows::deviations() const {
  std::map<std::string, std::vector<Deviation>> out;
  for (const auto& [gpu, rows] : rows_) {
    std::map<std::string, std::map<std::string, double>> counts;  // by way and model
    std::map<std::string, std::size_t> subjects;
    for (const Row& row : rows) {
      ++counts[row.deviation.way][row.model];
      subjects.emplace(row.model, subjects.size() + 1);
    }
    const double each_way = static_cast<double>(subjects.size()) / static_cast<double>(counts.size());
    for (const Row& row : rows) {
      const auto& models = counts.at(row.deviation.way);
      Deviation one = row.deviation;
      one.weight = each_way / (static_cast<double>(models.size()) * models.at(row.model));
      one.subject = subjects.at(row.model);
      out[gpu].push_back(one);
    }
  }
  return out;
}

}  // namespace joulecast
