// SPDX-License-Identifier: Apache-2.0
#include "fit/random_trees.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/hashes.h"
#include "base/parallel.h"

namespace joulecast {
namespace {

// The standard's engines are the same everywhere, its distributions are not.
class Random {
 public:
  Random(std::uint32_t seed, std::size_t tree) : engine_(mixed((std::uint64_t{seed} << 32U) + tree)) {}

  double unit() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }  // [0, 1)
  std::size_t below(std::size_t end) { return std::min(end - 1, static_cast<std::size_t>(unit() * double(end))); }

 private:
  std::mt19937_64 engine_;
};

// The rows by column, each value beside its rank among the column's different values.
struct Columns {
  std::size_t rows = 0;
  std::vector<std::vector<float>> values;         // [column][row]
  std::vector<std::vector<std::uint32_t>> ranks;  // [column][row]
  std::vector<std::vector<float>> different;      // [column][rank], ascending
};

Columns columns_of(const TrainingSet& set) {
  Columns out;
  out.rows = set.rows();
  for (std::size_t c = 0; c < set.width; ++c) {
    std::vector<float> values(out.rows);
    for (std::size_t r = 0; r < out.rows; ++r) values[r] = set.features[r * set.width + c];
    std::vector<float> different = values;
    std::sort(different.begin(), different.end());
    different.erase(std::unique(different.begin(), different.end()), different.end());
    std::vector<std::uint32_t> ranks(out.rows);
    for (std::size_t r = 0; r < out.rows; ++r) {
      const auto at = std::lower_bound(different.begin(), different.end(), values[r]);
      ranks[r] = static_cast<std::uint32_t>(at - different.begin());
    }
    out.values.push_back(std::move(values));
    out.ranks.push_back(std::move(ranks));
    out.different.push_back(std::move(different));
  }
  return out;
}

// Weight, weighted sum of targets, and rows of one side of a split.
struct Side {
  double weight = 0, sum = 0;
  std::size_t rows = 0;
  void add(const Side& other) {
    weight += other.weight;
    sum += other.sum;
    rows += other.rows;
  }
  [[nodiscard]] Side without(const Side& other) const {
    return {weight - other.weight, sum - other.sum, rows - other.rows};
  }
};

// What a split takes off the squared error, up to a constant of the node.
double worth(const Side& left, const Side& right) {
  return left.sum * left.sum / left.weight + right.sum * right.sum / right.weight;
}

struct Split {
  std::size_t column = 0;
  float threshold = 0;  // smaller values go left
  double worth = -1.0;  // below 0: there is none
};

// Grows one tree.
class Grower {
 public:
  Grower(const TrainingSet& set, const Columns& columns, const RandomTreesOptions& options, std::size_t number)
      : set_(set), columns_(columns), options_(options), random_(options.seed, number), weights_(set.weights.size()) {
    draw_rows();
    order_.resize(set.width);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  Tree run() {
    struct Open {
      std::uint32_t node, depth;
      std::size_t begin, end;
    };
    tree_.nodes.emplace_back();
    std::vector<Open> open{{0, 0, 0, rows_.size()}};
    while (!open.empty()) {
      const Open at = open.back();
      open.pop_back();
      const std::span<std::uint32_t> rows = std::span(rows_).subspan(at.begin, at.end - at.begin);
      const Side all = side_of(rows);
      const Split split = at.depth < options_.depth ? find_split(rows, all) : Split{};
      if (split.worth < 0.0) {
        tree_.nodes[at.node].value = static_cast<float>(all.sum / all.weight);
        continue;
      }
      const std::vector<float>& values = columns_.values[split.column];
      const auto middle =
          std::partition(rows.begin(), rows.end(), [&](std::uint32_t row) { return values[row] < split.threshold; });
      const std::size_t cut = at.begin + static_cast<std::size_t>(middle - rows.begin());
      const auto left = static_cast<std::uint32_t>(tree_.nodes.size());
      tree_.nodes[at.node] = {.value = split.threshold,
                              .feature = static_cast<std::uint32_t>(split.column),
                              .left = left,
                              .right = left + 1};
      tree_.nodes.resize(tree_.nodes.size() + 2);
      open.push_back({left + 1, at.depth + 1, cut, at.end});
      open.push_back({left, at.depth + 1, at.begin, cut});
    }
    return std::move(tree_);
  }

 private:
  void draw_rows() {
    std::vector<std::uint32_t> drawn(columns_.rows, options_.bootstrap ? 0 : 1);
    for (std::size_t i = 0; options_.bootstrap && i < columns_.rows; ++i) ++drawn[random_.below(columns_.rows)];
    for (std::uint32_t row = 0; row < columns_.rows; ++row) {
      weights_[row] = drawn[row] * static_cast<double>(set_.weights[row]);
      if (weights_[row] > 0.0) rows_.push_back(row);
    }
  }

  [[nodiscard]] Side one(std::uint32_t row) const {
    return {weights_[row], weights_[row] * static_cast<double>(set_.targets[row]), 1};
  }
  [[nodiscard]] Side side_of(std::span<const std::uint32_t> rows) const {
    Side out;
    for (const std::uint32_t row : rows) out.add(one(row));
    return out;
  }

  // Over a random choice of columns, in random order: the first of equals is then no column's privilege. Columns that
  // are constant here do not count.
  Split find_split(std::span<const std::uint32_t> rows, const Side& all) {
    Split best;
    const float first = set_.targets[rows.front()];
    if (rows.size() < 2 * options_.min_leaf ||
        std::all_of(rows.begin(), rows.end(), [&](std::uint32_t row) { return set_.targets[row] == first; }))
      return best;
    const auto wanted =
        std::max<std::size_t>(1, static_cast<std::size_t>(options_.columns * static_cast<double>(order_.size())));
    std::size_t seen = 0;
    for (std::size_t i = 0; i < order_.size() && seen < wanted; ++i) {
      std::swap(order_[i], order_[i + random_.below(order_.size() - i)]);
      seen += try_column(order_[i], rows, all, best) ? 1 : 0;
    }
    return best;
  }

  // False for a column that is constant over these rows.
  bool try_column(std::size_t column, std::span<const std::uint32_t> rows, const Side& all, Split& best) {
    if (columns_.different[column].size() < 2) return false;
    const std::vector<float>& values = columns_.values[column];
    float least = values[rows.front()];
    float greatest = least;
    for (const std::uint32_t row : rows) {
      least = std::min(least, values[row]);
      greatest = std::max(greatest, values[row]);
    }
    if (!(least < greatest)) return false;
    if (options_.split == SplitChoice::kRandom) {
      try_random(column, {least, greatest}, rows, all, best);
    } else {
      try_all(column, rows, all, best);
    }
    return true;
  }

  void try_random(std::size_t column, std::pair<float, float> range, std::span<const std::uint32_t> rows,
                  const Side& all, Split& best) {
    const auto [least, greatest] = range;
    const double drawn = double{least} + random_.unit() * (double{greatest} - double{least});
    // At least one row on either side, whatever rounding does.
    const float threshold = std::clamp(static_cast<float>(drawn), std::nextafter(least, greatest), greatest);
    const std::vector<float>& values = columns_.values[column];
    Side left;
    for (const std::uint32_t row : rows) {
      if (values[row] < threshold) left.add(one(row));
    }
    consider(column, threshold, left, all, best);
  }

  // Thresholds half way between neighbouring values. Where there are few different values they are counted, else
  // sorted.
  void try_all(std::size_t column, std::span<const std::uint32_t> rows, const Side& all, Split& best) {
    const std::vector<std::uint32_t>& ranks = columns_.ranks[column];
    const std::vector<float>& different = columns_.different[column];
    runs_.clear();
    if (different.size() <= 4 * rows.size()) {
      counts_.assign(different.size(), Side{});
      for (const std::uint32_t row : rows) counts_[ranks[row]].add(one(row));
      for (std::uint32_t rank = 0; rank < counts_.size(); ++rank) {
        if (counts_[rank].rows > 0) runs_.emplace_back(rank, counts_[rank]);
      }
    } else {
      sorted_.assign(rows.begin(), rows.end());
      std::sort(sorted_.begin(), sorted_.end(), [&](std::uint32_t a, std::uint32_t b) { return ranks[a] < ranks[b]; });
      for (const std::uint32_t row : sorted_) {
        if (runs_.empty() || runs_.back().first != ranks[row]) runs_.emplace_back(ranks[row], Side{});
        runs_.back().second.add(one(row));
      }
    }
    Side left;
    for (std::size_t i = 0; i + 1 < runs_.size(); ++i) {
      left.add(runs_[i].second);
      const float below = different[runs_[i].first];
      const float above = different[runs_[i + 1].first];
      const float middle = below + (above - below) / 2.0F;
      consider(column, middle > below && middle <= above ? middle : above, left, all, best);
    }
  }

  void consider(std::size_t column, float threshold, const Side& left, const Side& all, Split& best) const {
    const Side right = all.without(left);
    if (left.rows < options_.min_leaf || right.rows < options_.min_leaf) return;
    const double found = worth(left, right);
    if (found > best.worth) best = {column, threshold, found};
  }

  const TrainingSet& set_;
  const Columns& columns_;
  const RandomTreesOptions& options_;
  Random random_;
  std::vector<double> weights_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::size_t> order_;
  Tree tree_;
  // Kept between nodes, so that nothing is allocated for each.
  std::vector<Side> counts_;
  std::vector<std::uint32_t> sorted_;
  std::vector<std::pair<std::uint32_t, Side>> runs_;
};

Result<void> check(const TrainingSet& set, const RandomTreesOptions& options) {
  if (set.rows() == 0 || set.width == 0) return invalid("no rows to fit");
  if (options.trees < 1) return invalid("no trees to grow");
  const auto finite = [](float value) { return std::isfinite(value); };
  if (!std::all_of(set.features.begin(), set.features.end(), finite)) return invalid("a feature is no number");
  if (!std::all_of(set.targets.begin(), set.targets.end(), finite)) return invalid("a target is no number");
  if (!std::all_of(set.weights.begin(), set.weights.end(), [](float w) { return std::isfinite(w) && w > 0.0F; }))
    return invalid("a weight is no number above 0");
  return {};
}

}  // namespace

Result<RandomTrees> RandomTrees::grow(const TrainingSet& set, const RandomTreesOptions& options) {
  JC_RETURN_IF_ERROR(check(set, options));
  const Columns columns = columns_of(set);
  RandomTrees out;
  out.trees_.resize(static_cast<std::size_t>(options.trees));
  // Each tree has a seed and a place of its own, so it makes no difference who grows it.
  const auto grow_one = [&](std::size_t i) {
    out.trees_[i] = Grower(set, columns, options, i).run();
    return Result<void>();
  };
  JC_RETURN_IF_ERROR(in_parallel(out.trees_.size(), grow_one, options.threads));
  return out;
}

double RandomTrees::predict(std::span<const float> features) const {
  double sum = 0.0;
  for (const Tree& tree : trees_) {
    const TreeNode* node = tree.nodes.data();
    while (node->left != 0) node = &tree.nodes[features[node->feature] < node->value ? node->left : node->right];
    sum += double{node->value};
  }
  return sum / static_cast<double>(trees_.size());
}

Forest RandomTrees::forest(std::span<const std::string_view> names) const {
  Forest out;
  out.features.assign(names.begin(), names.end());
  out.trees = trees_;
  for (Tree& tree : out.trees) {
    for (TreeNode& node : tree.nodes) {
      if (node.left == 0) node.value /= static_cast<float>(trees_.size());
    }
  }
  return out;
}

}  // namespace joulecast
