// SPDX-License-Identifier: Apache-2.0
// What a pack says of itself: where its rows come from, how it was judged, and what came out. docs/formats/pack.md
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fit/fit.h"
#include "fit/samples.h"
#include "predict/pack/pack.h"

namespace joulecast {

using Json = nlohmann::ordered_json;

// Held-out figures by table, GPU and mode, over all groups together. Primary rows only.
class Cells {
 public:
  void add(const std::vector<Sample>& samples, const HeldOut& held);
  [[nodiscard]] Json json() const;

 private:
  struct Pairs {
    std::vector<double> time, time_found, bound, power, power_found, energy, energy_found;
  };
  std::map<std::string, Pairs> cells_;
};

// "tables": the layouts with used rows; "sources": all of them, with files, publishers and reasons.
Json sources_json(const std::map<std::string, SourceRows>& sources);

// Rows, GPUs, features and trees of a group. `forests`: has its models.
Result<Json> group_json(Group group, const std::vector<Sample>& samples, const Pack& forests);

}  // namespace joulecast
