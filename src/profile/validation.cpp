// SPDX-License-Identifier: Apache-2.0
#include "profile/validation.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace joulecast::profile {
namespace {

using Results = std::map<std::string, CaseResult>;

const CaseResult* measured(const Results& results, const std::string& id) {
  const auto at = results.find(id);
  return at != results.end() && at->second.measured ? &at->second : nullptr;
}

struct Sums {
  double time = 0, time_variance = 0, host = 0, energy = 0, energy_variance = 0;
  bool all_energy = true;
  std::size_t added = 0, missing = 0;

  void add(const CaseResult& one, double count) {
    ++added;
    time += count * one.timing.mean_s;
    time_variance += std::pow(count * one.timing.error_s, 2);
    host += count * host_s(one.timing);
    all_energy = all_energy && one.power.has_value();
    if (!one.power) return;
    energy += count * one.power->energy_j;
    energy_variance += std::pow(count * one.power->energy_error_j, 2);
  }

  // What the host takes to issue an iteration; on a processor that is the work itself.
  static double host_s(const CaseTiming& timing) {
    double host = 0, iterations = 0;
    for (const TimedWindow& window : timing.windows) {
      host += window.host_s;
      iterations += static_cast<double>(window.iterations);
    }
    return timing.windows.front().device_s ? host / iterations : timing.mean_s;
  }
};

std::optional<NetworkCheck> check(const PlannedNetwork& network, const Results& results) {
  const CaseResult* whole = measured(results, network.id);
  if (whole == nullptr) return std::nullopt;
  Sums sums;
  for (const auto& [id, count] : network.operations) {
    if (const CaseResult* one = measured(results, id)) {
      sums.add(*one, static_cast<double>(count));
    } else {
      ++sums.missing;
    }
  }
  if (sums.added == 0) return std::nullopt;
  NetworkCheck out{
      network.name, network.batch, network.mode, network.precision, network.settings, {}, {}, 0, {}, {}, 0};
  out.whole_s = {whole->timing.mean_s, whole->timing.error_s};
  out.sum_s = {sums.time, std::sqrt(sums.time_variance)};
  out.composed_s = std::max(sums.time, sums.host);
  out.missing = sums.missing + network.left_out.size();
  if (sums.all_energy && whole->power) {
    out.whole_j = ValueWithError{whole->power->energy_j, whole->power->energy_error_j};
    out.sum_j = ValueWithError{sums.energy, std::sqrt(sums.energy_variance)};
  }
  return out;
}

}  // namespace

Validation validate(const Plan& plan, const Results& results) {
  Validation out;
  double sum = 0, composed = 0;
  std::set<std::string> left_out;
  for (std::size_t i = 0; i < plan.networks().size(); ++i) {
    const PlannedNetwork& network = plan.networks()[i];
    const auto one = check(network, results);
    if (!one) {
      if (left_out.insert(network.id).second)
        (measured(results, network.id) != nullptr ? out.without_operations : out.unmeasured).push_back(i);
      continue;
    }
    out.networks.push_back(*one);
    if (one->missing > 0) continue;
    ++out.complete;
    sum += std::abs(one->sum_s.value / one->whole_s.value - 1);
    composed += std::abs(one->composed_s / one->whole_s.value - 1);
  }
  if (out.complete > 0) {
    out.mean_absolute_error = sum / static_cast<double>(out.complete);
    out.mean_absolute_composed = composed / static_cast<double>(out.complete);
  }
  return out;
}

}  // namespace joulecast::profile
