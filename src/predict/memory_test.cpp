// SPDX-License-Identifier: Apache-2.0
#include "predict/memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "graph/walk.h"

namespace joulecast {
namespace {

// Every tensor is a multiple of 512 bytes, so that the allocator's rounding changes nothing: x, a, r, b are 128 KiB
// each, the weights 64 KiB each.
constexpr std::string_view kNet = R"(graph "n" {
    input %x : f32[256, 128]
    parameter %w : f32[128, 128]
    parameter %v : f32[128, 128]
    %a = linear(%x, %w)
    %r = activation(%a) {kind = relu}
    %b = linear(%r, %v)
    output %b
  })";
constexpr double kAct = 256 * 128 * 4;
constexpr double kWeights = 2 * 128 * 128 * 4;

MemoryPlan planned(std::string_view text, const PrepareOptions& options) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().text();
  const auto types = infer_types(*graph, {});
  EXPECT_TRUE(types);
  std::vector<double> saved;
  for (const Node& node : graph->nodes) saved.push_back(operator_cost(CostContext(*graph, node, *types)).saved.value());
  return plan_memory(*graph, *types, saved, options);
}

// At any time a layer's input and its output live, beside the network's input, which whoever called it holds; the ReLU
// overwrites its input.
TEST(Memory, InferenceFreesAfterTheLastReader) {
  const MemoryPlan plan = planned(kNet, {});
  EXPECT_EQ(plan.parameters, Bytes{kWeights});
  EXPECT_EQ(plan.gradients, Bytes{0});
  EXPECT_EQ(plan.optimizer_state, Bytes{0});
  EXPECT_EQ(plan.activations, Bytes{3 * kAct});
}

// Backward reads x, and r, which is a's memory. It is worst at the last layer: gradients of its output, its input and
// its weight are there; at the first, where both weights have theirs, r's memory is free again.
TEST(Memory, TrainingKeepsWhatBackwardReads) {
  const MemoryPlan plan = planned(kNet, {.mode = Mode::kTraining, .precision = {}});
  EXPECT_EQ(plan.gradients, Bytes{kWeights / 2});
  EXPECT_EQ(plan.activations, Bytes{(2 + 2) * kAct});
}

// 8 x 4 images and heads (or windows) of 32 queries, as many keys and 64 numbers: operands of 128 KiB in halves.
MemoryPlan attention(std::string_view front, std::string_view attributes, PrepareOptions options) {
  std::string text = "graph \"a\" {\n";
  for (const char* name : {"q", "k", "v"}) text += fmt::format("input %{} : bf16[{}, 32, 64]\n", name, front);
  return planned(text + fmt::format("%y = attention(%q, %k, %v) {{{}}}\noutput %y\n}}", attributes), options);
}

TEST(Memory, ScoresCountWhereNoKernelDoesAttentionWhole) {
  constexpr double kOperand = 32 * 32 * 64 * 2, kScores = 32 * 32 * 32, kLogSums = 4 * 32 * 32;
  const auto live = [](std::string_view front, std::string_view attributes, PrepareOptions options) {
    return attention(front, attributes, options).activations;
  };
  EXPECT_EQ(live("8, 4", "by_hand = false", {}), Bytes{4 * kOperand});
  EXPECT_EQ(live("8, 4", "by_hand = true", {}), Bytes{4 * kOperand + 4 * kScores});
  EXPECT_EQ(live("8, 4", "by_hand = true", {.precision = Precision::kAmp}),
            Bytes{4 * kOperand + 6 * kScores});  // scores in halves and what the softmax makes of them in FP32
  EXPECT_EQ(live("8, 4", "by_hand = true, in_float = true", {}), Bytes{4 * kOperand + 6 * kScores});
  EXPECT_EQ(live("8, 2, 2", "by_hand = false", {}), Bytes{4 * kOperand + 12 * kScores});
  EXPECT_EQ(live("8, 2, 2", "by_hand = false", {.precision = {}, .attention = AttentionKernels::kFused}),
            Bytes{4 * kOperand + 4 * kScores});
  EXPECT_EQ(live("8, 4", "by_hand = false", {.precision = {}, .attention = AttentionKernels::kProducts}),
            Bytes{4 * kOperand + 4 * kScores});
  EXPECT_EQ(live("8, 4", "by_hand = false", {.precision = {}, .runtime = Runtime::kTensorflow}),
            Bytes{4 * kOperand + 4 * kScores});
  // Three operands are kept, and the gradient of the result is there with those of the scores; the network's own inputs
  // need none.
  EXPECT_EQ(live("8, 4", "by_hand = false", {.mode = Mode::kTraining, .precision = {}}),
            Bytes{4 * kOperand + kLogSums});
  EXPECT_EQ(live("8, 2, 2", "by_hand = false", {.mode = Mode::kTraining, .precision = {}}),
            Bytes{4 * kOperand + kLogSums + (8 + 12) * kScores});
}

