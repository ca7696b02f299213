// SPDX-License-Identifier: Apache-2.0
// Linear, matmul, attention and recurrent layers.
#include <fmt/format.h>

#include "graph/ops/operator_cases.h"
#include "graph/walk.h"

namespace joulecast {
namespace {

std::vector<OperatorCase> linear_cases() {
  return {
      // 8 * 4 outputs of 3 features: 96 MAC. Bytes: 8*3 + 4*3 + 4 = 40 floats in, 32 out; backward reads the output's
      // gradient twice, x and weight: 64 + 24 + 12 = 100.
      {.name = "plain",
       .op = Linear{},
       .inputs = {f32({8, 3}), weight({4, 3}), weight({4})},
       .shape = {8, 4},
       .flops = 192,
       .backward_flops = 384,
       .read = 160,
       .written = 128,
       .backward_read = 400,
       .backward_written = 160,
       .saved = 0,
       .parameter_count = 16},
      {.name = "stored_in_out",
       .op = Linear{.weight_in_out = true},
       .inputs = {f32({2, 5, 3}), weight({3, 4})},
       .shape = {2, 5, 4},
       .flops = 240,
       .parameter_count = 12},
      {.name = "one_vector", .op = Linear{}, .inputs = {f32({3}), weight({4, 3})}, .shape = {4}, .flops = 24},
      {.name = "half_precision",
       .op = Linear{},
       .inputs = {tensor(ElementType::kFloat16, {8, 3}), tensor(ElementType::kFloat16, {4, 3})},
       .shape = {8, 4},
       .read = 72,
       .written = 64},
      {.name = "empty_batch", .op = Linear{}, .inputs = {f32({0, 3}), weight({4, 3})}, .shape = {0, 4}, .flops = 0},
  };
}
JC_OPERATOR_CASES(Linear, linear_cases());

std::vector<BadCase> linear_bad() {
  return {
      {"features", Linear{}, {f32({8, 5}), weight({4, 3})}, "input has 5 features, weight 4x3 wants 3"},
      {"scalar", Linear{}, {f32({}), weight({4, 3})}, "x has rank 0"},
      {"weight_rank", Linear{}, {f32({8, 3}), weight({3})}, "weight has rank 1, expected 2"},
      {"no_weight", Linear{}, {f32({8, 3})}, "input 1 (weight) is missing"},
      {"absent_x", Linear{}, {absent(), weight({4, 3})}, "input 0 (x) is missing"},
      {"bias", Linear{}, {f32({8, 3}), weight({4, 3}), weight({5})}, "bias of shape 5 does not broadcast to 8x4"},
      {"bias_enlarges", Linear{}, {f32({1, 3}), weight({4, 3}), weight({2, 4})}, "does not broadcast"},
      {"too_large",
       Linear{},
       {f32({std::int64_t{1} << 30, 1}), weight({std::int64_t{1} << 30, 1})},
       "not a possible tensor"},
  };
}
JC_BAD_CASES(Linear, linear_bad());

std::vector<OperatorCase> matmul_cases() {
  return {
      // 5*7 outputs of 3 products.
      {.name = "matrices",
       .op = MatMul{},
       .inputs = {f32({5, 3}), f32({3, 7})},
       .shape = {5, 7},
       .flops = 210,
       .backward_flops = 420,
       .read = 144,
       .written = 140,
       .backward_read = 424,
       .backward_written = 144},
      {.name = "broadcast_batch",
       .op = MatMul{},
       .inputs = {f32({2, 1, 5, 3}), f32({4, 3, 7})},
       .shape = {2, 4, 5, 7},
       .flops = 2.0 * 280 * 3},
      {.name = "vector_vector", .op = MatMul{}, .inputs = {f32({3}), f32({3})}, .shape = {}, .flops = 6},
      {.name = "vector_matrix", .op = MatMul{}, .inputs = {f32({3}), f32({2, 3, 7})}, .shape = {2, 7}, .flops = 84},
      {.name = "matrix_vector", .op = MatMul{}, .inputs = {f32({2, 5, 3}), f32({3})}, .shape = {2, 5}, .flops = 60},
      {.name = "transposed",
       .op = MatMul{.transpose_a = true, .transpose_b = true},
       .inputs = {f32({3, 5}), f32({7, 3})},
       .shape = {5, 7},
       .flops = 210},
      {.name = "vector_is_never_transposed",
       .op = MatMul{.transpose_a = true},
       .inputs = {f32({3}), f32({3, 7})},
       .shape = {7}},
      {.name = "nothing_to_sum", .op = MatMul{}, .inputs = {f32({5, 0}), f32({0, 7})}, .shape = {5, 7}, .flops = 0},
  };
}
JC_OPERATOR_CASES(MatMul, matmul_cases());

std::vector<BadCase> matmul_bad() {
  return {
      {"inner", MatMul{}, {f32({5, 3}), f32({4, 7})}, "5x3 and 4x7 do not multiply: 3 columns meet 4 rows"},
      {"scalar", MatMul{}, {f32({}), f32({4, 7})}, "a has rank 0"},
      {"batch", MatMul{}, {f32({2, 5, 3}), f32({3, 3, 7})}, "do not broadcast"},
      {"absent", MatMul{}, {f32({2, 5, 3}), absent()}, "input 1 (b) is missing"},
  };
}
JC_BAD_CASES(MatMul, matmul_bad());

std::vector<OperatorCase> attention_cases() {
  return {
      // 2 * 3 * 4 = 24 rows, 24 * 5 = 120 scores. Forward 2 * 120 * (8 + 6), backward 2 * 120 * (3 * 8 + 2 * 6).
      // Floats: query 192, key 240, value 180, out 144; saved 24 log-sum-exps.
      {.name = "plain",
       .op = Attention{},
       .inputs = {f32({2, 3, 4, 8}), f32({2, 3, 5, 8}), f32({2, 3, 5, 6})},
       .shape = {2, 3, 4, 6},
       .flops = 3360,
       .backward_flops = 8640,
       .read = 4.0 * 612,
       .written = 4.0 * 144,
       .backward_read = 4.0 * (2 * 144 + 612 + 24),
       .backward_written = 4.0 * 612,
       .saved = 96},
      // Equal head sizes: backward is 2.5 times forward. A causal mask changes nothing in the count.
      {.name = "causal_grouped",
       .op = Attention{.causal = true},
       .inputs = {f32({1, 8, 4, 16}), f32({1, 2, 4, 16}), f32({1, 2, 4, 16})},
       .shape = {1, 8, 4, 16},
       .flops = 2.0 * 8 * 4 * 4 * 32,
       .backward_flops = 5.0 * 8 * 4 * 4 * 32},
      {.name = "mask",
       .op = Attention{},
       .inputs = {f32({2, 3, 4, 8}), f32({2, 3, 5, 8}), f32({2, 3, 5, 8}), f32({2, 1, 1, 5})},
       .shape = {2, 3, 4, 8},
       .read = 4.0 * (192 + 240 + 240 + 10)},
      // Windows of each image and head: 2 * 7 * 3 * 4 = 168 rows of 5 scores.
      {.name = "five_axes",
       .op = Attention{},
       .inputs = {f32({2, 7, 3, 4, 8}), f32({2, 7, 3, 5, 8}), f32({2, 7, 3, 5, 6}), f32({3, 4, 5})},
       .shape = {2, 7, 3, 4, 6},
       .flops = 2.0 * 840 * 14,
       .saved = 4.0 * 168},
      {.name = "three_axes",
       .op = Attention{.causal = true},
       .inputs = {f32({6, 4, 8}), f32({6, 5, 8}), f32({6, 5, 8})},
       .shape = {6, 4, 8},
       .flops = 2.0 * 120 * 16},
  };
}
JC_OPERATOR_CASES(Attention, attention_cases());

std::vector<BadCase> attention_bad() {
  constexpr std::int64_t kLong = std::int64_t{1} << 32;
  const OneNodeInput q = f32({2, 4, 4, 8});
  const OneNodeInput kv = f32({2, 2, 5, 8});
  return {
      {"rank", Attention{}, {f32({4, 8}), kv, kv}, "query has rank 2, expected 3 to 8"},
      {"ranks", Attention{}, {f32({4, 4, 8}), kv, kv}, "key has rank 4, expected 3"},
      {"by_hand", Attention{.by_hand = true}, {f32({4, 4, 8}), kv, kv}, "query has rank 3, expected 4"},
      {"fronts", Attention{}, {f32({2, 6, 4, 4, 8}), f32({2, 3, 4, 5, 8}), f32({2, 3, 4, 5, 8})}, "differ in batch"},
      {"window", Attention{.causal = true, .window = -1}, {q, kv, kv}, "a window of -1 keys"},
      {"window_of_all", Attention{.window = 4}, {q, kv, kv}, "a window needs a causal mask"},
      {"no_value", Attention{}, {q, kv}, "input 2 (value) is missing"},
      {"batch", Attention{}, {f32({1, 4, 4, 8}), kv, kv}, "differ in batch"},
      {"scores",
       Attention{},
       {f32({1, 1, kLong, 8}), f32({1, 1, kLong, 8}), f32({1, 1, kLong, 8})},
       "more scores than can be counted"},
      {"kv_heads", Attention{}, {q, kv, f32({2, 4, 5, 8})}, "key and value differ in heads"},
      {"heads", Attention{}, {f32({2, 3, 4, 8}), kv, kv}, "no multiple"},
      {"zero_heads", Attention{}, {q, f32({2, 0, 5, 8}), f32({2, 0, 5, 8})}, "no multiple"},
      {"length", Attention{}, {q, kv, f32({2, 2, 6, 8})}, "differ in length"},
      {"head_size", Attention{}, {f32({2, 4, 4, 7}), kv, kv}, "differ in head size"},
      {"mask", Attention{}, {q, kv, kv, f32({2, 4, 4, 4})}, "mask of shape 2x4x4x4 does not broadcast to 2x4x4x5"},
  };
}
JC_BAD_CASES(Attention, attention_bad());

std::vector<OperatorCase> rnn_cases() {
  return {
      // 7 steps of 2 sequences meet 2*20*3 + 2*20*5 = 320 weights. Hidden states: 7*2*2*5 = 140; an LSTM keeps four
      // gates and the cell of each.
      {.name = "lstm_both_ways",
       .op = Rnn{.kind = RnnKind::kLstm, .hidden = 5, .directions = 2},
       .inputs = {f32({7, 2, 3}), weight({2, 20, 3}), weight({2, 20, 5}), weight({2, 40})},
       .shape = {7, 2, 2, 5},
       .flops = 2.0 * 14 * 320,
       .backward_flops = 4.0 * 14 * 320,
       .read = 4.0 * (42 + 120 + 200 + 80),
       .written = 4.0 * 140,
       .backward_read = 4.0 * (2 * 140 + 442 + 700),
       .backward_written = 4.0 * 442,
       .saved = 4.0 * 5 * 140,
       .parameter_count = 400},
      {.name = "gru_batch_first",
       .op = Rnn{.kind = RnnKind::kGru, .hidden = 5, .batch_first = true},
       .inputs = {f32({2, 7, 3}), weight({1, 15, 3}), weight({1, 15, 5})},
       .shape = {7, 1, 2, 5},
       .flops = 2.0 * 14 * 120,
       .saved = 4.0 * 3 * 70},
      // Each of 14 steps meets 20*3 + 20*2 weights, and 2*5 that project its 5 hidden states to 2. Kept are four gates,
      // the
      // cell and what is projected.
      {.name = "projected",
       .op = Rnn{.kind = RnnKind::kLstm, .hidden = 5},
       .inputs = {f32({7, 2, 3}), weight({1, 20, 3}), weight({1, 20, 2}), absent(), absent(), f32({1, 2, 2}),
                  f32({1, 2, 5}), weight({1, 2, 5})},
       .shape = {7, 1, 2, 2},
       .flops = 2.0 * 14 * 110,
       .backward_flops = 4.0 * 14 * 110,
       .read = 4.0 * (42 + 60 + 40 + 4 + 10 + 10),
       .written = 4.0 * 28,
       .backward_read = 4.0 * (2 * 28 + 166 + 420),
       .saved = 4.0 * 6 * 70,
       .parameter_count = 110},
      {.name = "plain_with_state",
       .op = Rnn{.kind = RnnKind::kRnn, .hidden = 5},
       .inputs = {f32({7, 2, 3}), weight({1, 5, 3}), weight({1, 5, 5}), absent(), absent(), f32({1, 2, 5})},
       .shape = {7, 1, 2, 5}},
  };
}
JC_OPERATOR_CASES(Rnn, rnn_cases());

TEST(Rnn, ReturnsLastHiddenAndCell) {
  const auto out = run_one_node(Rnn{.kind = RnnKind::kLstm, .hidden = 5},
                                {f32({7, 2, 3}), weight({1, 20, 3}), weight({1, 20, 5})}, 3);
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->shape(1), (Shape{1, 2, 5}));
  EXPECT_EQ(out->shape(2), (Shape{1, 2, 5}));
  EXPECT_EQ(out->cost.forward_written, Bytes{4.0 * (70 + 10 + 10)});
}

// As Keras' layers that return no sequences are exported.
TEST(Rnn, CostsTheSameWhicheverStateIsRead) {
  const auto cost = [](std::string_view results, std::string_view read) {
    const auto graph = parse_graph(fmt::format(R"(graph "r" {{
      input %x : f32[7, 2, 3]
      parameter %w : f32[1, 20, 3]
      parameter %r : f32[1, 20, 5]
      {} = rnn(%x, %w, %r) {{hidden = 5}}
      output {}
    }})",
                                               results, read));
    EXPECT_TRUE(graph) << graph.error().text();
    return total_cost(*graph, infer_types(*graph, {}).value());
  };
  const Cost all = cost("%y", "%y"), last = cost("_, %h", "%h");
  EXPECT_EQ(last.forward_flops, Flops{2.0 * 14 * 160});
  EXPECT_EQ(last.backward_flops, all.backward_flops);
  EXPECT_EQ(last.backward_read, all.backward_read);
  EXPECT_EQ(last.parameter_count, 160);
  EXPECT_EQ(last.forward_written, Bytes{4.0 * (70 + 10)}) << "the states of all steps, though nobody reads them";
  EXPECT_EQ(last.saved, all.saved + Bytes{4.0 * 70});
}

