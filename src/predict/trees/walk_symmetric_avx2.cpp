// SPDX-License-Identifier: Apache-2.0
#include "predict/trees/symmetric.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "predict/trees/avx2.h"
#include "predict/trees/layout.h"

namespace joulecast {
namespace {

using namespace forest_layout;

constexpr std::size_t kBlocks = kRowBytes / kLanes;  // of eight rows each

// A byte a row, kRowBytes a feature.
using Bytes = std::array<std::int8_t, kMaxForestFeatures * kRowBytes>;

// The numbers below 256 of all blocks into bytes less 128; those of blocks without rows do not matter.
template <std::size_t kUsed>
JC_AVX2_INLINE void store_bytes(const __m256i (&numbers)[kUsed], std::int8_t* at) {
  constexpr std::size_t kLast = kUsed - 1;
  const __m256i low = _mm256_packus_epi32(numbers[0], numbers[std::min<std::size_t>(1, kLast)]);
  const __m256i high =
      _mm256_packus_epi32(numbers[std::min<std::size_t>(2, kLast)], numbers[std::min<std::size_t>(3, kLast)]);
  // Packed by halves of a register: the first four of each block, then the last four.
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
  const __m256i biased = _mm256_xor_si256(bytes, _mm256_set1_epi8(static_cast<char>(-kByteBias)));
  _mm256_store_si256(reinterpret_cast<__m256i*>(at), biased);
}

// How many of a feature's thresholds lie at or below its values, kLanes a block.
template <std::size_t kUsed, std::uint32_t kSteps>
JC_AVX2_INLINE void search(const float* thresholds, const float* values, std::int8_t* bytes) {
  __m256i at[kUsed];
  __m256 x[kUsed];
#pragma GCC unroll 4
  for (std::size_t b = 0; b < kUsed; ++b) {
    at[b] = _mm256_setzero_si256();
    x[b] = _mm256_load_ps(values + b * kLanes);
  }
#pragma GCC unroll 8
  for (std::uint32_t step = 1U << kSteps >> 1U; step > 0; step /= 2) {
    const __m256i wide = _mm256_set1_epi32(static_cast<int>(step));
#pragma GCC unroll 4
    for (std::size_t b = 0; b < kUsed; ++b) {
      const __m256 threshold = gather(thresholds + step - 1, at[b], x[b]);
      const __m256i above = _mm256_castps_si256(_mm256_cmp_ps(threshold, x[b], _CMP_LE_OQ));
      at[b] = _mm256_add_epi32(at[b], _mm256_and_si256(above, wide));
    }
  }
  store_bytes<kUsed>(at, bytes);
}

// The rows from `first` on, as many as the blocks hold; rows past the end repeat the last one.
template <std::size_t kUsed, std::uint32_t kSteps>
JC_AVX2 void load_bytes(const WalkInput& forest, std::span<const float> features, std::size_t first,
                        std::size_t row_count, std::int8_t* bytes) {
  const auto* thresholds = reinterpret_cast<const float*>(forest.words.data() + kThresholdsFrom);
  alignas(32) std::array<float, kLanes * kRowBytes> values;  // [feature][row]
  EightRows rows[kUsed];
  for (std::size_t b = 0; b < kUsed; ++b) rows[b] = eight_rows(features, first + b * kLanes, row_count);
  for (std::size_t from = 0; from < forest.feature_count; from += kLanes) {
#pragma GCC unroll 1
    for (std::size_t b = 0; b < kUsed; ++b) {
      __m256 x[kLanes];
      if (from + kLanes <= forest.feature_count) {
        load_transposed(rows[b], from, x);
      } else {
        load_transposed(rows[b], from, forest.feature_count, x);
      }
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kLanes; ++i) _mm256_store_ps(values.data() + i * kRowBytes + b * kLanes, x[i]);
    }
    const std::size_t count = std::min<std::size_t>(kLanes, forest.feature_count - from);
    for (std::size_t i = 0; i < count; ++i) {
      search<kUsed, kSteps>(thresholds, values.data() + i * kRowBytes, bytes);
      thresholds += std::size_t{1} << kSteps;
      bytes += kRowBytes;
    }
  }
}

using Place = ForestView::TreePlace;

// The answers of a tree for 32 rows, 1 for left, the first level's highest. A question is read as its two parts, which
// compilers do not find out by themselves.
template <std::uint32_t kDepth>
JC_AVX2_INLINE __m256i answers(const std::int8_t* bytes, const std::uint32_t* questions) {
  static_assert(kPlaceBits == 16);
  const auto* const parts = reinterpret_cast<const std::int8_t*>(questions);
  __m256i leaf = _mm256_setzero_si256();
#pragma GCC unroll 8
  for (std::uint32_t level = 0; level < kDepth; ++level) {
    std::uint16_t place = 0;
    std::memcpy(&place, parts + sizeof(std::uint32_t) * level, sizeof(place));
    const __m256i threshold = _mm256_set1_epi8(parts[sizeof(std::uint32_t) * level + sizeof(place)]);
    const __m256i left =
        _mm256_cmpgt_epi8(threshold, _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes + place)));
    leaf = _mm256_sub_epi8(_mm256_add_epi8(leaf, leaf), left);
  }
  return leaf;
}

