// SPDX-License-Identifier: Apache-2.0
// What a pack says of itself: where its rows come from, how it was judged, and what came out. docs/formats/pack.md
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fit/fit.h"
#include "fit/samples.h"
#include "fit/spread.h"
#include "predict/pack/pack.h"

namespace joulecast {

using Json = nlohmann::ordered_json;

// What the intervals around held-out predictions are made of: bounds are value * exp(+-factor * spread).
struct Bounds {
  double time, power, energy;  // factors
  const HeldOutSpread& spread;
};

// Held-out figures by table, GPU and mode, over all groups together. Primary rows only.
class Cells {
 public:
  void add(const std::vector<Sample>& samples, const HeldOut& held, const Bounds& bounds);
  [[nodiscard]] Json json() const;

 private:
  struct Pairs {
    std::vector<double> measured, found, half_width;  // the last as a logarithm
    void add(double value, double predicted, double factor, const std::vector<double>& spread, std::size_t row);
    [[nodiscard]] Json json() const;
  };
  struct Cell {
    Pairs time, power, energy;
    std::vector<double> bound;
  };
  std::map<std::string, Cell> cells_;
};

// "tables": the layouts with used rows; "sources": all of them, with files, publishers and reasons.
Json sources_json(const std::map<std::string, SourceRows>& sources);

// Rows, GPUs, features and trees of a group. `forests`: has its models.
Result<Json> group_json(Group group, const std::vector<Sample>& samples, const Pack& forests);

}  // namespace joulecast
