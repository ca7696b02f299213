// SPDX-License-Identifier: Apache-2.0
// What training makes of gradients beside the operators' own kernels: sums where a value has several readers, and of
// views wholes in zeros and copies.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "joulecast/predict.h"
#include "predict/lower.h"

namespace joulecast {
namespace {

// As Swin's heads: three parts of one value, here of 3 x 8 x 4 numbers, 384 bytes, a part 128.
constexpr std::string_view kParts = R"(graph "parts" {
    input %x : f32[3, 8, 4]
    parameter %w : f32[4, 4]
    constant %i : i64 = 0
    constant %j : i64 = 1
    constant %k : i64 = 2
    %h = linear(%x, %w)
    %q = gather(%h, %i)
    %r = gather(%h, %j)
    %s = gather(%h, %k)
    output %q, %r, %s
  })";

struct Found {
  std::int64_t count = 0, calls = 0, forward = 0, backward = 0;  // executions, calls, bytes
};

Found found(PointwiseKind kind, std::string_view text, const PrepareOptions& options) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().text();
  const auto load = prepare(*graph, {}, options);
  EXPECT_TRUE(load) << load.error().text();
  Found sum;
  for (const LoweredOperation& operation : load->operations) {
    const auto* work = std::get_if<PointwiseWork>(&operation.work);
    if (work == nullptr || work->kind != kind) continue;
    sum.count += operation.count;
    sum.calls += operation.calls;
    sum.forward += operation.count * work->forward_bytes;
    sum.backward += operation.count * work->backward_bytes;
  }
  return sum;
}

constexpr PrepareOptions kTraining{.mode = Mode::kTraining, .precision = Precision::kFp32};

// Backward bytes of all copies.
std::int64_t copied(std::string_view text, const PrepareOptions& options) {
  return found(PointwiseKind::kCopy, text, options).backward;
}

// Squeeze-and-excitation of images that lie channels-last: the mean's gradient lies channels-first, and the sum with
// that of the product reads across: 2 x 4 x 8 x 8 elements, at three quarters of a place's cycles.
TEST(LowerGradient, OfSqueezedImagesIsAddedAcrossTheirOrder) {
  const auto placed = [](Layout layout, Runtime runtime, std::string_view squeeze) {
    const auto graph = parse_graph(fmt::format(R"(graph "squeeze" {{
      input %x : f32[2, 4, 8, 8]
      parameter %w : f32[4, 4, 1, 1]
      %h = conv(%x, %w)
      %s = {}
      %g = activation(%s) {{kind = sigmoid}}
      %y = binary(%h, %g) {{kind = mul}}
      output %y
    }})",
                                               squeeze));
    EXPECT_TRUE(graph) << graph.error().text();
    const auto load = prepare(
        *graph, {}, {.mode = Mode::kTraining, .precision = Precision::kFp32, .runtime = runtime, .layout = layout});
    EXPECT_TRUE(load) << load.error().text();
    std::int64_t sum = 0;
    for (const LoweredOperation& operation : load->operations) {
      const auto* work = std::get_if<PointwiseWork>(&operation.work);
      if (work != nullptr) sum += operation.count * work->placed;
    }
    return sum;
  };
  constexpr std::string_view kPool = "adaptive_pool(%h) {kind = average, size = [1, 1]}";
  constexpr std::string_view kMean = "reduce(%h) {kind = mean, axes = [2, 3], keep_axes = true}";
  constexpr std::string_view kMost = "adaptive_pool(%h) {kind = max, size = [1, 1]}";
  EXPECT_EQ(placed(Layout::kChannelsLast, Runtime::kPytorchEager, kPool), 384);
  EXPECT_EQ(placed(Layout::kChannelsLast, Runtime::kPytorchEager, kMean), 384);
  EXPECT_EQ(placed(Layout::kChannelsLast, Runtime::kPytorchEager, kMost), 0);
  EXPECT_EQ(placed(Layout::kChannelsFirst, Runtime::kPytorchEager, kPool), 0);
  EXPECT_EQ(placed(Layout::kChannelsLast, Runtime::kPytorchCompiled, kPool), 0);
}