// Rotary embeddings multiply by what no parameter is behind: backward reads that alone, and 128 KiB of cosines are all
// that is kept beside the layer's input. Forgotten: the layer's result, which the gradient of the cosines would read.
TEST(Memory, FactorsOfWhatIsNotTrainedAreNotKept) {
  const auto kept = [](std::string_view angles) {
    return planned(fmt::format(R"(graph "r" {{
      input %x : f32[256, 128]
      parameter %w : f32[128, 128]
      input %a : f32[256, 128]
      %b = linear(%x, %w)
      %t = {}
      %c = unary(%t) {{kind = cos}}
      %y = binary(%b, %c) {{kind = mul}}
      %z = unary(%y) {{kind = neg}}
      output %z
    }})",
                               angles),
                   {.mode = Mode::kTraining, .precision = {}})
        .activations;
  };
  // Gradients of z and of y; x, a and the cosines; of a trained angle b, t and both gradients besides.
  EXPECT_EQ(kept("unary(%a) {kind = abs}"), Bytes{5 * kAct});
  EXPECT_GE(kept("linear(%a, %w)"), Bytes{7 * kAct});
}

// A scale is trained though its file tells its contents: backward reads what it multiplied. A number is not.
TEST(Memory, WhatATrainedScaleMultipliesIsKept) {
  const auto kept = [](std::string_view kind) {
    return planned(fmt::format(R"(graph "s" {{
      input %x : f32[256, 128]
      parameter %w : f32[128, 128]
      {} %s : f32[1] = [2]
      %b = linear(%x, %w)
      constant %m : f32[] = [4]
      %c = activation(%s, _, %m) {{kind = clip}}
      %y = binary(%b, %c) {{kind = mul}}
      %z = unary(%y) {{kind = neg}}
      output %z
    }})",
                               kind),
                   {.mode = Mode::kTraining, .precision = {}})
        .activations;
  };
  EXPECT_EQ(kept("parameter") - kept("constant"), Bytes{kAct});
}

// In training too: of what was taken from the input, which backward does not read.
TEST(Memory, InputsLiveAsLongAsTheStep) {
  const auto live = [](std::string_view from) {
    return planned(fmt::format(R"(graph "i" {{
      input %x : f32[256, 128]
      parameter %w : f32[128, 128]
      %a = unary(%x) {{kind = abs}}
      %b = linear({}, %w)
      output %b
    }})",
                               from),
                   {.mode = Mode::kTraining, .precision = {}})
        .activations;
  };
  EXPECT_EQ(live("%a") - live("%x"), Bytes{kAct});
}

// What a sum's gradient is handed on to has one: an untrained summand, made early, keeps none alive.
TEST(Memory, GradientsAreHandedToWhatIsTrained) {
  const auto live = [](std::string_view added) {
    return planned(fmt::format(R"(graph "h" {{
      input %x : f32[256, 128]
      parameter %w : f32[128, 128]
      parameter %v : f32[128, 128]
      %e = unary(%x) {{kind = exp}}
      %a = linear(%x, %w)
      %r = activation(%a) {{kind = relu}}
      %b = linear(%r, %v)
      %y = binary(%b, {}) {{kind = add}}
      output %y
    }})",
                               added),
                   {.mode = Mode::kTraining, .precision = {}})
        .activations;
  };
  EXPECT_EQ(live("%e"), live("%x"));
}

TEST(Memory, TablesAreWhatIsLookedUpIn) {
  constexpr std::string_view kText = R"(graph "t" {{
    input %i : i64[4, 8]
    parameter %t : f32[1024, 128]
    parameter %w : f32[128, 128]
    %h = embedding(%t, %i)
    %y = linear(%h, {})
    output %y
  }})";
  EXPECT_EQ(planned(fmt::format(kText, "%w"), {}).tables, Bytes{1024 * 128 * 4});
  EXPECT_EQ(planned(fmt::format(kText, "%t"), {}).tables, Bytes{}) << "the head reads all of it";
}

