// SPDX-License-Identifier: Apache-2.0
// Softmax, unary, where, cumulate, dropout, stochastic depth, and the operators that only move or mask elements.
#include "graph/ops/operator_cases.h"

namespace joulecast {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

// x has 24 elements, 96 bytes, everywhere.
std::vector<OperatorCase> elementwise_cases() {
  const OneNodeInput x = f32({2, 3, 4});
  return {
      {.name = "softmax",
       .op = Softmax{},
       .inputs = {x},
       .shape = {2, 3, 4},
       .flops = 120,
       .backward_flops = 96,
       .read = 96,
       .written = 96,
       .backward_read = 192,
       .backward_written = 96,
       .saved = 0},
      {.name = "softmax_scalar", .op = Softmax{.axis = 0}, .inputs = {f32({})}, .shape = {}},
      {.name = "exp",
       .op = Unary{.kind = UnaryKind::kExp},
       .inputs = {x},
       .shape = {2, 3, 4},
       .flops = 24,
       .backward_flops = 48,
       .backward_read = 192},
      {.name = "neg",
       .op = Unary{},
       .inputs = {x},
       .shape = {2, 3, 4},
       .backward_flops = 24,
       .backward_read = 96,
       .backward_written = 96},
      {.name = "floor",
       .op = Unary{.kind = UnaryKind::kFloor},
       .inputs = {x},
       .shape = {2, 3, 4},
       .backward_flops = 0,
       .backward_read = 0,
       .backward_written = 96},
      {.name = "not_has_no_gradient",
       .op = Unary{.kind = UnaryKind::kNot},
       .inputs = {tensor(ElementType::kBool, {2, 3, 4})},
       .shape = {2, 3, 4},
       .read = 24,
       .backward_read = 0,
       .backward_written = 0},
      // Of two tensors both gradients, each of which reads the other factor.
      {.name = "mul",
       .op = Binary{.kind = BinaryKind::kMul},
       .inputs = {x, x},
       .shape = {2, 3, 4},
       .flops = 24,
       .backward_flops = 48,
       .backward_read = 288,
       .backward_written = 192},
      // Of a number none but what is written for completeness: 4 bytes.
      {.name = "mul_by_a_number",
       .op = Binary{.kind = BinaryKind::kMul},
       .inputs = {f32({}), x},
       .shape = {2, 3, 4},
       .flops = 24,
       .backward_flops = 24,
       .backward_read = 96,
       .backward_written = 100},
      {.name = "div_by_a_number",
       .op = Binary{.kind = BinaryKind::kDiv},
       .inputs = {x, f32({1})},
       .shape = {2, 3, 4},
       .flops = 24,
       .backward_flops = 24,
       .backward_read = 96,
       .backward_written = 100},
      {.name = "a_number_divided",
       .op = Binary{.kind = BinaryKind::kDiv},
       .inputs = {f32({}), x},
       .shape = {2, 3, 4},
       .flops = 24,
       .backward_flops = 48,
       .backward_read = 288,
       .backward_written = 100},
      // Condition 3 * 4 bytes, a one float, b 24; backward writes both gradients.
      {.name = "where",
       .op = Where{},
       .inputs = {tensor(ElementType::kBool, {3, 4}), f32({}), x},
       .shape = {2, 3, 4},
       .flops = 24,
       .read = 12 + 4 + 96,
       .written = 96,
       .backward_read = 96 + 12,
       .backward_written = 100},
      {.name = "cumulate",
       .op = Cumulate{.axis = -1},
       .inputs = {x},
       .shape = {2, 3, 4},
       .flops = 24,
       .backward_flops = 24,
       .backward_read = 96},
      {.name = "dropout",
       .op = Dropout{.probability = 0.1},
       .inputs = {x},
       .shape = {2, 3, 4},
       .flops = 0,
       .backward_flops = 48,
       .read = 0,
       .written = 0,
       .backward_read = 96 + 24,
       .backward_written = 96,
       .saved = 24},
      {.name = "dropout_of_nothing",
       .op = Dropout{.probability = 0.0},
       .inputs = {x},
       .shape = {2, 3, 4},
       .backward_read = 0,
       .saved = 0},
      {.name = "stochastic_depth",
       .op = StochasticDepth{.probability = 0.2},
       .inputs = {x},
       .shape = {2, 3, 4},
       .read = 0,
       .backward_read = 96 + 8,
       .saved = 8},
      {.name = "pixel_shuffle",
       .op = PixelShuffle{.factor = 2},
       .inputs = {f32({1, 12, 3, 5})},
       .shape = {1, 3, 6, 10},
       .flops = 0,
       .read = 720,
       .written = 720,
       .backward_read = 720,
       .backward_written = 720},
      {.name = "pixel_unshuffle",
       .op = PixelShuffle{.factor = 3, .inverse = true},
       .inputs = {f32({2, 6, 9})},
       .shape = {18, 2, 3}},
      {.name = "triangle", .op = Triangle{}, .inputs = {x}, .shape = {2, 3, 4}, .flops = 24, .read = 96, .written = 96},
      {.name = "roll",
       .op = Roll{.axes = {1, -1}, .shifts = {-3, 5}},
       .inputs = {x},
       .shape = {2, 3, 4},
       .flops = 0,
       .read = 96,
       .written = 96},
      {.name = "roll_flat", .op = Roll{.shifts = {1}}, .inputs = {x}, .shape = {2, 3, 4}},
  };
}
JC_OPERATOR_CASES(Elementwise, elementwise_cases());

std::vector<BadCase> elementwise_bad() {
  const OneNodeInput x = f32({2, 3, 4});
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  return {
      {"softmax_axis", Softmax{.axis = 3}, {x}, "axis 3 is outside a tensor of rank 3"},
      {"softmax_least", Softmax{.axis = kLeast}, {x}, "is outside"},
      {"unary_absent", Unary{}, {absent()}, "input 0 (x) is missing"},
      {"where_short", Where{}, {x, x}, "input 2 (b) is missing"},
      {"where_shapes", Where{}, {x, x, f32({5})}, "do not broadcast"},
      {"where_condition", Where{}, {f32({3}), x, x}, "do not broadcast"},
      {"cumulate_axis", Cumulate{.axis = 3}, {x}, "axis 3 is outside"},
      {"dropout_negative", Dropout{.probability = -0.1}, {x}, "probability is -0.1"},
      {"dropout_nan", Dropout{.probability = kNan}, {x}, "probability is nan"},
      {"depth_over_one", StochasticDepth{.probability = 1.5}, {x}, "probability is 1.5"},
      {"depth_scalar", StochasticDepth{}, {f32({})}, "x has rank 0"},
      {"shuffle_channels", PixelShuffle{.factor = 2}, {f32({1, 6, 3, 5})}, "6 channels do not divide"},
      {"shuffle_zero", PixelShuffle{.factor = 0}, {f32({1, 6, 3, 5})}, "factor is 0"},
      {"shuffle_huge", PixelShuffle{.factor = kHuge}, {f32({1, 6, 3, 5})}, "factor is"},
      {"shuffle_rank", PixelShuffle{.factor = 2}, {f32({4, 4})}, "x has rank 2"},
      {"shuffle_overflow",
       PixelShuffle{.factor = std::int64_t{1} << 31, .inverse = true},
       {f32({4, 0, 0})},
       "too many"},
      {"unshuffle_extent", PixelShuffle{.factor = 2, .inverse = true}, {f32({1, 6, 3, 4})}, "extent 3 does not"},
      {"triangle_rank", Triangle{}, {f32({4})}, "x has rank 1"},
      {"roll_count", Roll{.axes = {0, 1}, .shifts = {1}}, {x}, "1 shifts for 2 axes"},
      {"roll_axis", Roll{.axes = {-4}, .shifts = {1}}, {x}, "axis -4 is outside"},
  };
}
JC_BAD_CASES(Elementwise, elementwise_bad());

struct FollowCase {
  std::string name;
  UnaryKind kind;
  std::vector<std::int64_t> from, to;  // empty: nothing is known
};
void PrintTo(const FollowCase& c, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << c.name;
}

class UnaryFollows : public testing::TestWithParam<FollowCase> {};
TEST_P(UnaryFollows, KnownIntegers) {
  const auto out = run_one_node(Unary{.kind = GetParam().kind}, {known(GetParam().from)});
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->ints(), GetParam().to);
}
INSTANTIATE_TEST_SUITE_P(Ops, UnaryFollows,
                         testing::Values(FollowCase{"neg", UnaryKind::kNeg, {3, -4, 0}, {-3, 4, 0}},
                                         FollowCase{"neg_overflow", UnaryKind::kNeg, {kLeast}, {}},
                                         FollowCase{"abs", UnaryKind::kAbs, {3, -4}, {3, 4}},
                                         FollowCase{"abs_overflow", UnaryKind::kAbs, {1, kLeast}, {}},
                                         FollowCase{"sign", UnaryKind::kSign, {7, 0, -7}, {1, 0, -1}},
                                         FollowCase{"floor", UnaryKind::kFloor, {7, -2}, {7, -2}},
                                         FollowCase{"ceil", UnaryKind::kCeil, {7}, {7}},
                                         FollowCase{"not", UnaryKind::kNot, {0, 5}, {1, 0}},
                                         FollowCase{"square", UnaryKind::kSquare, {-5}, {25}},
                                         FollowCase{"square_overflow", UnaryKind::kSquare, {kLeast}, {}},
                                         FollowCase{"exp_is_no_integer", UnaryKind::kExp, {1}, {}}),
                         case_name<FollowCase>);

