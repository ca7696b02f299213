// SPDX-License-Identifier: Apache-2.0
// What both AVX2 walks use: look-ups, and features of eight rows by feature. Compiled for AVX2 whatever the rest is
// compiled for; nobody calls it where the processor lacks it.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <span>

#include "predict/trees/layout.h"

#define JC_AVX2 __attribute__((target("avx2")))
#define JC_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace joulecast::forest_layout {

static_assert(kLanes == 8);

// A gather keeps lanes whose mask is clear and consumes its mask; all lanes are taken here, so what `unused` holds
// makes no difference and saves clearing a register.
JC_AVX2_INLINE __m256 gather(const float* base, __m256i at, __m256 unused) {
  return _mm256_mask_i32gather_ps(unused, base, at, _mm256_castsi256_ps(_mm256_set1_epi32(-1)), 4);
}
JC_AVX2_INLINE __m256i gather(const int* base, __m256i at, __m256i unused) {
  return _mm256_mask_i32gather_epi32(unused, base, at, _mm256_set1_epi32(-1), 4);
}

JC_AVX2_INLINE void transpose(__m256 (&r)[kLanes]) {
  __m256 t[8];
  __m256 u[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
    r[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
  }
}

// Where the features of eight rows begin.
using EightRows = std::array<const float*, kLanes>;

// From row `first` on; rows past the end repeat the last one.
JC_AVX2_INLINE EightRows eight_rows(std::span<const float> features, std::size_t first, std::size_t row_count) {
  const std::size_t columns = features.size() / row_count;
  EightRows out;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; ++i) out[i] = features.data() + std::min(first + i, row_count - 1) * columns;
  return out;
}

// Features from .. from + 7 of eight rows, a register a feature.
JC_AVX2_INLINE void load_transposed(const EightRows& rows, std::size_t from, __m256 (&x)[kLanes]) {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; ++i) x[i] = _mm256_loadu_ps(rows[i] + from);
  transpose(x);
}

// The last ones, fewer than eight; those past the end are zero.
JC_AVX2_INLINE void load_transposed(const EightRows& rows, std::size_t from, std::size_t feature_count,
                                    __m256 (&x)[kLanes]) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(feature_count - from)), lanes);
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; ++i) x[i] = _mm256_maskload_ps(rows[i] + from, mask);
  transpose(x);
}

}  // namespace joulecast::forest_layout
