// SPDX-License-Identifier: Apache-2.0
#include "fit/benches.h"

#include <fmt/format.h>

#include <algorithm>

namespace joulecast {
namespace {

constexpr int kEnough = 20;

std::string key_of(std::string_view what, const Sample& sample) {
  return fmt::format("{}/{}", what, sample.gpu->id);
}
std::string seen_key(const Sample& sample) {
  return key_of(fmt::format("seen/{}", name(group_of(sample.work))), sample);
}
// Of what the estimator asks for such work.
std::string asked_key(const Sample& sample) {
  const auto math = arithmetic_of(sample.work);
  if (!math) return seen_key(sample);
  return key_of(fmt::format("arithmetic/{}/{}", name(group_of(sample.work)), name(*math)), sample);
}

}  // namespace

bool MeasuredRows::enough() const {
  return std::max(modules, loops) >= kEnough;
}

Bench MeasuredRows::answers() const {
  return modules >= kEnough || loops == 0 ? Bench::kModules : Bench::kLoops;
}

MeasuredRowsByKey measured_rows(const std::vector<Sample>& samples) {
  MeasuredRowsByKey out;
  for (const Sample& s : samples) {
    const auto add = [&](MeasuredRows& rows) { ++(s.situation.bench() == Bench::kLoops ? rows.loops : rows.modules); };
    add(out[seen_key(s)]);
    if (arithmetic_of(s.work)) add(out[asked_key(s)]);
  }
  return out;
}

std::vector<Bench> answering_benches(const std::vector<Sample>& samples) {
  const MeasuredRowsByKey rows = measured_rows(samples);
  std::vector<Bench> out;
  out.reserve(samples.size());
  for (const Sample& s : samples) out.push_back(rows.at(asked_key(s)).answers());
  return out;
}

std::vector<std::string> measured_keys(const std::vector<Sample>& samples) {
  std::vector<std::string> out;
  for (const auto& [key, rows] : measured_rows(samples)) {
    if (!rows.enough()) continue;
    const std::size_t word = key.find('/');
    const std::string_view loops = rows.answers() == Bench::kLoops ? "-loops" : "";
    out.push_back(fmt::format("{}{}{}", key.substr(0, word), loops, key.substr(word)));
  }
  return out;
}

}  // namespace joulecast