// Adds the trees from `place` on, as far as they are kDepth deep; returns the place after them.
template <std::uint32_t kDepth, std::size_t kUsed>
JC_AVX2 const Place* add_trees(const std::int8_t* bytes, const std::uint32_t* words, const Place* place,
                               const Place* end, float* sums) {
  alignas(32) std::array<std::int8_t, kRowBytes> leaves;
  __m256 sum[kUsed];
#pragma GCC unroll 4
  for (std::size_t b = 0; b < kUsed; ++b) sum[b] = _mm256_load_ps(sums + b * kLanes);
  do {
    const std::uint32_t* const tree = words + place->first_word;
    _mm256_store_si256(reinterpret_cast<__m256i*>(leaves.data()), answers<kDepth>(bytes, tree));
    const auto* const values = reinterpret_cast<const float*>(tree + kQuestionWords);
#pragma GCC unroll 4
    for (std::size_t b = 0; b < kUsed; ++b) {
      const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(leaves.data() + b * kLanes));
      sum[b] = _mm256_add_ps(sum[b], gather(values, _mm256_cvtepu8_epi32(eight), sum[b]));
    }
    ++place;
  } while (place != end && place->depth == (kDepth | kSymmetric));
#pragma GCC unroll 4
  for (std::size_t b = 0; b < kUsed; ++b) _mm256_store_ps(sums + b * kLanes, sum[b]);
  return place;
}

using AddTrees = const Place* (*)(const std::int8_t*, const std::uint32_t*, const Place*, const Place*, float*);
using LoadBytes = void (*)(const WalkInput&, std::span<const float>, std::size_t, std::size_t, std::int8_t*);

// The answers of a tree for one row, whose bytes are kRowBytes apart: one lane a question, the first one's highest.
JC_AVX2_INLINE unsigned answers_of_row(const std::int8_t* bytes, const std::uint32_t* questions) {
  const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(questions));
  const __m256i places = _mm256_and_si256(eight, _mm256_set1_epi32((1 << kPlaceBits) - 1));
  const __m256i all = _mm256_set1_epi32(-1);
  const __m256i found = _mm256_mask_i32gather_epi32(places, reinterpret_cast<const int*>(bytes), places, all, 1);
  // Both bytes highest; below them a place, and what no place is above.
  const __m256i thresholds = _mm256_slli_epi32(eight, 8);
  const __m256i values = _mm256_or_si256(_mm256_slli_epi32(found, 24), _mm256_srli_epi32(all, 8));
  const __m256i left = _mm256_cmpgt_epi32(thresholds, values);
  const __m256i last_first = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  const __m256i turned = _mm256_permutevar8x32_epi32(left, last_first);
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(turned)));
}

// All trees for one row, added one after the other, as the other walks do: the same bits.
JC_AVX2 float walk_row(const WalkInput& forest, const std::int8_t* bytes) {
  static_assert(kQuestionWords == kLanes && kPlaceBits == 16);
  float sum = forest.base;
  for (const Place& place : forest.trees) {
    const std::uint32_t* const tree = forest.words.data() + place.first_word;
    const unsigned leaf = answers_of_row(bytes, tree) >> (kQuestionWords - (place.depth & ~kSymmetric));
    sum += reinterpret_cast<const float*>(tree + kQuestionWords)[leaf];
  }
  return sum;
}

// So few rows are walked through faster one by one.
constexpr std::size_t kFewRows = 2;
static_assert(kFewRows + sizeof(int) <= kRowBytes + 1, "a look-up reads four bytes from a row's on");

struct Walks {
  std::array<LoadBytes, kMaxSteps> load;             // by steps, less one
  std::array<AddTrees, kMaxSymmetricDepth + 1> add;  // by depth
};
template <std::size_t kUsed, std::uint32_t... kLessOne, std::uint32_t... kDepths>
constexpr Walks walks_of(std::integer_sequence<std::uint32_t, kLessOne...> /*steps*/,
                         std::integer_sequence<std::uint32_t, kDepths...> /*depths*/) {
  return {{&load_bytes<kUsed, kLessOne + 1>...}, {&add_trees<kDepths, kUsed>...}};
}
template <std::size_t kUsed>
constexpr Walks walks_of() {
  return walks_of<kUsed>(std::make_integer_sequence<std::uint32_t, kMaxSteps>(),
                         std::make_integer_sequence<std::uint32_t, kMaxSymmetricDepth + 1>());
}
// By how many blocks have rows, less one.
constexpr std::array kWalks{walks_of<1>(), walks_of<2>(), walks_of<3>(), walks_of<4>()};
static_assert(kWalks.size() == kBlocks);

}  // namespace

JC_AVX2 void walk_symmetric_avx2(const WalkInput& forest, std::span<const float> features, std::span<float> out) {
  alignas(32) Bytes bytes;
  alignas(32) std::array<float, kRowBytes> sums;
  for (std::size_t row = 0; row < out.size(); row += kRowBytes) {
    const std::size_t rows = std::min(kRowBytes, out.size() - row);
    const Walks& walks = kWalks[(rows - 1) / kLanes];
    walks.load[forest.words[0] - 1](forest, features, row, out.size(), bytes.data());
    if (rows <= kFewRows) {
      for (std::size_t i = 0; i < rows; ++i) out[row + i] = walk_row(forest, bytes.data() + i);
      return;
    }
    sums.fill(forest.base);
    const Place* place = forest.trees.data();
    const Place* const end = place + forest.trees.size();
    while (place != end)
      place = walks.add[place->depth & ~kSymmetric](bytes.data(), forest.words.data(), place, end, sums.data());
    std::copy_n(sums.begin(), rows, out.begin() + static_cast<std::ptrdiff_t>(row));
  }
}

}  // namespace joulecast

#else

namespace joulecast {

void walk_symmetric_avx2(const WalkInput& forest, std::span<const float> features, std::span<float> out) {
  walk_symmetric_portable(forest, features, out);
}

}  // namespace joulecast

#endif
