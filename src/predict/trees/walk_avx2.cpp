// SPDX-License-Identifier: Apache-2.0
#include "predict/trees/layout.h"
#include "predict/trees/walk.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "predict/trees/avx2.h"

namespace joulecast {
namespace {

using namespace forest_layout;

// Two groups of eight values a feature: see layout.h.
using Block = std::array<float, kMaxForestFeatures * 2 * kLanes>;

// Eight features of eight rows, as two groups each.
JC_AVX2_INLINE void store_features(const __m256 (&r)[kLanes], float* at) {
  const __m256 infinity = _mm256_set1_ps(std::numeric_limits<float>::infinity());
  const __m256 minus_infinity = _mm256_set1_ps(-std::numeric_limits<float>::infinity());
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 8; ++i) {
    const __m256 missing = _mm256_cmp_ps(r[i], r[i], _CMP_UNORD_Q);
    _mm256_store_ps(at + i * 2 * kLanes, _mm256_blendv_ps(r[i], minus_infinity, missing));
    _mm256_store_ps(at + i * 2 * kLanes + kMissingRight, _mm256_blendv_ps(r[i], infinity, missing));
  }
}

// Rows first .. first + 7 into the block; rows past the end repeat the last one, features past the end are zero.
JC_AVX2_INLINE void load_block(const WalkInput& forest, std::span<const float> features, std::size_t first,
                               std::size_t row_count, float* block) {
  const EightRows rows = eight_rows(features, first, row_count);
  __m256 x[kLanes];
  std::size_t feature = 0;
  for (; feature + kLanes <= forest.feature_count; feature += kLanes) {
    load_transposed(rows, feature, x);
    store_features(x, block + feature * 2 * kLanes);
  }
  if (feature == forest.feature_count) return;
  load_transposed(rows, feature, forest.feature_count, x);
  store_features(x, block + feature * 2 * kLanes);
}

// 2 node + 1 where not x < threshold: the comparison gives -1 for "right". x is never NaN.
JC_AVX2_INLINE __m256i child(__m256i node, __m256 x, __m256 threshold) {
  const __m256i right = _mm256_castps_si256(_mm256_cmp_ps(x, threshold, _CMP_NLT_UQ));
  return _mm256_sub_epi32(_mm256_add_epi32(node, node), right);
}

// The outputs of one tree for the eight rows of a block. Levels 1 and 2 look their nodes up in one register of eight
// (numbers 2..7), level 3 in the next eight (8..15: the lookup takes the low three bits); deeper levels gather.
template <std::uint32_t kDepth>
JC_AVX2_INLINE __m256 walk_tree(const float* block, const float* values, __m256i lanes) {
  const auto* const slots = reinterpret_cast<const int*>(values + value_words(kDepth));
  __m256 x = _mm256_load_ps(block + static_cast<std::uint32_t>(slots[1]));
  __m256i node = child(_mm256_set1_epi32(1), x, _mm256_broadcast_ss(values + 1));
  __m256i slot = node;
  __m256 threshold = x;
#pragma GCC unroll 16
  for (std::uint32_t level = 1; level < kDepth; ++level) {
    if (level < 4) {
      const std::size_t first = level < 3 ? 0 : 8;
      slot = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(slots + first)), node);
      threshold = _mm256_permutevar8x32_ps(_mm256_loadu_ps(values + first), node);
    } else {
      slot = gather(slots, node, slot);
      threshold = gather(values, node, threshold);
    }
    x = gather(block, _mm256_add_epi32(slot, lanes), x);
    node = child(node, x, threshold);
  }
  return gather(values, node, x);
}

using Place = ForestView::TreePlace;

// Adds the trees from `place` on, as far as they are kDepth deep, one after the other; returns the place after them.
template <std::uint32_t kDepth>
JC_AVX2 const Place* add_trees(const float* block, const float* words, const Place* place, const Place* end,
                               float* sums) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  __m256 sum = _mm256_load_ps(sums);
  do {
    sum = _mm256_add_ps(sum, walk_tree<kDepth>(block, words + place->first_word, lanes));
    ++place;
  } while (place != end && place->depth == kDepth);
  _mm256_store_ps(sums, sum);
  return place;
}

using AddTrees = const Place* (*)(const float*, const float*, const Place*, const Place*, float*);

template <std::uint32_t... kDepths>
constexpr auto make_walks(std::integer_sequence<std::uint32_t, kDepths...>) {
  return std::array<AddTrees, sizeof...(kDepths)>{&add_trees<kMinStoredDepth + kDepths>...};
}
// One for each depth, kMinStoredDepth first.
constexpr auto kWalks = make_walks(std::make_integer_sequence<std::uint32_t, kMaxTreeDepth - kMinStoredDepth + 1>());

