// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "joulecast/graph.h"
#include "joulecast/passes.h"

namespace joulecast {
namespace {

// How many nodes are left of a graph with the input x.
std::size_t left_of(const std::string& nodes) {
  const auto before = parse_graph("graph \"t\" {\ninput %x : f32[2, 8, 4, 4]\n" + nodes + "}\n");
  EXPECT_TRUE(before) << (before ? "" : before.error().text());
  if (!before) return 0;
  const Graph after = merge_equal(*before);
  const auto valid = validate(after);
  EXPECT_TRUE(valid) << (valid ? "" : valid.error().text());
  return after.nodes.size();
}

TEST(MergeEqual, BranchesThatBeginAlikeShareTheirBeginning) {
  EXPECT_EQ(left_of("%a = activation(%x) {kind = relu}\n%b = activation(%x) {kind = relu}\n"
                    "%c = activation(%a) {kind = sigmoid}\n%d = activation(%b) {kind = sigmoid}\n"
                    "%e = binary(%c, %d) {kind = add}\noutput %e\n"),
            3U);
}

TEST(MergeEqual, OthersStay) {
  const std::string sum = "%e = binary(%a, %b) {kind = add}\noutput %e\n";
  EXPECT_EQ(left_of("%a = activation(%x) {kind = relu}\n%b = activation(%x) {kind = relu}\n" + sum), 2U);
  EXPECT_EQ(left_of("%a = activation(%x) {kind = relu}\n%b = activation(%x) {kind = tanh}\n" + sum), 3U);
  EXPECT_EQ(left_of("%a = pool(%x) {kind = max, kernel = [1, 1]}\n"
                    "%b = pool(%x) {kind = average, kernel = [1, 1]}\n" +
                    sum),
            3U);
  EXPECT_EQ(left_of("%c = activation(%x) {kind = tanh}\n%a = binary(%x, %c) {kind = add}\n"
                    "%b = binary(%x, %x) {kind = add}\n" +
                    sum),
            4U);
  // Random ones differ.
  EXPECT_EQ(left_of("%a = dropout(%x) {probability = 0.5}\n%b = dropout(%x) {probability = 0.5}\n" + sum), 3U);
  // An output of the graph keeps its name.
  EXPECT_EQ(left_of("%a = activation(%x) {kind = relu}\n%b = activation(%x) {kind = relu}\noutput %a\noutput %b\n"),
            2U);
}

}  // namespace
}  // namespace joulecast
