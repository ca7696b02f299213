// SPDX-License-Identifier: Apache-2.0
// Operators that move elements about or only look at them otherwise: shapes, known contents, traffic.
#include <cstdint>
#include <limits>

#include "graph/ops/operator_cases.h"

namespace joulecast {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

Gather gather(GatherKind kind, std::int64_t axis = 0, std::int64_t batch_axes = 0) {
  Gather op;
  op.kind = kind;
  op.axis = axis;
  op.batch_axes = batch_axes;
  return op;
}

Scatter scatter(GatherKind kind, std::int64_t axis = 0) {
  Scatter op;
  op.kind = kind;
  op.axis = axis;
  return op;
}

Fill fill(ElementType element, double value) {
  Fill op;
  op.element = element;
  op.value = value;
  return op;
}

Flatten flatten(std::int64_t axis, std::optional<std::int64_t> last = std::nullopt) {
  Flatten op;
  op.axis = axis;
  op.last_axis = last;
  return op;
}

ShapeOf extents(std::int64_t begin, std::optional<std::int64_t> end) {
  ShapeOf op;
  op.begin = begin;
  op.end = end;
  return op;
}

const OperatorCase kMoves[] = {
    {.name = "concat",
     .op = Concat{1},
     .inputs = {f32({2, 3}), f32({2, 5})},
     .shape = {2, 8},
     .flops = 0,
     .read = 64,
     .written = 64,
     .backward_read = 64,
     .backward_written = 64},
    {.name = "concat_from_the_back", .op = Concat{-1}, .inputs = {i64({1, 0}), i64({1, 4})}, .shape = {1, 4}},
    {.name = "pad",
     .op = Pad{},
     .inputs = {f32({1, 2, 4}), known({0, 0, 1, 0, 0, 2})},
     .shape = {1, 2, 7},
     .read = 32,
     .written = 56,
     .backward_read = 56,
     .backward_written = 32},
    {.name = "pad_one_axis_negative",
     .op = Pad{},
     .inputs = {f32({4, 4}), known({-1, 2}), absent(), known({-1})},
     .shape = {4, 5}},
    {.name = "tile",
     .op = Tile{},
     .inputs = {f32({2, 3}), known({2, 1})},
     .shape = {4, 3},
     .backward_flops = 12,
     .read = 24,
     .written = 48,
     .backward_read = 48,
     .backward_written = 24},
    {.name = "gather_reads_what_it_takes",
     .op = gather(GatherKind::kSlices, 1),
     .inputs = {f32({10, 100}), i64({3, 2})},
     .shape = {10, 3, 2},
     .read = 60 * 4 + 6 * 8,
     .written = 240,
     .backward_read = 240 + 48,
     .backward_written = 4000},
    {.name = "gather_of_one_fixed_index_is_a_view",
     .op = gather(GatherKind::kSlices, 1),
     .inputs = {f32({10, 100}), known_scalar(3)},
     .shape = {10},
     .flops = 0,
     .backward_flops = 0,
     .read = 0,
     .written = 0,
     .backward_read = 0,
     .backward_written = 0},
    {.name = "gather_never_reads_more_than_there_is",
     .op = gather(GatherKind::kSlices),
     .inputs = {f32({2}), i64({100})},
     .shape = {100},
     .read = 8 + 800},
    {.name = "gather_elements",
     .op = gather(GatherKind::kElements, 1),
     .inputs = {f32({2, 9}), i64({2, 4})},
     .shape = {2, 4}},
    {.name = "gather_nd",
     .op = gather(GatherKind::kNd, 0, 1),
     .inputs = {f32({2, 3, 4, 5}), i64({2, 7, 2})},
     .shape = {2, 7, 5}},
    {.name = "scatter_elements",
     .op = scatter(GatherKind::kElements),
     .inputs = {f32({100, 4}), i64({3, 4}), f32({3, 4})},
     .shape = {100, 4},
     .read = 12 * 8 + 48,
     .written = 48,
     .backward_read = 12 * 8 + 48,
     .backward_written = 96},
    {.name = "scatter_nd",
     .op = scatter(GatherKind::kNd),
     .inputs = {f32({5, 6, 7}), i64({3, 2}), f32({3, 7})},
     .shape = {5, 6, 7}},
    {.name = "scatter_slices",
     .op = scatter(GatherKind::kSlices, 1),
     .inputs = {f32({5, 6, 7}), i64({2}), f32({5, 2, 7})},
     .shape = {5, 6, 7}},
    {.name = "cast",
     .op = Cast{ElementType::kFloat16},
     .inputs = {f32({8})},
     .shape = {8},
     .read = 32,
     .written = 16,
     .backward_read = 16,
     .backward_written = 32},
    {.name = "cast_to_its_own_type", .op = Cast{}, .inputs = {f32({8})}, .shape = {8}, .read = 0, .written = 0},
    {.name = "quantize",
     .op = Quantize{},
     .inputs = {f32({8}), f32({})},
     .shape = {8},
     .flops = 16,
     .read = 36,
     .written = 8,
     .backward_read = 0},
    {.name = "dequantize",
     .op = Dequantize{},
     .inputs = {tensor(ElementType::kInt8, {8}), f32({}), tensor(ElementType::kInt8, {})},
     .shape = {8},
     .flops = 16,
     .read = 13,
     .written = 32},
    {.name = "fill", .op = Fill{}, .inputs = {known({2, 3})}, .shape = {2, 3}, .read = 0, .written = 24},
    {.name = "opaque_copies_the_first_type",
     .op = Opaque{"Odd", {}},
     .inputs = {absent(), f32({2, 3}), i64({4})},
     .shape = {2, 3},
     .read = 24 + 32,
     .written = 24},
    {.name = "opaque_declared",
     .op = Opaque{"Odd", {{ElementType::kInt64, {-1, -1, 3}}}},
     .inputs = {f32({2, 7})},
     .shape = {2, 1, 3}},
    {.name = "opaque_declared_same_rank",
     .op = Opaque{"Odd", {{ElementType::kUnknown, {-1, -1}}}},
     .inputs = {f32({2, 7})},
     .shape = {2, 7}},
};
JC_OPERATOR_CASES(Move, kMoves);

const OperatorCase kViews[] = {
    {.name = "flatten", .op = Flatten{}, .inputs = {f32({2, 3, 4})}, .shape = {2, 12}, .read = 0, .written = 0},
    {.name = "flatten_at_the_rank", .op = flatten(2), .inputs = {f32({2, 3})}, .shape = {6, 1}},
    {.name = "flatten_scalar", .op = flatten(0), .inputs = {f32({})}, .shape = {1, 1}},
    {.name = "flatten_range", .op = flatten(1, -2), .inputs = {f32({2, 3, 4, 5})}, .shape = {2, 12, 5}},
    {.name = "flatten_range_of_scalar", .op = flatten(0, -1), .inputs = {f32({})}, .shape = {1}},
    {.name = "flatten_empty_but_huge", .op = flatten(1), .inputs = {f32({1 << 30, 0, 1 << 18})}, .shape = {1 << 30, 0}},
    {.name = "squeeze_all", .op = Squeeze{}, .inputs = {f32({1, 3, 1})}, .shape = {3}, .read = 0, .written = 0},
    {.name = "squeeze_attribute", .op = Squeeze{{-1}}, .inputs = {f32({1, 3, 1})}, .shape = {1, 3}},
    {.name = "squeeze_input", .op = Squeeze{}, .inputs = {f32({1, 3, 1}), known({0})}, .shape = {3, 1}},
    {.name = "unsqueeze", .op = Unsqueeze{{0, -1}}, .inputs = {f32({3})}, .shape = {1, 3, 1}, .read = 0},
    {.name = "transpose", .op = Transpose{{0, 2, 1}}, .inputs = {f32({2, 3, 4})}, .shape = {2, 4, 3}, .read = 0},
    {.name = "transpose_contiguous",
     .op = Transpose{{0, 2, 1}, true},
     .inputs = {f32({2, 3, 4})},
     .shape = {2, 4, 3},
     .read = 96,
     .written = 96,
     .backward_read = 96,
     .backward_written = 96},
    {.name = "transpose_reversed", .op = Transpose{}, .inputs = {f32({2, 3, 4})}, .shape = {4, 3, 2}},
    {.name = "expand", .op = Expand{}, .inputs = {f32({3, 1}), known({2, 1, 4})}, .shape = {2, 3, 4}, .written = 0},
    {.name = "expand_keeps_the_larger", .op = Expand{}, .inputs = {f32({3, 5}), known({1})}, .shape = {3, 5}},
    {.name = "split_equal", .op = Split{1, {}}, .inputs = {f32({2, 7})}, .shape = {2, 7}, .read = 0, .written = 0},
    {.name = "slice_to_the_end",
     .op = Slice{},
     .inputs = {f32({5, 9}), known({2}), known({kMax}), known({1})},
     .shape = {5, 7},
     .read = 0,
     .written = 0},
    {.name = "slice_both_negative", .op = Slice{}, .inputs = {f32({10}), known({-3}), known({-1})}, .shape = {2}},
    {.name = "slice_backwards",
     .op = Slice{},
     .inputs = {f32({10}), known({kMax}), known({kMin}), known({0}), known({-3})},
     .shape = {4}},
    {.name = "slice_smallest_step",
     .op = Slice{},
     .inputs = {f32({10}), known({-1}), known({kMin}), known({0}), known({kMin})},
     .shape = {1}},
    {.name = "slice_of_nothing",
     .op = Slice{},
     .inputs = {f32({0, 4}), known({5, 3}), known({kMin, 3}), known({0, 1}), known({-1, 2})},
     .shape = {0, 0}},
};
JC_OPERATOR_CASES(View, kViews);

const BadCase kBad[] = {
    {"concat_shapes", Concat{0}, {f32({2, 3}), f32({2, 4})}, "cannot be joined along axis 0"},
    {"concat_nothing", Concat{0}, {}, "missing"},
    {"concat_scalars", Concat{0}, {f32({})}, "outside a tensor of rank 0"},
    {"split_sizes", Split{0, {3, 3}}, {f32({7})}, "leave 1 of 7", 2},
    {"split_negative_size", Split{0, {8, -1}}, {f32({7})}, "do not fit an axis of 7", 2},
    {"split_outputs", Split{0, {7}}, {f32({7})}, "1 sizes for 2 outputs", 2},
    {"slice_zero_step", Slice{}, {f32({7}), known({0}), known({1}), known({0}), known({0})}, "a step is 0"},
    {"slice_twice", Slice{}, {f32({7}), known({0, 0}), known({1, 1})}, "for an input of rank 1"},
    {"slice_same_axis", Slice{}, {f32({7, 7}), known({0, 0}), known({1, 1}), known({1, -1})}, "axis 1 is given twice"},
    {"slice_data", Slice{}, {f32({7}), i64({1}), known({1})}, "depends on data"},
    {"slice_axes_count", Slice{}, {f32({7, 7}), known({0, 0}), known({1, 1}), known({1})}, "1 axes for 2 starts"},
    {"pad_count", Pad{}, {f32({7}), known({1})}, "1 pads for 1 axes"},
    {"pad_overflow", Pad{}, {f32({7}), known({kMax, kMax})}, "absurd"},
    {"pad_below_nothing", Pad{}, {f32({7}), known({-4, -4})}, "not a possible tensor"},
    {"flatten_axis", flatten(3), {f32({2, 3})}, "outside"},
    {"flatten_order", flatten(1, 0), {f32({2, 3})}, "comes after"},
    {"squeeze_three", Squeeze{{1}}, {f32({1, 3})}, "axis 1 of 1x3 is not 1"},
    {"unsqueeze_twice", Unsqueeze{{0, 0}}, {f32({3})}, "given twice"},
    {"unsqueeze_rank", Unsqueeze{IntList(9, 0)}, {f32({})}, "more than 8"},
    {"transpose_order", Transpose{{0, 0}}, {f32({2, 3})}, "given twice"},
    {"transpose_count", Transpose{{0}}, {f32({2, 3})}, "order of 1 axes"},
    {"expand_shape", Expand{}, {f32({3}), known({2})}, "do not broadcast"},
    {"expand_rank", Expand{}, {f32({3}), known(IntList(9, 1))}, "more than 8"},
    {"expand_negative", Expand{}, {f32({1}), known({-5})}, "not a possible tensor"},
    {"tile_negative", Tile{}, {f32({3}), known({-1})}, "cannot be repeated -1 times"},
    {"tile_overflow", Tile{}, {f32({3}), known({kMax})}, "cannot be repeated"},
    {"gather_float", gather(GatherKind::kSlices), {f32({3}), f32({3})}, "not integers"},
    {"gather_rank", gather(GatherKind::kSlices), {f32({1, 1, 1, 1, 1}), i64({1, 1, 1, 1, 1})}, "rank of more than 8"},
    {"gather_nd_depth", gather(GatherKind::kNd), {f32({3}), i64({2, 2})}, "positions of 2 axes"},
    {"gather_nd_batch", gather(GatherKind::kNd, 0, kMin), {f32({3}), i64({2, 1})}, "batch axes"},
    {"scatter_updates", scatter(GatherKind::kNd), {f32({3, 4}), i64({2, 1}), f32({2, 5})}, "do not fit input"},
    {"fill_negative", Fill{}, {known({-2})}, "not a possible tensor"},
    {"fill_data", Fill{}, {i64({2})}, "depends on data"},
    {"range_zero", Range{}, {known_scalar(0), known_scalar(1), known_scalar(0)}, "step is 0"},
    {"range_long", Range{}, {known_scalar(kMin), known_scalar(kMax), known_scalar(1)}, "too long"},
    {"range_data", Range{}, {i64({}), known_scalar(1), known_scalar(1)}, "depends on data"},
};
JC_BAD_CASES(Move, kBad);

using Ints = std::vector<std::int64_t>;

struct FollowCase {
  std::string name;
  Operator op;
  std::vector<OneNodeInput> inputs;
  Ints ints;
};

const FollowCase kFollowed[] = {
    {"concat", Concat{0}, {known({1, 2}), known({3})}, {1, 2, 3}},
    {"concat_columns",
     Concat{1},
     {known_tensor(ElementType::kInt64, {2, 1}, {{1, 2}, {}}),
      known_tensor(ElementType::kInt64, {2, 2}, {{3, 4, 5, 6}, {}})},
     {1, 3, 4, 2, 5, 6}},
    {"slice", Slice{}, {known({1, 2, 3, 4}), known({1}), known({3})}, {2, 3}},
    {"slice_backwards", Slice{}, {known({1, 2, 3, 4}), known({-1}), known({kMin}), known({0}), known({-2})}, {4, 2}},
    {"gather_scalar", gather(GatherKind::kSlices), {known({5, 6, 7}), known_scalar(-1)}, {7}},
    {"gather_list", gather(GatherKind::kSlices), {known({5, 6, 7}), known({2, 0})}, {7, 5}},
    {"gather_column",
     gather(GatherKind::kSlices, 1),
     {known_tensor(ElementType::kInt64, {2, 2}, {{1, 2, 3, 4}, {}}), known_scalar(1)},
     {2, 4}},
    {"gather_outside", gather(GatherKind::kSlices), {known({5, 6, 7}), known({3})}, {}},
    {"squeeze", Squeeze{}, {known({9})}, {9}},
    {"unsqueeze", Unsqueeze{{0}}, {known_scalar(9)}, {9}},
    {"flatten", flatten(0), {known({1, 2})}, {1, 2}},
    {"cast_narrow", Cast{ElementType::kInt8}, {known({127, -128})}, {127, -128}},
    {"cast_too_narrow", Cast{ElementType::kInt8}, {known({128})}, {}},
    {"cast_unsigned", Cast{ElementType::kUInt64}, {known({-1})}, {}},
    {"cast_bool", Cast{ElementType::kBool}, {known({0, 7})}, {0, 1}},
    {"cast_reals", Cast{ElementType::kInt64}, {known_reals({2.9, -2.9})}, {2, -2}},
    {"cast_too_large", Cast{ElementType::kInt64}, {known_reals({1e19})}, {}},
    {"shape", ShapeOf{}, {f32({4, 5, 6})}, {4, 5, 6}},
    {"shape_part", extents(-2, -1), {f32({4, 5, 6})}, {5}},
    {"shape_clamped", extents(kMin, kMax), {f32({4, 5})}, {4, 5}},
    {"shape_nothing", extents(2, 1), {f32({4, 5, 6})}, {}},
    {"fill", fill(ElementType::kInt64, -1), {known({3})}, {-1, -1, -1}},
    {"fill_fraction", fill(ElementType::kInt64, 0.5), {known({1})}, {}},
    {"fill_too_large", fill(ElementType::kInt64, 1e300), {known({1})}, {}},
    {"range", Range{}, {known_scalar(2), known_scalar(9), known_scalar(3)}, {2, 5, 8}},
    {"range_down", Range{}, {known_scalar(1), known_scalar(-2), known_scalar(-1)}, {1, 0, -1}},
    {"range_at_the_ends", Range{}, {known_scalar(kMax - 1), known_scalar(kMax), known_scalar(kMax)}, {kMax - 1}},
    {"range_empty", Range{}, {known_scalar(1), known_scalar(1), known_scalar(1)}, {}},
    {"expand", Expand{}, {known({1, 2}), known({2, 2})}, {1, 2, 1, 2}},
    {"tile", Tile{}, {known({1, 2}), known({2})}, {1, 2, 1, 2}},
    {"transpose",
     Transpose{},
     {known_tensor(ElementType::kInt64, {2, 3}, {{1, 2, 3, 4, 5, 6}, {}})},
     {1, 4, 2, 5, 3, 6}},
    {"pad_nothing", Pad{}, {known({1, 2}), known({0, 0})}, {1, 2}},
    {"pad_something", Pad{}, {known({1, 2}), known({1, 0})}, {}},
    {"not_what_is_large", Expand{}, {known({1}), known({1025})}, {}},
};

TEST(MoveFollows, KnownContents) {
  for (const FollowCase& c : kFollowed) {
    SCOPED_TRACE(c.name);
    const auto out = run_one_node(c.op, c.inputs);
    ASSERT_TRUE(out) << out.error().text();
    EXPECT_EQ(out->ints(), c.ints);
  }
}

TEST(MoveFollows, EverySplitPart) {
  const auto out = run_one_node(Split{0, {2, 0, 1}}, {known({7, 8, 9})}, 3);
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->ints(0), (Ints{7, 8}));
  EXPECT_EQ(out->shape(1), Shape{0});
  EXPECT_EQ(out->ints(2), Ints{9});
}

TEST(MoveFollows, EqualPartsOfSeven) {
  const auto out = run_one_node(Split{0, {}}, {f32({7})}, 3);
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->shape(0), Shape{3});
  EXPECT_EQ(out->shape(1), Shape{3});
  EXPECT_EQ(out->shape(2), Shape{1});
}

TEST(MoveFollows, CountOfElementsIsAScalar) {
  ShapeOf op;
  op.count_only = true;
  const auto out = run_one_node(op, {f32({4, 5})});
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->shape(), Shape{});
  EXPECT_EQ(out->ints(), Ints{20});
}

TEST(MoveFollows, RangeOfReals) {
  const auto out = run_one_node(Range{}, {known_tensor(ElementType::kFloat32, {}, {{}, {0.0}}),
                                          known_tensor(ElementType::kFloat32, {}, {{}, {1.0}}),
                                          known_tensor(ElementType::kFloat32, {}, {{}, {0.3}})});
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->shape(), Shape{4});
  EXPECT_EQ(out->element(), ElementType::kFloat32);
}

}  // namespace
}  // namespace joulecast