// h is read by the convolution, by the sum beside it and by a ReLU: two kernels of 2048 bytes, three times each, beside
// that of the sum itself, which has none backward. Nobody wants a gradient of x or g, and a comparison has none.
constexpr std::string_view kFork = R"(graph "fork" {
    input %x : f32[2, 4, 8, 8]
    parameter %w : f32[4, 4, 1, 1]
    parameter %v : f32[4, 4, 1, 1]
    %g = activation(%x) {kind = sigmoid}
    %gg = binary(%g, %g) {kind = add}
    %h = conv(%x, %w)
    %c = activation(%h) {kind = relu}
    %a = conv(%h, %v)
    %b = binary(%a, %h) {kind = add}
    %d = binary(%h, %x) {kind = greater}
    output %b, %c, %gg, %d
  })";

// A table that meets the image is no parameter, and one that meets what is learnt is.
TEST(LowerGradient, OfTheMeanOfImagesThereIsNone) {
  constexpr std::string_view kMean = R"(graph "mean" {
    input %x : f32[2, 4, 8, 8]
    parameter %mean : f32[4, 1, 1]
    parameter %shift : f32[4, 1, 1]
    parameter %w : f32[4, 4, 1, 1]
    %c = binary(%x, %mean) {kind = sub}
    %r = activation(%c) {kind = sigmoid}
    %h = conv(%r, %w)
    %y = binary(%h, %shift) {kind = add}
    output %y
  })";
  EXPECT_EQ(found(PointwiseKind::kAdd, kMean, kTraining).backward, 2048 + 16);
  EXPECT_EQ(found(PointwiseKind::kSigmoid, kMean, kTraining).backward, 0);
  EXPECT_GT(found(PointwiseKind::kSigmoid, kMean, kTraining).forward, 0);
}

// What a body is given hangs on parameters, 64 bytes a step of eight, and what it gives as well, 512 bytes.
TEST(LowerGradient, OfBodiesAreMade) {
  constexpr std::string_view kScan = R"(graph "scan" {
    input %x : f32[8, 16]
    input %state : f32[16]
    %last, %all = scan(%state, %x) {states = 1, scanned = 1}
    body 0 { input %a : ? input %b : ? %m = binary(%a, %b) {kind = mul} output %m, %m }
    %y = activation(%all) {kind = sigmoid}
    output %y
  })";
  EXPECT_EQ(found(PointwiseKind::kMul, kScan, kTraining).backward, 8 * 2 * 3 * 64);
  EXPECT_EQ(found(PointwiseKind::kSigmoid, kScan, kTraining).backward, 3 * 512);
}

TEST(LowerGradient, OfEqualWorkInInferenceTellsNothingApart) {
  constexpr std::string_view kProducts = R"(graph "products" {
    input %x : f32[4, 64]
    parameter %w : f32[64, 64]
    %h = linear(%x, %w)
    %a = binary(%x, %x) {kind = mul}
    %b = binary(%h, %h) {kind = mul}
    %c = binary(%h, %x) {kind = mul}
    output %a, %b, %c
  })";
  const auto load =
      prepare(parse_graph(kProducts).value(), {}, {.mode = Mode::kInference, .precision = Precision::kFp32});
  EXPECT_EQ(load->operations.size(), 2U) << "the layer and three equal products";
}

TEST(LowerGradient, OfAValueWithSeveralReadersIsASum) {
  const Found sums = found(PointwiseKind::kAdd, kFork, kTraining);
  EXPECT_EQ(sums.count, 2 + 2);
  EXPECT_EQ(sums.calls, 2) << "autograd's engine adds them up: nothing of Python's";
  EXPECT_EQ(sums.forward, 4 * 3 * 2048);
  EXPECT_EQ(sums.backward, 0);
  EXPECT_EQ(found(PointwiseKind::kAdd, kFork, {.mode = Mode::kInference, .precision = Precision::kFp32}).count, 2);
}

TEST(LowerGradient, OfAForkIsOneSumInTensorFlowAndFusedWhenCompiled) {
  PrepareOptions options = kTraining;
  options.runtime = Runtime::kTensorflow;
  EXPECT_EQ(found(PointwiseKind::kAdd, kFork, options).forward, (2 * 3 + 3 + 1) * 2048);
  options.runtime = Runtime::kPytorchCompiled;
  EXPECT_EQ(found(PointwiseKind::kAdd, kFork, options).count, 0);
}