TEST(Unary, FollowsKnownReals) {
  const auto floor = run_one_node(Unary{.kind = UnaryKind::kFloor}, {known_reals({1.5, -1.5})});
  ASSERT_TRUE(floor && floor->contents[0]);
  EXPECT_EQ(floor->contents[0]->reals, (std::vector<double>{1.0, -2.0}));
  const auto round = run_one_node(Unary{.kind = UnaryKind::kRound}, {known_reals({0.5, 1.5})});
  ASSERT_TRUE(round && round->contents[0]);
  EXPECT_EQ(round->contents[0]->reals, (std::vector<double>{0.0, 2.0}));
  const auto inverse = run_one_node(Unary{.kind = UnaryKind::kReciprocal}, {known_reals({0.0})});
  ASSERT_TRUE(inverse);
  EXPECT_FALSE(inverse->contents[0]);
}

TEST(Unary, PredicatesAreBooleans) {
  const auto out = run_one_node(Unary{.kind = UnaryKind::kIsNan}, {f32({3})});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->element(), ElementType::kBool);
}

// How exporters build the shape of an expand: where(shape == -1, 1, shape).
TEST(Where, FollowsKnownContentsWithBroadcasting) {
  const auto condition = known_tensor(ElementType::kBool, {3}, {{1, 0, 0}, {}});
  const auto out = run_one_node(Where{}, {condition, known_scalar(1), known({-1, 4, 5})});
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->ints(), (std::vector<std::int64_t>{1, 4, 5}));
}

TEST(Where, FollowsReals) {
  const auto condition = known_tensor(ElementType::kBool, {2}, {{1, 0}, {}});
  const auto out = run_one_node(Where{}, {condition, known_reals({1.5, 2.5}), known_reals({-1.0, -2.0})});
  ASSERT_TRUE(out && out->contents[0]);
  EXPECT_EQ(out->contents[0]->reals, (std::vector<double>{1.5, -2.0}));
}

TEST(Where, KnowsNothingOfUnknownConditions) {
  const auto out = run_one_node(Where{}, {tensor(ElementType::kBool, {1}), known({1}), known({2})});
  ASSERT_TRUE(out);
  EXPECT_FALSE(out->contents[0]);
}

}  // namespace
}  // namespace joulecast