// An axis that was repeated and is joined with another is written out; by itself it is a view.
TEST(Memory, RepeatedHeadsAreWrittenOut) {
  const auto live = [](std::string_view shape) {
    return planned(fmt::format(R"(graph "h" {{
      input %x : f32[256, 1, 128]
      constant %four : i64[3] = [256, 4, 128]
      constant %shape : i64[{}] = [{}]
      %a = unary(%x) {{kind = abs}}
      %e = expand(%a, %four)
      %y = reshape(%e, %shape)
      output %y
    }})",
                               std::count(shape.begin(), shape.end(), ',') + 1, shape),
                   {})
        .activations;
  };
  EXPECT_EQ(live("1024, 128"), Bytes{(1 + 1 + 4) * kAct});
  EXPECT_EQ(live("256, 4, 2, 64"), Bytes{2 * kAct});
}

TEST(Memory, MasksOfBooleansBecomeNumbers) {
  const auto kept = [](std::string_view type) {
    return planned(fmt::format("graph \"m\" {{\ninput %x : bf16[8, 4, 32, 64]\nparameter %w : bf16[64, 64]\n"
                               "input %m : {}[8, 1, 32, 32]\n%q = linear(%x, %w)\n%y = attention(%q, %q, %q, %m)\n"
                               "output %y\n}}",
                               type),
                   {.mode = Mode::kTraining, .precision = {}})
        .activations;
  };
  EXPECT_EQ(kept("bool") - kept("bf16"), Bytes{8 * 32 * 32}) << "a byte each, beside two of what becomes of it";
}

TEST(Memory, WhatIsFlippedIsACopy) {
  const auto live = [](std::string_view step) {
    return planned(
               fmt::format("graph \"f\" {{\ninput %x : f32[256, 1024]\nconstant %s : i64[1] = [{0}]\n"
                           "constant %e : i64[1] = [{1}]\nconstant %a : i64[1] = [1]\nconstant %n : i64[1] = [{0}]\n"
                           "%f = slice(%x, %s, %e, %a, %n)\n%y = binary(%x, %f) {{kind = mul}}\noutput %y\n}}",
                           step, step == "-1" ? "-9223372036854775808" : "9223372036854775807"),
               {})
        .activations.value();
  };
  EXPECT_EQ(live("-1"), 3.0 * 4 * 256 * 1024);
}

// A byte of mask a score, and the dropped scores beside the softmax's, where these themselves were multiplied.
TEST(Memory, DroppedScoresAndTheirMaskAreKept) {
  constexpr double kScores = 32 * 32 * 32;
  const auto more = [](std::string_view front, bool by_hand, PrepareOptions options) {
    const std::string attributes = fmt::format("by_hand = {}", by_hand);
    return (attention(front, attributes + ", dropout = 0.1", options).activations -
            attention(front, attributes, options).activations)
        .value();
  };
  const PrepareOptions training{.mode = Mode::kTraining, .precision = {}};
  EXPECT_EQ(more("8, 4", true, training), 3 * kScores);
  EXPECT_EQ(more("8, 4", true, {.mode = Mode::kTraining, .precision = Precision::kAmp}), kScores);
  EXPECT_EQ(more("8, 2, 2", false, training), kScores);
  EXPECT_EQ(more("8, 4", false, training), 0) << "fused";
  EXPECT_EQ(more("8, 4", true, {}), 0) << "inference";
}

// In the second layer the first one's weight is still there in halves.
TEST(Memory, AutocastKeepsWhatItCastOfParameters) {
  constexpr std::string_view kCast = R"(graph "c" {
    input %x : f16[256, 128]
    parameter %w : f32[128, 128]
    parameter %v : f32[128, 128]
    %c = cast(%w) {to = f16}
    %a = linear(%x, %c)
    %d = cast(%v) {to = f16}
    %b = linear(%a, %d)
    output %b
  })";
  for (const Precision autocast : {Precision::kAmp, Precision::kAmpBf16})
    EXPECT_EQ(planned(kCast, {.precision = autocast}).activations - planned(kCast, {}).activations,
              Bytes{128 * 128 * 2});
}

