// SPDX-License-Identifier: Apache-2.0
// Reduce, top_k, embedding and one_hot.
#include "graph/ops/operator_cases.h"

namespace joulecast {
namespace {

std::vector<OperatorCase> reduce_cases() {
  const OneNodeInput x = f32({2, 3, 4});
  return {
      {.name = "mean_keeps_axis",
       .op = Reduce{.kind = ReduceKind::kMean, .axes = {-1}},
       .inputs = {x},
       .shape = {2, 3, 1},
       .flops = 24,
       .backward_flops = 24,
       .read = 96,
       .written = 24,
       .backward_read = 24,
       .backward_written = 96},
      {.name = "sum_of_all",
       .op = Reduce{.keep_axes = false},
       .inputs = {x},
       .shape = {},
       .flops = 24,
       .backward_flops = 0},
      {.name = "axes_as_input", .op = Reduce{.keep_axes = false}, .inputs = {x, known({0, 2})}, .shape = {3}},
      {.name = "noop", .op = Reduce{.noop_with_empty_axes = true}, .inputs = {x, known({})}, .shape = {2, 3, 4}},
      {.name = "max_reads_again",
       .op = Reduce{.kind = ReduceKind::kMax, .axes = {0}},
       .inputs = {x},
       .shape = {1, 3, 4},
       .backward_read = 48 + 96 + 48},
      {.name = "log_sum_exp",
       .op = Reduce{.kind = ReduceKind::kLogSumExp},
       .inputs = {x},
       .shape = {1, 1, 1},
       .flops = 96},
      {.name = "arg_max_has_no_gradient",
       .op = Reduce{.kind = ReduceKind::kArgMax, .axes = {1}, .keep_axes = false},
       .inputs = {x},
       .shape = {2, 4},
       .written = 64,
       .backward_read = 0,
       .backward_written = 0},
      {.name = "scalar", .op = Reduce{.axes = {0}}, .inputs = {f32({})}, .shape = {}},
      {.name = "nothing_to_sum", .op = Reduce{.axes = {0}}, .inputs = {f32({0, 4})}, .shape = {1, 4}, .flops = 0},
  };
}
JC_OPERATOR_CASES(Reduce, reduce_cases());

std::vector<BadCase> reduce_bad() {
  const OneNodeInput x = f32({2, 3, 4});
  return {
      {"axis", Reduce{.axes = {3}}, {x}, "axis 3 is outside"},
      {"twice", Reduce{.axes = {1, -2}}, {x}, "axis -2 is given twice"},
      {"unknown_axes", Reduce{}, {x, i64({1})}, "input 1 (axes) depends on data"},
      {"absent", Reduce{}, {absent()}, "input 0 (x) is missing"},
  };
}
JC_BAD_CASES(Reduce, reduce_bad());

struct FollowCase {
  std::string name;
  Reduce op;
  OneNodeInput x;
  std::vector<std::int64_t> to;  // empty: nothing is known
};
void PrintTo(const FollowCase& c, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << c.name;
}

std::vector<FollowCase> follow_cases() {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto table = known_tensor(ElementType::kInt64, {2, 3}, {{1, 2, 3, 4, 5, 6}, {}});
  return {
      {"prod", {.kind = ReduceKind::kProd}, known({2, 3, 4}), {24}},
      {"sum", {}, known({2, 3, -4}), {1}},
      {"max", {.kind = ReduceKind::kMax}, known({-7, -3, -4}), {-3}},
      {"min", {.kind = ReduceKind::kMin}, known({7, 3, 4}), {3}},
      {"any", {.kind = ReduceKind::kAny}, known({0, 0, 5}), {1}},
      {"all", {.kind = ReduceKind::kAll}, known({1, 0, 5}), {0}},
      {"rows", {.axes = {1}}, table, {6, 15}},
      {"columns", {.axes = {0}}, table, {5, 7, 9}},
      {"prod_of_nothing", {.kind = ReduceKind::kProd}, known({}), {1}},
      {"max_of_nothing", {.kind = ReduceKind::kMax}, known({}), {}},
      {"sum_overflow", {}, known({kMost, 1}), {}},
      {"prod_overflow", {.kind = ReduceKind::kProd}, known({kMost, 2}), {}},
      {"mean_is_no_integer", {.kind = ReduceKind::kMean}, known({1, 2}), {}},
  };
}

class ReduceFollows : public testing::TestWithParam<FollowCase> {};
TEST_P(ReduceFollows, KnownIntegers) {
  const auto out = run_one_node(GetParam().op, {GetParam().x});
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->ints(), GetParam().to);
}
INSTANTIATE_TEST_SUITE_P(Ops, ReduceFollows, testing::ValuesIn(follow_cases()), case_name<FollowCase>);

std::vector<OperatorCase> lookup_cases() {
  return {
      // 2 * 16 elements meet a heap of 4: 2 comparisons each.
      {.name = "top_k",
       .op = TopK{.k = 4},
       .inputs = {f32({2, 16})},
       .shape = {2, 4},
       .flops = 64,
       .read = 128,
       .written = 32,
       .backward_read = 32 + 64,
       .backward_written = 128,
       .saved = 64},
      {.name = "top_k_by_input", .op = TopK{.axis = 0}, .inputs = {f32({5, 3}), known({2})}, .shape = {2, 3}},
      {.name = "top_1", .op = TopK{.k = 1}, .inputs = {f32({8})}, .shape = {1}, .flops = 8},
      // 6 of 100 rows are touched.
      {.name = "embedding",
       .op = Embedding{},
       .inputs = {weight({100, 8}), i64({2, 3})},
       .shape = {2, 3, 8},
       .flops = 0,
       .read = 4.0 * 48 + 48,
       .written = 4.0 * 48,
       .backward_read = 4.0 * 48 + 48,
       .backward_written = 3200,
       .parameter_count = 800},
      {.name = "embedding_reads_no_more_than_the_table",
       .op = Embedding{},
       .inputs = {weight({2, 8}), i64({10})},
       .shape = {10, 8},
       .read = 64 + 80},
      {.name = "one_hot",
       .op = OneHot{.depth = 5},
       .inputs = {i64({2, 3})},
       .shape = {2, 3, 5},
       .read = 48,
       .written = 120},
      {.name = "one_hot_first_axis",
       .op = OneHot{.axis = 0},
       .inputs = {i64({2, 3}), known_scalar(5)},
       .shape = {5, 2, 3}},
      {.name = "one_hot_depth_as_real", .op = OneHot{}, .inputs = {i64({2}), known_reals({4})}, .shape = {2, 4}},
  };
}
JC_OPERATOR_CASES(Lookup, lookup_cases());

TEST(TopK, IndicesAreTheSecondOutput) {
  const auto out = run_one_node(TopK{.k = 4}, {f32({2, 16})}, 2);
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->shape(1), (Shape{2, 4}));
  EXPECT_EQ(out->element(1), ElementType::kInt64);
  EXPECT_EQ(out->cost.saved, Bytes{0});
}

