// SPDX-License-Identifier: Apache-2.0
#include "analysis/stretch_energy.h"

#include <algorithm>
#include <cmath>

#include "analysis/summary.h"

namespace joulecast {
namespace {

struct Sum {
  Joules energy;
  double squares_j2 = 0, alike_j = 0;  // of its errors: those that are independent, and those that are not
  std::vector<double> each_j;          // of a step, stretch by stretch
  double steps = 0;

  // Of the energy, if another such run scatters as its steps do.
  [[nodiscard]] double scatter_j() const {
    const auto deviation = alike_j > 0 ? std::nullopt : spread(each_j).deviation;
    return deviation.value_or(0) / std::sqrt(static_cast<double>(each_j.size())) * steps;
  }
};

// A stretch no longer than a counter's step has in it what lies around it, and so have all others of its kind: such
// errors do not average out. Edges that come up to a step late are an error of 1 / sqrt(6) there (account.cpp).
constexpr double kOfAStep = 0.4;

Sum sum_of(const std::vector<Phase>& stretches, const std::vector<SourceEnergy>& energies) {
  Sum out;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const SourceEnergy& one = energies[i];
    const auto steps = static_cast<double>(steps_of(stretches[i]));
    out.energy += one.energy;
    out.each_j.push_back(one.energy.value() / steps);
    out.steps += steps;
    const double error = one.standard_error.value();
    if (error < kOfAStep * one.energy.value()) {
      out.squares_j2 += error * error;
    } else {
      out.alike_j += error;
    }
  }
  return out;
}

// By the stretches' own edges, or by those of the whole that they lie in, whichever tells more: what lies between them
// may have drawn anything from nothing to twice the mean, and the rest was theirs.
double error_of(const Sum& sum, const Accountant& accountant, const std::string& device,
                const std::vector<Phase>& stretches, const std::string& source) {
  const double own = std::sqrt(sum.squares_j2 + std::pow(sum.alike_j, 2));
  const auto whole = answer(accountant.account(device, stretches.front().begin, stretches.back().end));
  if (!whole || whole->source != source) return own;
  const double between = (whole->energy - sum.energy).value();
  return std::min(own, std::hypot(whole->standard_error.value(), between / std::sqrt(3.0)));
}

}  // namespace

std::optional<std::vector<SourceEnergy>> energies_of(const Accountant& accountant, const std::string& device,
                                                     const std::vector<Phase>& stretches) {
  std::vector<SourceEnergy> out;
  for (const Phase& stretch : stretches) {
    if (stretch.end <= stretch.begin) return std::nullopt;
    auto energy = answer(accountant.account(device, stretch.begin, stretch.end));
    if (!energy) return std::nullopt;
    out.push_back(*std::move(energy));
  }
  return out;
}

StretchEnergy sum_of_stretches(const Accountant& accountant, const std::string& device,
                               const std::vector<Phase>& stretches, const std::vector<SourceEnergy>& energies) {
  const Sum sum = sum_of(stretches, energies);
  const std::string& source = energies.front().source;
  // What differs from step to step has the source's error in it already.
  const double error = std::max(error_of(sum, accountant, device, stretches, source), sum.scatter_j());
  return {source, sum.energy, Joules{error}};
}

}  // namespace joulecast