// However many of them stand behind each other: only what is beside the values of the graph adds up.
TEST(Memory, WhatNoGradientReadsIsNotKept) {
  const auto activations = [](const std::string& operation, int times) {
    std::string text = "graph \"c\" {\ninput %x : f32[256, 128]\nparameter %w : f32[128, 128]\n%a0 = linear(%x, %w)\n";
    for (int i = 0; i < times; ++i) text += fmt::format("%a{} = {}\n", i + 1, fmt::format(fmt::runtime(operation), i));
    text += fmt::format("%y = linear(%a{}, %w)\noutput %y\n}}", times);
    return planned(text, {.mode = Mode::kTraining, .precision = {}}).activations.value();
  };
  EXPECT_EQ(activations("unary(%a{}) {{kind = neg}}", 8), activations("unary(%a{}) {{kind = neg}}", 1));
  EXPECT_EQ(activations("roll(%a{}) {{shifts = [1], axes = [0]}}", 8),
            activations("roll(%a{}) {{shifts = [1], axes = [0]}}", 1));
  EXPECT_EQ(activations("dropout(%a{}) {{probability = 0.5}}", 9),
            activations("dropout(%a{}) {{probability = 0.5}}", 1) + 8 * 256 * 128);
  EXPECT_EQ(activations("unary(%a{}) {{kind = exp}}", 9), activations("unary(%a{}) {{kind = exp}}", 1) + 8 * kAct);
}

// 64 x 32 states of 128 numbers are 1 MiB, kept for the way back whether the file names them or not.
TEST(Memory, RecurrentLayersKeepTheStatesOfAllSteps) {
  const auto kept = [](std::string_view results, RnnKind kind) {
    const char* word = kind == RnnKind::kGru ? "gru" : "rnn";
    return planned(fmt::format(R"(graph "r" {{
      input %x : f32[64, 32, 64]
      parameter %w : f32[1, {0}, 64]
      parameter %r : f32[1, {0}, 128]
      {1} = rnn(%x, %w, %r) {{kind = {2}, hidden = 128}}
      output %h
    }})",
                               kind == RnnKind::kGru ? 384 : 128, results, word),
                   {.mode = Mode::kTraining, .precision = {}})
        .activations.value();
  };
  constexpr double kStates = 64 * 32 * 128 * 4;
  EXPECT_EQ(kept("%y, %h", RnnKind::kGru), kept("_, %h", RnnKind::kGru));
  EXPECT_GE(kept("%y, %h", RnnKind::kRnn), 64 * 32 * 64 * 4 + 2 * kStates) << "input, a gate and the state";
}

// With small activations the first layer is worst: every weight has its gradient then, and beside x only a's gradient
// is left.
TEST(Memory, GradientsOfWeightsPileUp) {
  std::string text(kNet);
  text.replace(text.find("256"), 3, "8");
  const MemoryPlan plan = planned(text, {.mode = Mode::kTraining, .precision = {}});
  EXPECT_EQ(plan.gradients, Bytes{kWeights});
  EXPECT_EQ(plan.activations, Bytes{2 * kAct / 32});
}

// y = x1 + gelu(x1) + ...: a sum hands its gradient on to both summands without a copy, and it lives until the one that
// was made first has its own.
TEST(Memory, SumsHandTheirGradientOn) {
  const MemoryPlan plan = planned(R"(graph "r" {
    input %x : f32[256, 128]
    parameter %w : f32[128, 128]
    %a = linear(%x, %w)
    %g = activation(%a) {kind = gelu}
    %y = binary(%a, %g) {kind = add}
    output %y
  })",
                                  {.mode = Mode::kTraining, .precision = {}});
  // At the sum: x and a are kept, and there is one gradient for y, a and g (g's is y's). At gelu: a's comes beside it.
  EXPECT_EQ(plan.activations, Bytes{(2 + 2) * kAct});
  EXPECT_EQ(plan.gradients, Bytes{0});
}