std::vector<BadCase> lookup_bad() {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return {
      {"k_too_large", TopK{.k = 17}, {f32({2, 16})}, "k is 17 of 16"},
      {"k_negative", TopK{.k = -1}, {f32({2, 16})}, "k is -1"},
      {"k_missing", TopK{}, {f32({2, 16})}, "input 1 (k) is missing"},
      {"k_empty", TopK{}, {f32({2, 16}), known({})}, "k has 0 elements"},
      {"k_unknown", TopK{}, {f32({2, 16}), i64({1})}, "depends on data"},
      {"top_k_scalar", TopK{.k = 1}, {f32({})}, "x has rank 0"},
      {"table_rank", Embedding{}, {weight({100}), i64({2})}, "table has rank 1"},
      {"real_indices", Embedding{}, {weight({100, 8}), f32({2})}, "indices are not integers"},
      {"indices_rank", Embedding{}, {weight({100, 8}), i64({1, 1, 1, 1, 1, 1, 1, 1})}, "indices has rank 8"},
      {"no_indices", Embedding{}, {weight({100, 8})}, "input 1 (indices) is missing"},
      {"one_hot_axis", OneHot{.axis = 3, .depth = 5}, {i64({2, 3})}, "axis 3 is outside"},
      {"one_hot_rank", OneHot{.depth = 5}, {i64({1, 1, 1, 1, 1, 1, 1, 1})}, "indices has rank 8"},
      {"one_hot_negative", OneHot{.depth = -1}, {i64({2})}, "not a possible tensor"},
      {"one_hot_nan", OneHot{}, {i64({2}), known_reals({kNan})}, "depth is not one number"},
      {"one_hot_two_depths", OneHot{}, {i64({2}), known({1, 2})}, "depth is not one number"},
      {"one_hot_no_depth", OneHot{}, {i64({2})}, "input 1 (depth) is missing"},
  };
}
JC_BAD_CASES(Lookup, lookup_bad());

}  // namespace
}  // namespace joulecast
