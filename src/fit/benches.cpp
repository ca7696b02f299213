// SPDX-License-Identifier: Apache-2.0
#include "fit/benches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "predict/pack_names.h"

namespace joulecast {
namespace {

// Fewer rows of one GPU and kind of work tell no model what the GPU is like.
constexpr int kEnough = 20;

struct MeasuredRows {
  int modules = 0, loops = 0;

  [[nodiscard]] bool enough() const { return std::max(modules, loops) >= kEnough; }
  [[nodiscard]] Bench answers() const { return modules >= kEnough || loops == 0 ? Bench::kModules : Bench::kLoops; }
};

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

// By seen_key() and asked_key().
std::map<std::string, MeasuredRows> measured_rows(const std::vector<Sample>& samples) {
  std::map<std::string, MeasuredRows> out;
  for (const Sample& s : samples) {
    const auto add = [&](MeasuredRows& rows) { ++(s.situation.bench() == Bench::kLoops ? rows.loops : rows.modules); };
    add(out[seen_key(s)]);
    if (arithmetic_of(s.work)) add(out[asked_key(s)]);
  }
  return out;
}

}  // namespace

std::vector<Bench> answering_benches(const std::vector<Sample>& samples) {
  const std::map<std::string, MeasuredRows> rows = measured_rows(samples);
  std::vector<Bench> out;
  out.reserve(samples.size());
  for (const Sample& s : samples) out.push_back(rows.at(asked_key(s)).answers());
  return out;
}

std::vector<std::string> measured_keys(const std::vector<Sample>& samples) {
  const std::map<std::string, MeasuredRows> measured = measured_rows(samples);
  std::set<std::string> generations;
  for (const Sample& s : samples) {
    if (s.device.capability > 0.0 && measured.at(seen_key(s)).enough())
      generations.insert(pack_names::generation(name(group_of(s.work)), s.device.capability));
  }
  std::vector<std::string> out(generations.begin(), generations.end());
  for (const auto& [key, rows] : measured) {
    if (!rows.enough()) continue;
    const std::size_t word = key.find('/');
    const std::string_view loops = rows.answers() == Bench::kLoops ? "-loops" : "";
    out.push_back(fmt::format("{}{}{}", key.substr(0, word), loops, key.substr(word)));
  }
  return out;
}

}  // namespace joulecast
