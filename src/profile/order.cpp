// SPDX-License-Identifier: Apache-2.0
#include "profile/order.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

namespace joulecast::profile {
namespace {

// A device of no particular kind: only shares of a network and the order follow from this.
constexpr double kFlopsPerSecond = 1e12, kBytesPerSecond = 1e11, kFloor = 5e-6;

double guessed_s(const PlannedCase& planned) {
  return std::max({planned.flops / kFlopsPerSecond, planned.bytes / kBytesPerSecond, kFloor});
}

// The same on every machine, unlike std::shuffle.
void shuffle(std::vector<std::size_t>& order, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

// The variance that measuring a case takes off the sums of all networks, relative to each one's time.
class Gains {
 public:
  Gains(const Plan& plan, const std::map<std::string, CaseResult>& results, const Expectations& expected) {
    for (const PlannedCase& planned : plan.cases()) {
      const auto at = results.find(planned.id);
      const bool measured = at != results.end() && at->second.measured;
      const Expectation known = measured ? known_of(at->second.timing) : expected_of(planned, expected);
      cases_[planned.id] = {known.time_s, known.uncertainty, 0};
    }
    for (const PlannedNetwork& network : plan.networks()) add(network);
  }

  [[nodiscard]] double of(const std::string& id) const { return cases_.at(id).gain; }
  [[nodiscard]] double time_s(const std::string& id) const { return cases_.at(id).time_s; }

 private:
  struct Known {
    double time_s, uncertainty, gain;
  };

  static Expectation known_of(const CaseTiming& timing) { return {timing.mean_s, timing.error_s / timing.mean_s}; }
  static Expectation expected_of(const PlannedCase& planned, const Expectations& expected) {
    const auto at = expected.find(planned.id);
    return at != expected.end() ? at->second : Expectation{guessed_s(planned), kUnmeasured};
  }

  void add(const PlannedNetwork& network) {
    double sum = 0;
    for (const auto& [id, count] : network.operations) {
      const auto at = cases_.find(id);
      if (at != cases_.end()) sum += at->second.time_s * static_cast<double>(count);
    }
    for (const auto& [id, count] : network.operations) {
      const auto at = cases_.find(id);
      if (at == cases_.end()) continue;
      Known& known = at->second;
      const double share = known.time_s * static_cast<double>(count) / sum;
      known.gain += share * share * known.uncertainty * known.uncertainty;
    }
    // The whole network checks all of its operations' sums at once: as much as its largest share would tell.
    if (const auto whole = cases_.find(network.id); whole != cases_.end()) {
      constexpr double kLikeAnOperationOf = 0.2;
      whole->second.gain +=
          kLikeAnOperationOf * kLikeAnOperationOf * whole->second.uncertainty * whole->second.uncertainty;
    }
  }

  std::map<std::string, Known> cases_;
};

bool is_wanted(const PlannedCase& planned, const std::map<std::string, CaseResult>& results,
               const OrderOptions& options) {
  const auto at = results.find(planned.id);
  if (at == results.end()) return true;
  if (!at->second.measured) return options.retry_failed;
  if (options.retry_shared && !at->second.beside.empty()) return true;
  return at->second.timing.error_s > options.noisy * at->second.timing.mean_s;
}

}  // namespace

std::vector<std::size_t> todo(const Plan& plan, const std::map<std::string, CaseResult>& results,
                              const OrderOptions& options) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < plan.cases().size(); ++i) {
    if (is_wanted(plan.cases()[i], results, options)) order.push_back(i);
  }
  shuffle(order, options.seed);
  if (!options.by_gain) return order;
  const Gains gains(plan, results, options.expected);
  const auto rate = [&](std::size_t i) {
    const std::string& id = plan.cases()[i].id;
    return gains.of(id) / (options.case_s + options.iterations * gains.time_s(id));
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rate(a) > rate(b); });
  return order;
}

}  // namespace joulecast::profile