std::vector<BadCase> rnn_bad() {
  const OneNodeInput x = f32({7, 2, 3});
  const OneNodeInput w = weight({1, 20, 3});
  const OneNodeInput r = weight({1, 20, 5});
  const Rnn lstm{.kind = RnnKind::kLstm, .hidden = 5};
  return {
      {"rank", lstm, {f32({7, 3}), w, r}, "x has rank 2, expected 3"},
      {"no_recurrence", lstm, {x, w}, "input 2 (recurrence) is missing"},
      {"hidden", Rnn{}, {x, w, r}, "hidden is 0"},
      {"huge_hidden", Rnn{.hidden = std::numeric_limits<std::int64_t>::max()}, {x, w, r}, "hidden is"},
      {"directions", Rnn{.hidden = 5, .directions = 3}, {x, w, r}, "directions is 3"},
      {"weight", lstm, {x, weight({1, 20, 4}), r}, "weight has shape 1x20x4, expected 1x20x3"},
      {"recurrence", lstm, {x, w, weight({1, 20, 4})}, "recurrence has shape"},
      {"bias", lstm, {x, w, r, weight({1, 30})}, "neither 20 nor 40"},
      {"lengths", lstm, {x, w, r, absent(), i64({3})}, "lengths has shape 3, expected 2"},
      {"state", lstm, {x, w, r, absent(), absent(), f32({2, 5})}, "initial hidden has shape"},
      {"projected_recurrence",
       lstm,
       {x, w, r, absent(), absent(), absent(), absent(), weight({1, 2, 5})},
       "recurrence has shape 1x20x5, expected 1x20x2"},
      {"projection",
       lstm,
       {x, w, weight({1, 20, 2}), absent(), absent(), absent(), absent(), weight({1, 2, 4})},
       "projection has shape 1x2x4, expected 1x2x5"},
      {"projection_of_gru",
       Rnn{.kind = RnnKind::kGru, .hidden = 5},
       {x, weight({1, 15, 3}), weight({1, 15, 5}), absent(), absent(), absent(), absent(), weight({1, 2, 5})},
       "only an LSTM has a projection"},
      {"cell_of_gru",
       Rnn{.kind = RnnKind::kGru, .hidden = 5},
       {x, weight({1, 15, 3}), weight({1, 15, 5})},
       "only an LSTM",
       3},
  };
}
JC_BAD_CASES(Rnn, rnn_bad());

}  // namespace
}  // namespace joulecast
