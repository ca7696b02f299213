// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_bootstrap.h"

#include <algorithm>
#include <random>

namespace joulecast {
namespace {

constexpr std::size_t kDraws = 2000;

bool same_blocks(const BootstrapInput& input) {
  return std::all_of(input.blocks.begin(), input.blocks.end(),
                     [&](const std::vector<std::size_t>& blocks) { return blocks == input.blocks.front(); });
}

std::vector<std::size_t> draw(std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> out(count);
  for (std::size_t& index : out) index = random() % count;  // counts are small: the remainder's bias is none
  return out;
}

double mean_of(const std::vector<double>& values, const std::vector<std::size_t>& drawn) {
  double sum = 0;
  for (const std::size_t index : drawn) sum += values[index];
  return sum / static_cast<double>(drawn.size());
}

}  // namespace

std::vector<double> winning_shares(const BootstrapInput& input) {
  const auto few = [](const std::vector<double>& values) { return values.size() < kLeastRunsToDraw; };
  if (input.values.empty() || std::any_of(input.values.begin(), input.values.end(), few)) return {};
  const bool together = same_blocks(input);
  std::mt19937_64 random(1);
  std::vector<std::size_t> wins(input.values.size(), 0);
  for (std::size_t i = 0; i < kDraws; ++i) {
    std::vector<std::size_t> drawn = draw(input.values.front().size(), random);
    std::vector<double> means;
    means.reserve(input.values.size());
    for (const std::vector<double>& values : input.values) {
      if (!together && !means.empty()) drawn = draw(values.size(), random);
      means.push_back(mean_of(values, drawn));
    }
    ++wins[static_cast<std::size_t>(std::min_element(means.begin(), means.end()) - means.begin())];
  }
  std::vector<double> shares;
  shares.reserve(wins.size());
  for (const std::size_t count : wins) shares.push_back(static_cast<double>(count) / static_cast<double>(kDraws));
  return shares;
}

}  // namespace joulecast