TEST(Memory, SummandsWhoseGradientIsNotTheSums) {
  const auto plan = [](int rows) {
    return planned(fmt::format(R"(graph "r" {{
      input %x : f32[256, 128]
      input %z : f32[1, 128]
      parameter %w : f32[128, 128]
      parameter %p : f32[{}, 128]
      %a = linear(%x, %w)
      %s = binary(%a, %p) {{kind = add}}
      %b = linear(%z, %w)
      %y = binary(%s, %b) {{kind = add}}
      output %y
    }})",
                               rows),
                   {.mode = Mode::kTraining, .precision = {}});
  };
  constexpr double kRow = 128 * 4;
  // Worst at the second layer: x and z are kept, there is one gradient for y and s and one for the row b, and that of
  // w.
  EXPECT_EQ(plan(1).activations, Bytes{2 * kAct + 2 * kRow});
  EXPECT_EQ(plan(1).gradients, Bytes{kWeights / 2});
  // With as many parameters added, at the first sum: theirs is there too, and b's gradient is gone. z is still held.
  EXPECT_EQ(plan(256).activations, Bytes{2 * kAct + kRow});
  EXPECT_EQ(plan(256).gradients, Bytes{kWeights / 2 + kAct});
}

// What is kept for backward where `kind` stands between two layers: x, and the layer's output once or, as the
// activation's input and as the next layer's, twice; with the gradients of the last layer's output and input.
TEST(Memory, OnlyGradientsThatReadTheResultAllowWorkInPlace) {
  const auto kept = [](std::string_view kind) {
    std::string text(kNet);
    text.replace(text.find("relu"), 4, kind);
    return planned(text, {.mode = Mode::kTraining, .precision = {}}).activations.value() / kAct - 2;
  };
  EXPECT_EQ(kept("relu"), 2);
  EXPECT_EQ(kept("leaky_relu"), 2);
  EXPECT_EQ(kept("relu6"), 3);
  EXPECT_EQ(kept("silu"), 3);
}

TEST(Memory, WhatOthersReadIsNotOverwritten) {
  const MemoryPlan plan = planned(R"(graph "r" {
    input %x : f32[256, 128]
    parameter %w : f32[128, 128]
    %a = linear(%x, %w)
    %r = activation(%a) {kind = relu}
    %y = binary(%a, %r) {kind = mul}
    output %y
  })",
                                  {.mode = Mode::kTraining, .precision = {}});
  // x, a and r are kept; gradients of y, a and r.
  EXPECT_EQ(plan.activations, Bytes{(3 + 3) * kAct});
}

TEST(Memory, ProductsWithSomethingFixedKeepThatAlone) {
  const auto product = [](std::string_view factor) {
    return planned(fmt::format(R"(graph "p" {{
      input %x : f32[256, 128]
      parameter %w : f32[128, 128]
      constant %half : f32[1] = [0.5]
      %a = linear(%x, %w)
      %y = binary(%a, {}) {{kind = mul}}
      output %y
    }})",
                               factor),
                   {.mode = Mode::kTraining, .precision = {}})
        .activations;
  };
  EXPECT_EQ(product("%half"), Bytes{(1 + 2) * kAct});  // x; gradients of y and a
  EXPECT_EQ(product("%x"), Bytes{(1 + 2) * kAct});     // x itself is the factor
  EXPECT_EQ(product("%a"), Bytes{(2 + 3) * kAct});     // a is kept, and has two gradients until they are added
}

TEST(Memory, OptimizersKeepTheirStates) {
  const auto states = [](Optimizer optimizer) {
    return planned(kNet, {.mode = Mode::kTraining, .precision = {}, .optimizer = optimizer}).optimizer_state.value();
  };
  EXPECT_EQ(states(Optimizer::kSgd), 0);
  EXPECT_EQ(states(Optimizer::kSgdMomentum), kWeights);
  EXPECT_EQ(states(Optimizer::kAdam), 2 * kWeights);
}

// PyTorch's Adam takes the roots of all second moments before it steps: of a network whose weights outweigh what it
// computes that is the worst moment, in which all gradients are there.
TEST(Memory, AnOptimizersStepNeedsRoom) {
  constexpr std::string_view kHeavy = R"(graph "h" {
    input %x : f32[1, 1024]
    parameter %w : f32[1024, 1024]
    parameter %v : f32[1024, 1024]
    %a = linear(%x, %w)
    %b = linear(%a, %v)
    output %b
  })";
  constexpr double kBoth = 2.0 * 1024 * 1024 * 4;
  const auto plan = [&](Optimizer optimizer, Runtime runtime) {
    return planned(kHeavy, {.mode = Mode::kTraining, .precision = {}, .runtime = runtime, .optimizer = optimizer});
  };
  EXPECT_EQ(plan(Optimizer::kAdam, Runtime::kPytorchEager).activations, Bytes{kBoth});
  EXPECT_EQ(plan(Optimizer::kAdam, Runtime::kPytorchEager).gradients, Bytes{kBoth});
  EXPECT_LT(plan(Optimizer::kSgd, Runtime::kPytorchEager).activations, Bytes{0.01 * kBoth});
  EXPECT_LT(plan(Optimizer::kAdam, Runtime::kTensorflow).activations, Bytes{0.01 * kBoth});
}

