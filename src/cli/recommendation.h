// SPDX-License-Identifier: Apache-2.0
// What the verb recommend and the C interface do: the GPU, batch and setting at which a network does best.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/prediction.h"

namespace joulecast::cli {

// In the words of the options of `joulecast recommend`.
struct RecommendationRequest {
  PredictionRequest prediction;            // its settings are of no account, but what was measured is
  std::string best = "energy";             // by "energy", "time" or "edp"; of one example each
  std::string choose = "limit";            // among "limit"s, "clock"s, "both" or "none"
  std::optional<double> within_s;          // a batch may take as long
  std::optional<double> slowdown_percent;  // than at the default setting of the same GPU with the same batch
};

// A GPU with a batch, at its best setting and at the default one.
struct Candidate {
  std::int64_t batch = 1;
  Prediction best, usual;
  bool as_usual = false;  // what was chosen is not likely to save 2 %
  bool floored = false;   // as of SettingChoice

  // `best` over `usual`, of one quantity.
  [[nodiscard]] double time_ratio() const { return best.time.value / usual.time.value; }
  [[nodiscard]] double energy_ratio() const { return best.energy.value / usual.energy.value; }
};

struct Recommendation {
  std::string model, best;
  std::vector<Candidate> candidates;  // best first
  std::vector<std::string> left_out;  // sentences for people: what cannot be, or not within the bounds
  std::set<std::string> assumed;      // the same, of the network's open dimensions

  // {"schema":"joulecast.recommendation/1", ...}
  [[nodiscard]] std::string json() const;
  // A table of 80 columns, at most `rows` candidates; 0: all. Then notes.
  [[nodiscard]] std::string text(std::size_t rows) const;

 private:
  [[nodiscard]] std::size_t shown(std::size_t rows) const;
  // What was assumed, and what is to be known of the first `rows` candidates.
  [[nodiscard]] std::set<std::string> notes(std::size_t rows) const;
};

// Boards that lack the memory and settings beyond the bounds are left out. Fails as prepared() does, and where nothing
// is left.
tl::expected<Recommendation, Failure> recommended(const RecommendationRequest& request, const std::string& model,
                                                  const Graph& network, const PredictionContext& context);

}  // namespace joulecast::cli