// The first words and the depths of eight trees; past the end a tree of no depth.
struct EightPlaces {
  __m256i first_word, depth;
};
JC_AVX2_INLINE EightPlaces load_places(const Place* places, std::size_t count) {
  alignas(32) std::array<Place, kLanes> eight{};
  std::copy_n(places, std::min<std::size_t>(count, kLanes), eight.begin());
  const auto* const at = reinterpret_cast<const float*>(eight.data());
  const __m256 low = _mm256_load_ps(at);
  const __m256 high = _mm256_load_ps(at + kLanes);
  const __m256i words = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0x88));
  const __m256i depths = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0xdd));
  return {_mm256_permute4x64_epi64(words, 0xd8), _mm256_permute4x64_epi64(depths, 0xd8)};
}

// The outputs of eight trees for one row of a block. A lane whose tree has ended waits for the others.
JC_AVX2_INLINE __m256 walk_eight(const float* block, const float* words, const EightPlaces& trees, __m256i row) {
  const __m256i slots = _mm256_add_epi32(trees.first_word, _mm256_sllv_epi32(_mm256_set1_epi32(2), trees.depth));
  const auto* const integers = reinterpret_cast<const int*>(words);
  __m256i node = _mm256_set1_epi32(1);
  for (int level = 0;; ++level) {
    const __m256i under_way = _mm256_cmpgt_epi32(trees.depth, _mm256_set1_epi32(level));
    if (_mm256_testz_si256(under_way, under_way) != 0) break;
    const __m256 mask = _mm256_castsi256_ps(under_way);
    const __m256i slot = _mm256_mask_i32gather_epi32(row, integers, _mm256_add_epi32(slots, node), under_way, 4);
    const __m256i value = _mm256_add_epi32(trees.first_word, node);
    const __m256 threshold = _mm256_mask_i32gather_ps(mask, words, value, mask, 4);
    const __m256 x = _mm256_mask_i32gather_ps(mask, block, _mm256_add_epi32(slot, row), mask, 4);
    node = _mm256_blendv_epi8(node, child(node, x, threshold), under_way);
  }
  return gather(words, _mm256_add_epi32(trees.first_word, node), _mm256_setzero_ps());
}

// All trees for one row of a block. Added one after the other, as the other walks do: the same bits.
JC_AVX2 float walk_row(const WalkInput& forest, const float* block, std::size_t row) {
  const auto* const words = reinterpret_cast<const float*>(forest.words.data());
  const __m256i lane = _mm256_set1_epi32(static_cast<int>(row));
  float sum = forest.base;
  alignas(32) std::array<float, kLanes> outputs;
  for (std::size_t tree = 0; tree < forest.trees.size(); tree += kLanes) {
    const std::size_t left = forest.trees.size() - tree;
    _mm256_store_ps(outputs.data(), walk_eight(block, words, load_places(&forest.trees[tree], left), lane));
    for (std::size_t i = 0; i < std::min<std::size_t>(left, kLanes); ++i) sum += outputs[i];
  }
  return sum;
}

// So few rows of a block are walked through faster one by one, eight trees at a time.
constexpr std::size_t kFewRows = 3;

}  // namespace

bool available(TreeWalk walk) {
  return walk == TreeWalk::kPortable || static_cast<bool>(__builtin_cpu_supports("avx2"));
}

JC_AVX2 void walk_avx2(const WalkInput& forest, std::span<const float> features, std::span<float> out) {
  alignas(32) Block block;
  alignas(32) std::array<float, kLanes> sums;
  const auto* const words = reinterpret_cast<const float*>(forest.words.data());
  for (std::size_t row = 0; row < out.size(); row += kLanes) {
    load_block(forest, features, row, out.size(), block.data());
    if (out.size() - row <= kFewRows) {
      for (std::size_t i = row; i < out.size(); ++i) out[i] = walk_row(forest, block.data(), i - row);
      return;
    }
    sums.fill(forest.base);
    const Place* place = forest.trees.data();
    const Place* const end = place + forest.trees.size();
    while (place != end) {
      place = kWalks[place->depth - kMinStoredDepth](block.data(), words, place, end, sums.data());
    }
    std::copy_n(sums.begin(), std::min<std::size_t>(kLanes, out.size() - row),
                out.begin() + static_cast<std::ptrdiff_t>(row));
  }
}

}  // namespace joulecast

#else

namespace joulecast {

bool available(TreeWalk walk) {
  return walk == TreeWalk::kPortable;
}
void walk_avx2(const WalkInput& forest, std::span<const float> features, std::span<float> out) {
  walk_portable(forest, features, out);
}

}  // namespace joulecast

#endif