// Of the position [8, 4], 128 bytes, added to [3, 8, 4]; what is subtracted has another sign.
TEST(LowerGradient, OfASumIsAKernelWhereItWasBroadcastOrSubtracted) {
  constexpr std::string_view kGraph = R"(graph "sums" {
    input %x : f32[3, 8, 4]
    input %mask : f32[8, 4]
    parameter %w : f32[4, 4]
    parameter %position : f32[8, 4]
    %h = linear(%x, %w)
    %a = binary(%h, %position) {kind = add}
    %b = binary(%a, %mask) {kind = add}
    %k = linear(%b, %w)
    %y = binary(%k, %x) {kind = sub}
    %z = binary(%x, %y) {kind = sub}
    output %z
  })";
  const Found sums = found(PointwiseKind::kAdd, kGraph, kTraining);
  EXPECT_EQ(sums.backward, (384 + 128) + 2 * 384);
}

// Autograd's kernels one by one, of 1024 floats: n is 4096 bytes. NeuSight's V100 agrees: 5.2 million elements took
// 157 us backward for a product of two tensors (24 bytes each), 52 us for one by a number (8), 187 us for a cube (28).
std::int64_t backward_of(PointwiseKind kind, const std::string& formula) {
  const std::string text = R"(graph "formula" {
    input %x : f32[2, 8, 8, 8]
    parameter %w : f32[8, 8, 1, 1]
    parameter %v : f32[8, 8, 1, 1]
    constant %three : f32 = 3
    %h = conv(%x, %w)
    %g = conv(%x, %v)
    %s = adaptive_pool(%g) {kind = average, size = [1, 1]}
    %y = )" + formula + R"(
    output %y
  })";
  return found(kind, text, kTraining).backward;
}

TEST(LowerGradient, OfProductsQuotientsAndPowersIsAKernelForEachStep) {
  constexpr std::int64_t n = 4096, small = 2 * 8 * 4;
  EXPECT_EQ(backward_of(PointwiseKind::kMul, "binary(%h, %g) {kind = mul}"), 3 * n + 3 * n);
  EXPECT_EQ(backward_of(PointwiseKind::kMul, "binary(%h, %x) {kind = mul}"), 3 * n) << "nobody wants the input's";
  EXPECT_EQ(backward_of(PointwiseKind::kMul, "binary(%h, %s) {kind = mul}"), (2 * n + small) + 3 * n + (n + small))
      << "the factor of a channel is summed up over its places";
  EXPECT_EQ(backward_of(PointwiseKind::kMulScalar, "binary(%h, %three) {kind = mul}"), 2 * n + 4);
  EXPECT_EQ(backward_of(PointwiseKind::kDiv, "binary(%h, %g) {kind = div}"), 3 * n + (3 * n + 3 * n + 2 * n + 3 * n));
  EXPECT_EQ(backward_of(PointwiseKind::kPowScalar, "binary(%three, %h) {kind = pow}"), 2 * 4 + (2 * n + 4) + 3 * n);
  EXPECT_EQ(backward_of(PointwiseKind::kMulScalar, "binary(%h, %three) {kind = pow}"), 2 * n + 2 * n + 3 * n + 2 * 4)
      << "the cube";
}

TEST(LowerGradient, OfFunctionsIsAKernelForEachStep) {
  constexpr std::int64_t n = 4096;
  const auto of = [](const std::string& kind) {
    return backward_of(PointwiseKind::kTanh, "unary(%h) {kind = " + kind + "}");
  };
  EXPECT_EQ(of("neg"), 2 * n);
  EXPECT_EQ(of("exp"), 3 * n);
  EXPECT_EQ(of("sqrt"), (2 + 3) * n);
  EXPECT_EQ(of("square"), (2 + 2 + 3) * n);
  EXPECT_EQ(of("rsqrt"), (2 + 2 + 3) * n);
  EXPECT_EQ(of("erf"), (4 * 2 + 3) * n);
  EXPECT_EQ(of("asin"), (3 * 2 + 2 * 3) * n);
  EXPECT_EQ(of("acosh"), (3 * 2 + 3) * n);
  EXPECT_EQ(of("atanh"), (2 * 2 + 1 + 3) * n);
  EXPECT_EQ(of("round"), n) << "zeros";
  EXPECT_EQ(backward_of(PointwiseKind::kTanh, "unary(%x) {kind = square}"), 0) << "nobody wants the input's";
}

