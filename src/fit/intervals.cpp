// SPDX-License-Identifier: Apache-2.0
#include "fit/intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "dataset/metrics.h"

namespace joulecast {
namespace {

struct Scores {
  std::vector<double> time, power, energy;
};

// Of the samples that `which` names: |log error| in units of the spread.
Scores scores_of(const std::vector<Sample>& samples, const std::vector<std::size_t>& which, const HeldOut& held,
                 const HeldOutSpread& spread) {
  Scores out;
  const auto add = [](std::vector<double>& scores, double measured, double found, const std::vector<double>& spreads,
                      std::size_t i) {
    if (measured > 0.0 && found > 0.0)
      scores.push_back(std::abs(std::log(found / measured)) / (spreads.empty() ? 1.0 : spreads[i]));
  };
  for (const std::size_t i : which) {
    const Sample& s = samples[i];
    if (!s.primary) continue;
    add(out.time, s.time, held.time[i], spread.time, i);
    if (!s.power) continue;
    add(out.power, *s.power, held.power[i], spread.power, i);
    add(out.energy, *s.power * s.time, held.power[i] * held.time[i], spread.energy, i);
  }
  return out;
}

// Split conformal: the factor that holds the measured value in `kLevel` of the held-out cases, as a logarithm.
std::optional<double> conformal(const std::vector<double>& scores) {
  constexpr double kLevel = 0.9;
  const auto n = static_cast<double>(scores.size());
  return quantile(scores, std::min(1.0, kLevel * (n + 1.0) / std::max(n, 1.0)));
}

std::string key(Group group, std::string_view split, std::string_view what) {
  return fmt::format("operation/{}/{}/{}", name(group), split, what);
}

// Of these rows, or of `all` where they do not have the quantity.
void add_factors(Group group, std::string_view split, const Scores& scores, const Scores& all, Numbers& factors) {
  const auto add = [&](std::string_view what, const std::vector<double>& own, const std::vector<double>& any) {
    constexpr double kUnknown = 1.0;
    const auto factor = conformal(own.empty() ? any : own);
    factors.try_emplace(key(group, split, what), factor.value_or(kUnknown));
  };
  add("time", scores.time, all.time);
  add("power", scores.power, all.power);
  add("energy", scores.energy, all.energy);
}

int generation_of(const Sample& sample) {
  return static_cast<int>(sample.device.capability);
}

// By sample: whether another GPU of its generation was measured.
std::vector<bool> have_relatives(const std::vector<Sample>& samples) {
  std::map<int, std::set<std::string_view>> gpus;
  for (const Sample& s : samples) gpus[generation_of(s)].insert(s.gpu->id);
  std::vector<bool> out;
  out.reserve(samples.size());
  for (const Sample& s : samples) out.push_back(generation_of(s) > 0 && gpus[generation_of(s)].size() > 1);
  return out;
}

}  // namespace

void add_seen_factors(Group group, const std::vector<Sample>& samples, const HeldOut& held, const HeldOutSpread& spread,
                      Numbers& factors) {
  std::vector<std::size_t> all(samples.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Scores scores = scores_of(samples, all, held, spread);
  add_factors(group, "seen", scores, scores, factors);
}

void add_unseen_factors(Group group, const std::vector<Sample>& samples, const HeldOut& held, Numbers& factors) {
  const auto given = [&](const char* what) { return factors.contains(key(group, "unseen-gpu", what)); };
  if (given("time") && given("power") && given("energy")) return;
  const std::vector<bool> related = have_relatives(samples);
  std::vector<std::size_t> all;
  std::vector<std::size_t> relatives;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    all.push_back(i);
    (related[i] ? relatives : others).push_back(i);
  }
  const auto of = [&](const std::vector<std::size_t>& rows) { return scores_of(samples, rows, held, {}); };
  const Scores any = of(all);
  add_factors(group, "unseen-gpu", of(others), any, factors);
  if (!relatives.empty()) add_factors(group, "relative", of(relatives), any, factors);
}

void borrow_unseen_factors(Group group, Numbers& factors) {
  for (const char* split : {"unseen-gpu", "relative"}) {
    for (const char* what : {"time", "power", "energy"}) {
      const auto found = factors.find(key(Group::kGemmTensor, split, what));
      if (found != factors.end()) factors.try_emplace(key(group, split, what), found->second);
    }
  }
}

HeldOutSpread unseen_factors_of(Group group, const std::vector<Sample>& samples, const Numbers& factors) {
  const std::vector<bool> related = have_relatives(samples);
  HeldOutSpread out;
  const std::pair<const char*, std::vector<double>*> all[] = {
      {"time", &out.time}, {"power", &out.power}, {"energy", &out.energy}};
  for (const auto& [what, values] : all) {
    const double unseen = factors.at(key(group, "unseen-gpu", what));
    const auto told = factors.find(key(group, "relative", what));
    const double relative = told != factors.end() ? told->second : unseen;
    for (const bool is_related : related) values->push_back(is_related ? relative : unseen);
  }
  return out;
}

}  // namespace joulecast
