// SPDX-License-Identifier: Apache-2.0
#include "predict/storage.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

const Shape kImages{8, 64, 14, 16}, kTokens{8, 197, 64};

TEST(Storage, MovingTheChannelsToTheEndAndBackIsOnlyAView) {
  const Storage last = transposed(Storage::kContiguous, {0, 3, 1, 2}, kImages);
  EXPECT_EQ(last, Storage::kChannelsLast);
  EXPECT_EQ(transposed(last, {0, 2, 3, 1}, kImages), Storage::kContiguous);
  EXPECT_EQ(transposed(Storage::kContiguous, {0, 2, 3, 1}, kImages), Storage::kStrided);
  EXPECT_EQ(transposed(last, {0, 3, 1, 2}, kImages), Storage::kStrided);
}

TEST(Storage, TokensAreAnImageChannelsLast) {
  EXPECT_EQ(transposed(Storage::kContiguous, {0, 2, 1}, kTokens), Storage::kChannelsLast);
  EXPECT_EQ(transposed(Storage::kChannelsLast, {0, 2, -2}, kTokens), Storage::kContiguous);
  EXPECT_EQ(reshaped(Storage::kChannelsLast, {8, 64, 14, 14}, {8, 64, 196}), Storage::kChannelsLast);
  EXPECT_EQ(reshaped(Storage::kChannelsLast, {8, 64, 14, 14}, {8, 64 * 196}), std::nullopt);
}

TEST(Storage, SomeOfTheTokensAreAnImageChannelsLastAsWell) {
  const Storage part = cut(Storage::kContiguous, {8, 197, 64}, {8, 196, 64});
  EXPECT_EQ(part, Storage::kPlacesCut);
  EXPECT_EQ(transposed(part, {0, 2, 1}, kTokens), Storage::kChannelsLast);
  EXPECT_EQ(reshaped(part, {8, 196, 64}, {8 * 196, 64}), std::nullopt);
  EXPECT_EQ(cut(Storage::kContiguous, {8, 197, 64}, {8, 197, 32}), Storage::kGaps);
  EXPECT_EQ(cut(Storage::kContiguous, {8, 197, 64}, {4, 197, 64}), Storage::kGaps);
  EXPECT_EQ(cut(Storage::kChannelsLast, {8, 197, 64}, {8, 196, 64}), Storage::kStrided);
  EXPECT_EQ(cut(part, {8, 196, 64}, {8, 196, 32}), Storage::kGaps);
}

TEST(Storage, OnePlaceLiesInEitherOrder) {
  EXPECT_EQ(reshaped(Storage::kChannelsLast, {8, 64, 1, 1}, {8, 64}), Storage::kContiguous);
}

TEST(Storage, HeadsSwapWithPlacesTwice) {
  const Storage heads = transposed(Storage::kContiguous, {0, 2, 1, 3}, kImages);
  EXPECT_EQ(heads, Storage::kHeadsInner);
  EXPECT_EQ(transposed(heads, {0, 2, 1, 3}, kImages), Storage::kContiguous);
  EXPECT_EQ(reshaped(heads, {2, 8, 16, 64}, {16, 16, 64}), std::nullopt);
}

// A third of a product of queries, keys and values is cut into heads where it lies.
TEST(Storage, CuttingAxesIsAViewAndJoiningThemACopy) {
  EXPECT_EQ(reshaped(Storage::kStrided, {2, 16, 512}, {2, 16, 8, 64}), Storage::kStrided);
  EXPECT_EQ(reshaped(Storage::kStrided, {2, 16, 512}, {2, 1, 16, 512, 1}), Storage::kStrided);
  EXPECT_EQ(reshaped(Storage::kStrided, {2, 16, 512}, {32, 512}), std::nullopt);
  EXPECT_EQ(reshaped(Storage::kStrided, {2, 16, 512}, {2, 64, 128}), std::nullopt);
}

TEST(Storage, AxesOfOnePlaceChangeNoOrder) {
  EXPECT_EQ(transposed(Storage::kContiguous, {0, 2, 1, 3}, {8, 1, 12, 64}), Storage::kContiguous);
  EXPECT_EQ(transposed(Storage::kHeadsInner, {0, 2, 1, 3}, {8, 12, 1, 64}), Storage::kHeadsInner);
  EXPECT_EQ(transposed(Storage::kContiguous, {1, 0, 2}, {1, 7, 64}), Storage::kContiguous);
  EXPECT_EQ(transposed(Storage::kContiguous, {1, 0, 2}, {2, 7, 64}), Storage::kStrided);
}

// What is computed of a part has no gaps, but the order of axes of what was turned.
TEST(Storage, ElementwiseResultsHaveNoGaps) {
  EXPECT_EQ(transposed(Storage::kGaps, {0, 2, 1}, kTokens), Storage::kStrided);
  EXPECT_EQ(transposed(Storage::kGaps, {0, 2, 1}, {8, 1, 64}), Storage::kGaps);
  EXPECT_EQ(reshaped(Storage::kGaps, {2, 16, 512}, {2, 16, 8, 64}), Storage::kGaps);
  EXPECT_EQ(reshaped(Storage::kPlacesCut, {2, 16, 512}, {2, 16, 8, 64}), Storage::kGaps);
  for (const Storage part : {Storage::kGaps, Storage::kPlacesCut}) EXPECT_EQ(elementwise(part), Storage::kContiguous);
  for (const Storage whole : {Storage::kStrided, Storage::kChannelsLast, Storage::kHeadsInner, Storage::kContiguous})
    EXPECT_EQ(elementwise(whole), whole);
}

TEST(Storage, NoOrderReversesTheAxes) {
  EXPECT_EQ(transposed(Storage::kContiguous, {}, {3, 4}), Storage::kStrided);
  EXPECT_EQ(transposed(Storage::kContiguous, {}, {3}), Storage::kContiguous);
}

}  // namespace
}  // namespace joulecast