TEST(LowerGradient, OfEachPartIsTheWholeAndTheyAddUp) {
  // Each part: 384 in zeros, 128 read and written; two of them added to what is there.
  EXPECT_EQ(copied(kParts, kTraining), 3 * (384 + 256));
  EXPECT_EQ(found(PointwiseKind::kAdd, kParts, kTraining).forward, 2 * 3 * 384);
  EXPECT_EQ(copied(kParts, {.mode = Mode::kInference, .precision = Precision::kFp32}), 0);
}

TEST(LowerGradient, OfPartsIsFusedWhereARuntimeFuses) {
  EXPECT_EQ(
      copied(kParts, {.mode = Mode::kTraining, .precision = Precision::kFp32, .runtime = Runtime::kPytorchCompiled}),
      0);
}

TEST(LowerGradient, OfASplitIsWrittenOnce) {
  EXPECT_EQ(copied(R"(graph "split" {
    input %x : f32[6, 4]
    parameter %w : f32[4, 4]
    %h = linear(%x, %w)
    %a, %b = split(%h) {axis = 1}
    output %a, %b
  })",
                   {.mode = Mode::kTraining, .precision = Precision::kFp32}),
            2 * 96);
}

// b is joined behind a ReLU, which steps over the gaps of its gradient, c straight behind its layer, which does not,
// and d has another gradient to add, which makes a whole. Of each 2 x 4 x 8 x 8 floats, 2048 bytes.
constexpr std::string_view kJoined = R"(graph "joined" {
    input %x : f32[2, 4, 8, 8]
    parameter %w : f32[4, 4, 1, 1]
    parameter %v : f32[4, 4, 1, 1]
    %a = conv(%x, %w)
    %b = activation(%a) {kind = relu}
    %c = conv(%x, %v)
    %d = conv(%b, %w)
    %e = activation(%d) {kind = sigmoid}
    %y = concat(%x, %b, %c, %d) {axis = AXIS}
    output %y, %e
  })";

std::string joined_along(std::string_view axis) {
  return std::string(kJoined).replace(kJoined.find("AXIS"), 4, axis);
}

TEST(LowerGradient, OfJoinedPartsAreViewsThatLayersCopy) {
  EXPECT_EQ(copied(joined_along("1"), kTraining), 2 * 2048);
  EXPECT_EQ(copied(joined_along("-3"), kTraining), 2 * 2048);
  EXPECT_EQ(copied(joined_along("0"), kTraining), 0) << "whole images lie together";
}

TEST(LowerGradient, OfJoinedPartsAreCopiesInTensorFlow) {
  PrepareOptions options = kTraining;
  options.runtime = Runtime::kTensorflow;
  EXPECT_EQ(copied(joined_along("1"), options), 3 * 2 * 2048) << "of the input there is none";
}

// Of what `made` makes of %h and %g (convolutions of 2 x 8 x 8 x 8 floats, 4096 bytes) and %l (a layer's [2, 8, 8, 8]),
// joined to the input: the bytes of copies on the way back.
std::int64_t copied_behind(const std::string& made, int axis, int batch = 2) {
  return copied(fmt::format(R"(graph "joined" {{
    input %x : f32[{0}, 8, 8, 8]
    parameter %w : f32[8, 8, 1, 1]
    parameter %v : f32[8, 8]
    %h = conv(%x, %w)
    %g = conv(%x, %w)
    %l = linear(%x, %v)
    {1}
    %y = concat(%p, %x) {{axis = {2}}}
    output %y
  }})",
                            batch, made, axis),
                kTraining);
}

