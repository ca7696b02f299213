// SPDX-License-Identifier: Apache-2.0
#include "report/phase_bands.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace joulecast::report {
namespace {

// Neighbours of one name together, `each` at a time.
std::vector<Stretch> joined(const std::vector<Stretch>& of_one_name, std::size_t each) {
  std::vector<Stretch> out;
  for (std::size_t i = 0; i < of_one_name.size(); ++i) {
    const Stretch& one = of_one_name[i];
    if (i % each == 0) {
      out.push_back(one);
      continue;
    }
    out.back().end_s = std::max(out.back().end_s, one.end_s);
    ++out.back().count;
  }
  return out;
}

}  // namespace

std::vector<Stretch> stretches(const RunView& run, std::size_t most) {
  std::map<std::string, std::vector<Stretch>> by_name;
  for (const Phase& phase : run.phases.phases) {
    by_name[phase.name].push_back({phase.name, run.seconds(phase.begin), run.seconds(phase.end)});
  }
  std::vector<Stretch> out;
  for (const auto& [name, own] : by_name) {
    const std::vector<Stretch> few = joined(own, own.size() / (most + 1) + 1);
    out.insert(out.end(), few.begin(), few.end());
  }
  // Of two that begin together the longer one is around the other.
  std::stable_sort(out.begin(), out.end(), [](const Stretch& a, const Stretch& b) {
    return a.begin_s != b.begin_s ? a.begin_s < b.begin_s : a.end_s > b.end_s;
  });
  return out;
}

Json stretch_block(const std::vector<Stretch>& stretches) {
  Json names = Json::array();
  Json begins = Json::array();
  Json ends = Json::array();
  Json counts = Json::array();
  Json odd = Json::array();
  std::map<std::string, std::size_t> seen;
  for (const Stretch& one : stretches) {
    names.push_back(one.name);
    begins.push_back(one.begin_s);
    ends.push_back(one.end_s);
    counts.push_back(one.count);
    odd.push_back(seen[one.name]++ % 2 == 1);
  }
  return Json::array({block(Json::object(), {{"name", std::move(names)},
                                             {"begin_s", std::move(begins)},
                                             {"end_s", std::move(ends)},
                                             {"count", std::move(counts)},
                                             {"odd", std::move(odd)}})});
}

Bands bands(const std::vector<Stretch>& all) {
  constexpr std::size_t kMostOfAName = 60;
  constexpr std::size_t kMostNames = 6;
  constexpr double kEverything = 0.9;
  double begin = 0;
  double end = 0;
  std::map<std::string, std::size_t> counts;
  for (const Stretch& one : all) {
    begin = std::min(begin, one.begin_s);
    end = std::max(end, one.end_s);
    ++counts[one.name];
  }
  Bands out;
  std::set<std::string> names, left_out;
  for (const Stretch& one : all) {
    const bool everything = one.end_s - one.begin_s > kEverything * (end - begin);
    if (everything || one.count > 1 || counts[one.name] > kMostOfAName) continue;
    if (!names.contains(one.name) && names.size() == kMostNames) {
      left_out.insert(one.name);
      continue;
    }
    names.insert(one.name);
    out.stretches.push_back(one);
  }
  out.names_left_out = left_out.size();
  return out;
}

}  // namespace joulecast::report