TEST(Memory, ReluOverwritesItsInput) {
  constexpr std::string_view kRelu = R"(graph "r" {
    input %x : f32[256, 128]
    %y = activation(%x) {kind = relu}
    output %y
  })";
  EXPECT_EQ(planned(kRelu, {}).activations, Bytes{kAct});
  std::string gelu(kRelu);
  gelu.replace(gelu.find("relu"), 4, "gelu");
  EXPECT_EQ(planned(gelu, {}).activations, Bytes{2 * kAct});
}

TEST(Memory, GeluIsNotInPlace) {
  std::string text(kNet);
  text.replace(text.find("relu"), 4, "gelu");
  // Training: x, a (gelu reads its input) and its output, which the second layer reads.
  EXPECT_EQ(planned(text, {.mode = Mode::kTraining, .precision = {}}).activations, Bytes{(3 + 2) * kAct});
}

TEST(Memory, DeviceMemoryHoldsMoreThanTheAllocatorKnows) {
  const Gpu& gpu = **Catalogue::shipped().find("a30");
  const MemoryPlan plan = planned(kNet, {});
  const auto memory = device_memory(plan, gpu, Mode::kInference);
  EXPECT_GT(memory.lo, plan.allocated());
  EXPECT_LT(memory.lo, memory.value);
  EXPECT_LT(memory.value, memory.hi);
}

// Slices are closed above: what is exactly as large fits, one byte more does not.
TEST(Memory, MigBoundsAreClosed) {
  Gpu gpu = **Catalogue::shipped().find("a100-sxm4-40gb");
  const std::array<MigProfile, 3> profiles{{{.name = "1g.5gb",
                                             .compute_slices = 1,
                                             .memory_slices = 1,
                                             .max_instances = 7,
                                             .memory = Bytes{5e9},
                                             .sm_count = 14,
                                             .source = "",
                                             .confirmed = true},
                                            {.name = "2g.10gb",
                                             .compute_slices = 2,
                                             .memory_slices = 2,
                                             .max_instances = 3,
                                             .memory = Bytes{10e9},
                                             .sm_count = 28,
                                             .source = "",
                                             .confirmed = true},
                                            {.name = "7g.40gb",
                                             .compute_slices = 7,
                                             .memory_slices = 8,
                                             .max_instances = 1,
                                             .memory = Bytes{40e9},
                                             .sm_count = 98,
                                             .source = "",
                                             .confirmed = true}}};
  gpu.mig_profiles = profiles;
  EXPECT_EQ(smallest_mig_profile(gpu, Bytes{5e9}), "1g.5gb");
  EXPECT_EQ(smallest_mig_profile(gpu, Bytes{5e9 + 1}), "2g.10gb");
  EXPECT_EQ(smallest_mig_profile(gpu, Bytes{40e9}), "7g.40gb");
  EXPECT_EQ(smallest_mig_profile(gpu, Bytes{40e9 + 1}), std::nullopt);
  EXPECT_EQ(smallest_mig_profile(**Catalogue::shipped().find("rtx-2080-ti"), Bytes{1}), std::nullopt);
}

// Of a B200's larger slices the catalogue has no memory: they hold as much a slice as those of two do.
TEST(Memory, SlicesWithoutAFigureAreAsLargeAsOthers) {
  const Gpu& gpu = **Catalogue::shipped().find("b200-sxm-180gb");
  EXPECT_EQ(smallest_mig_profile(gpu, Bytes{60e9}), "3g.90gb");
  EXPECT_EQ(smallest_mig_profile(gpu, Bytes{150e9}), "7g.180gb");
}

TEST(Memory, ShippedA100FitsItsSmallestSliceExactly) {
  const Gpu& gpu = **Catalogue::shipped().find("a100-sxm4-40gb");
  ASSERT_FALSE(gpu.mig_profiles.empty());
  ASSERT_TRUE(gpu.mig_profiles[0].memory);
  EXPECT_EQ(smallest_mig_profile(gpu, *gpu.mig_profiles[0].memory), "1g.5gb");
}

}  // namespace
}  // namespace joulecast