TEST(LowerGradient, OfASumIsHandedOnToThoseWhoWantItWhole) {
  EXPECT_EQ(copied_behind("%p = binary(%h, %g) {kind = add}", 1), 2 * 4096);
  EXPECT_EQ(copied_behind("%p = binary(%h, %g) {kind = sub}", 1), 2 * 4096);
  EXPECT_EQ(copied_behind("%p = binary(%h, %g) {kind = mul}", 1), 0);
  EXPECT_EQ(copied_behind("%p = dropout(%h) {probability = 0}", 1), 2 * 4096);
  EXPECT_EQ(copied_behind("%p = dropout(%h) {probability = 0.5}", 1), 0);
}

TEST(LowerGradient, OfALayersRowsMayLieApart) {
  EXPECT_EQ(copied_behind("%p = binary(%l, %x) {kind = sub}", 3), 0);
  EXPECT_EQ(copied_behind("%p = binary(%l, %l) {kind = add}", 3), 0);
  EXPECT_EQ(copied_behind("%p = binary(%l, %g) {kind = add}", 3), 2 * 4096) << "the convolution's";
  EXPECT_EQ(copied_behind("%p = binary(%l, %x) {kind = add}", 3), 0);
  EXPECT_EQ(copied_behind("%p = binary(%l, %x) {kind = add}", 1), 2 * 4096) << "gaps between rows and between images";
  EXPECT_EQ(copied_behind("%p = binary(%l, %x) {kind = add}", 0), 0);
}

TEST(LowerGradient, OfWhatWasTurnedIsNeverWhole) {
  EXPECT_EQ(copied_behind("%p = transpose(%h) {order = [0, 2, 3, 1]}", 1, 1), 2 * 2048);
  EXPECT_EQ(copied_behind("%p = binary(%h, %x) {kind = add}", 1, 1), 0) << "one image has no gaps";
}

// Shapes are read for nothing but shapes: the gradient stays the only one.
TEST(LowerGradient, OfAValueWhoseShapeIsReadThereIsOne) {
  EXPECT_EQ(copied_behind("%p = binary(%h, %x) {kind = add}\n %s = shape_of(%p)", 1), 2 * 4096);
  EXPECT_EQ(copied_behind("%p = binary(%h, %x) {kind = add}\n %s = activation(%p) {kind = relu}", 1), 0);
}

TEST(LowerGradient, OfAnExpansionThatRepeatsNothingIsNoKernel) {
  const auto expanded = [](int rows) {
    return copied(fmt::format(R"(graph "e" {{
      input %x : f32[{}, 4]
      parameter %w : f32[4, 4]
      constant %to : i64[2] = [6, 4]
      %h = linear(%x, %w)
      %y = expand(%h, %to)
      output %y
    }})",
                              rows),
                  kTraining);
  };
  EXPECT_EQ(expanded(1), 96 + 16);
  EXPECT_EQ(expanded(6), 0);
}

// A vision transformer's patches are turned and joined to a token that was repeated: what comes back is copied for the
// convolution, 8 x 16 x 4 floats, and summed up for the token.
TEST(LowerGradient, OfTurnedPatchesIsCopiedAndOfARepeatedTokenSummedUp) {
  EXPECT_EQ(copied(R"(graph "patches" {
    input %x : f32[8, 3, 16, 16]
    parameter %w : f32[4, 3, 4, 4]
    parameter %token : f32[1, 1, 4]
    constant %to : i64[3] = [8, 1, 4]
    constant %flat : i64[3] = [8, 4, 16]
    %a = conv(%x, %w) {stride = [4, 4]}
    %b = reshape(%a, %flat)
    %p = transpose(%b) {order = [0, 2, 1]}
    %t = expand(%token, %to)
    %y = concat(%t, %p) {axis = 1}
    output %y
  })",
                   kTraining),
            2 * 8 * 16 * 4 * 4 + (8 * 4 + 4) * 4);
}

TEST(LowerGradient, OfTheNetworksInputNobodyWants) {
  EXPECT_EQ(copied(R"(graph "input" {
    input %x : f32[3, 8]
    constant %i : i64 = 0
    %q = gather(%x, %i)
    %h = activation(%q) {kind = relu}
    output %h
  })",
                   {.mode = Mode::kTraining, .precision = Precision::kFp32}),
            0);
}

}  // namespace
}  // namespace joulecast
