// SPDX-License-Identifier: Apache-2.0
// Slices assigned to, as exporters write them.
#include "predict/assignments.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "joulecast/predict.h"
#include "predict/lower.h"

namespace joulecast {
namespace {

// Rows of %x, one by one: 800,000 bytes of numbers, and as many of positions, too many to be followed.
constexpr std::string_view kAssignment = R"(graph "assignment" {{
    input %x : f32[100000, 2]
    input %y : f32[100000, 2]
    input %i : i64[100000, 1]
    constant %zero : i64 = 0
    constant %one : i64 = 1
    constant %axis : i64[1] = [1]
    %s = shape_of(%x)
    %n = gather(%s, %zero)
    %r = range(%zero, %n, %one)
    %at = unsqueeze(%r, %axis)
    %z = scatter(%x, {}, %y) {{kind = nd}}
    output %z{}
  }})";

std::vector<PointwiseWork> lowered(std::string_view positions, std::string_view outputs = "") {
  const auto graph = parse_graph(fmt::format(fmt::runtime(kAssignment), positions, outputs));
  EXPECT_TRUE(graph) << graph.error().text();
  const auto load = prepare(*graph, {}, {.mode = Mode::kInference, .precision = Precision::kFp32});
  EXPECT_TRUE(load) << load.error().text();
  std::vector<PointwiseWork> out;
  for (const LoweredOperation& operation : load->operations) out.push_back(std::get<PointwiseWork>(operation.work));
  return out;
}

TEST(Assignments, CopyTheirValuesAlone) {
  const auto found = lowered("%at");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].forward_bytes, 2 * 800'000);
}

TEST(Assignments, PositionsThatAreComputedAreRead) {
  const auto found = lowered("%i");
  EXPECT_TRUE(std::any_of(found.begin(), found.end(),
                          [](const PointwiseWork& work) { return work.forward_bytes == 3 * 800'000; }));
}

TEST(Assignments, PositionsThatAreWantedElsewhereAreComputed) {
  EXPECT_GT(lowered("%at", ", %r").size(), 1U);
}

}  // namespace
}  // namespace joulecast
