// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/layout.h"

#include <gtest/gtest.h>

namespace joulecast::tensorflow {
namespace {

TEST(TensorflowLayout, ChannelsFirstPutsTheLastAxisSecond) {
  const Layout layout = Layout::channels_first(4);
  EXPECT_EQ(layout.held(Shape{2, 8, 9, 3}), (Shape{2, 3, 8, 9}));
  EXPECT_EQ(layout.tensor(Shape{2, 3, 8, 9}), (Shape{2, 8, 9, 3}));
  EXPECT_EQ(layout.in_value(3), 1U);
  EXPECT_EQ(layout.of_tensor(1), 3U);
}

TEST(TensorflowLayout, AnOrderThatChangesNothingIsPlain) {
  EXPECT_TRUE(Layout(InlineVector<std::uint8_t, kMaxRank>{0, 1, 2}).plain());
  EXPECT_EQ(Layout::channels_first(2), Layout{});
}

TEST(TensorflowLayout, TransposesIntoAnother) {
  const Layout layout = Layout::channels_first(4);
  EXPECT_EQ(layout.order_to({}, 4), (IntList{0, 2, 3, 1}));
  EXPECT_EQ(Layout{}.order_to(layout, 4), (IntList{0, 3, 1, 2}));
  EXPECT_EQ(layout.order_to(layout, 4), (IntList{0, 1, 2, 3}));
}

TEST(TensorflowLayout, AxesComeAndGo) {
  const Layout layout = Layout::channels_first(4);
  EXPECT_TRUE(layout.without(2).without(1).plain());  // [batch, channels]
  EXPECT_EQ(layout.without(1), Layout::channels_first(3));
  EXPECT_EQ(Layout::channels_first(3).with(1, 3), layout);  // a row more, as for convolutions over time
  EXPECT_EQ(Layout::channels_first(3).widened(1, 3).held(Shape{1, 2, 8, 3}), (Shape{1, 2, 3, 8}));
}

TEST(TensorflowLayout, RanksThatDoNotFitAreLeftAlone) {
  const Layout layout = Layout::channels_first(4);
  EXPECT_EQ(layout.of_tensor(9), 9U);
  EXPECT_EQ(layout.held(Shape{2, 8}), (Shape{2, 8}));
  EXPECT_EQ(layout.tensor(Shape{2, 8, 9, 3, 4}), (Shape{2, 8, 9, 3, 4}));
  EXPECT_EQ(layout.order_to({}, 6), (IntList{0, 2, 3, 1, 4, 5}));
}

}  // namespace
}  // namespace joulecast::tensorflow
