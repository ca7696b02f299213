// SPDX-License-Identifier: Apache-2.0
#include "predict/trees/walk.h"

#include <bit>
#include <cmath>

#include "predict/trees/layout.h"

namespace joulecast {

void walk_portable(const WalkInput& forest, std::span<const float> features, std::span<float> out) {
  using namespace forest_layout;
  const std::size_t columns = features.size() / out.size();
  for (std::size_t row = 0; row < out.size(); ++row) {
    const auto x = features.subspan(row * columns, forest.feature_count);
    float sum = forest.base;
    for (const auto& place : forest.trees) {
      const auto values = forest.words.subspan(place.first_word, value_words(place.depth));
      const auto slots = forest.words.subspan(place.first_word + values.size(), slot_words(place.depth));
      std::size_t node = 1;
      while (node < slots.size()) {
        const float feature = x[slot_feature(slots[node])];
        const bool missing_right = (slots[node] & kMissingRight) != 0;
        const bool right = std::isnan(feature) ? missing_right : !(feature < std::bit_cast<float>(values[node]));
        node = 2 * node + (right ? 1 : 0);
      }
      sum += std::bit_cast<float>(values[node]);
    }
    out[row] = sum;
  }
}

}  // namespace joulecast
