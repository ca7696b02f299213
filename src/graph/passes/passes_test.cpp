// SPDX-License-Identifier: Apache-2.0
// Each idiom in the text form, and its near misses, which must stay as they are.
#include "joulecast/passes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <utility>

#include "joulecast/graph.h"

namespace joulecast {
namespace {

Graph parsed(const std::string& body) {
  auto graph = parse_graph("graph \"t\" {\n" + body + "}\n");
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().text());
  return graph ? std::move(*graph) : Graph{};
}

// The nodes that remain, a line each.
std::string folded(const std::string& body) {
  const Graph before = parsed(body);
  EXPECT_TRUE(validate(before));
  const Graph after = simplify(before);
  const auto valid = validate(after);
  EXPECT_TRUE(valid) << (valid ? "" : valid.error().text());
  std::istringstream lines(print_graph(after));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" = ") == std::string::npos || line.find('(') == std::string::npos) continue;
    if (line.find("constant ") != std::string::npos) continue;
    out += line.substr(line.find('%')) + "\n";
  }
  return out;
}

std::size_t nodes_left(const std::string& body) {
  return simplify(parsed(body)).nodes.size();
}

// Whether the same operators remain, in the same order.
bool stays(const std::string& body) {
  const Graph before = parsed(body);
  const Graph after = simplify(before);
  return std::equal(before.nodes.begin(), before.nodes.end(), after.nodes.begin(), after.nodes.end(),
                    [](const Node& a, const Node& b) { return a.op == b.op; });
}

const std::string kImage = "input %x : f32[batch, 64, 56, 56]\n";
const std::string kTokens = "input %x : f32[batch, seq, 768]\n";

TEST(Cleanup, DropsWhatNobodyReads) {
  const std::string body = kTokens + R"(
    parameter %unread : f32[768]
    constant %c : f32[] = [2.0]
    %a = binary(%x, %c) {kind = mul}
    %b = unary(%a) {kind = exp}
    %y = unary(%x) {kind = neg}
    output %y
)";
  EXPECT_EQ(folded(body), "%y = unary(%x)\n");
  const Graph after = simplify(parsed(body));
  EXPECT_EQ(after.values.size(), 2U);
  EXPECT_TRUE(after.contents.empty());
}

TEST(Cleanup, CastToTheOwnTypeGoes) {
  EXPECT_EQ(folded(kTokens + R"(
    %h = cast(%x) {to = f16}
    %again = cast(%h) {to = f16}
    %y = unary(%again) {kind = exp}
    output %y
)"),
            "%h = cast(%x) {to = f16}\n%y = unary(%h) {kind = exp}\n");
}

TEST(Cleanup, CastThatIsAnOutputStays) {
  EXPECT_TRUE(stays(kTokens + "%y = cast(%x)\noutput %y\n"));
}

TEST(Cleanup, IdentityTransposeGoesOthersStay) {
  EXPECT_EQ(folded(kTokens + R"(
    %a = transpose(%x) {order = [0, 1, 2]}
    %b = transpose(%a) {order = [0, 2, 1]}
    %y = unary(%b) {kind = exp}
    output %y
)"),
            "%b = transpose(%x) {order = [0, 2, 1]}\n%y = unary(%b) {kind = exp}\n");
}

const std::string kLinear = kTokens + R"(
    parameter %w : f32[3072, 768]
    parameter %b : f32[3072]
    parameter %positions : f32[1, 197, 3072]
    %wt = transpose(%w) {order = [1, 0]}
    %m = matmul(%x, %wt) "fc"
)";

TEST(LinearPass, TransposedWeightAndBiasBecomeOneNode) {
  EXPECT_EQ(folded(kLinear + "%y = binary(%b, %m) \"fc.bias\"\noutput %y\n"), "%y = linear(%x, %w, %b) \"fc.bias\"\n");
  EXPECT_EQ(folded(kLinear + "%y = binary(%m, %b)\noutput %y\n"), "%y = linear(%x, %w, %b)\n");
}

TEST(LinearPass, AnotherParameterIsNoBias) {
  EXPECT_EQ(folded(kLinear + "%y = binary(%m, %positions)\noutput %y\n"),
            "%m = linear(%x, %w) \"fc\"\n%y = binary(%m, %positions)\n");
}

TEST(LinearPass, ReadTwiceKeepsTheSum) {
  EXPECT_EQ(folded(kLinear + "%y = binary(%m, %b)\n%z = binary(%m, %y)\noutput %z\n"),
            "%m = linear(%x, %w) \"fc\"\n%y = binary(%m, %b)\n%z = binary(%m, %y)\n");
}

TEST(LinearPass, BiasOfAWeightStoredInOut) {
  EXPECT_EQ(folded(kTokens + R"(
    parameter %w : f32[768, 3072]
    parameter %b : f32[3072]
    %m = linear(%x, %w) {weight_in_out = true}
    %y = binary(%m, %b)
    output %y
)"),
            "%y = linear(%x, %w, %b) {weight_in_out = true}\n");
}

TEST(LinearPass, BiasWithAPartSetToZero) {
  EXPECT_EQ(folded(kLinear + "constant %at : i64[1, 1] = [0]\nconstant %zero : f32[1] = [0.0]\n" +
                   "%c = scatter(%b, %at, %zero) {kind = nd}\n%y = binary(%m, %c)\noutput %y\n"),
            "%c = scatter(%b, %at, %zero) {kind = nd}\n%y = linear(%x, %w, %c)\n");
}

TEST(ConvBias, IsTakenInWhereItHasTheChannels) {
  const std::string conv = kImage + R"(
    parameter %w : f32[128, 64, 1, 1]
    parameter %b : f32[1, 128, 1, 1]
    parameter %s : f32[128, 56]
    %c = conv(%x, %w)
)";
  EXPECT_EQ(folded(conv + "%y = binary(%c, %b)\noutput %y\n"), "%y = conv(%x, %w, %b)\n");
  EXPECT_TRUE(stays(conv + "%y = binary(%c, %s)\noutput %y\n"));
  EXPECT_EQ(simplify(parsed(conv + "%y = binary(%c, %b)\noutput %y\n")).values.back().type.shape, Shape{128});
}

TEST(ConvBias, BehindTheAxisThatAConvolutionOverTimeHadForAWhile) {
  const std::string conv = R"(
    input %x : f32[n, 64, 1, 100]
    parameter %w : f32[128, 64, 1, 3]
    parameter %b : f32[128, 1]
    parameter %s : f32[128]
    %c = conv(%x, %w)
)";
  EXPECT_EQ(folded(conv + "%q = squeeze(%c) {axes = [2]}\n%y = binary(%q, %b)\noutput %y\n"),
            "%c = conv(%x, %w, %b)\n%y = squeeze(%c) {axes = [2]}\n");
  EXPECT_EQ(folded(conv + "%q = squeeze(%c) {axes = [-2]}\n%y = binary(%b, %q)\noutput %y\n"),
            "%c = conv(%x, %w, %b)\n%y = squeeze(%c) {axes = [-2]}\n");
  EXPECT_TRUE(stays(conv + "%q = squeeze(%c) {axes = [2]}\n%y = binary(%q, %s)\noutput %y\n"));
  EXPECT_TRUE(stays(conv + "%q = squeeze(%c) {axes = [2]}\n%y = binary(%q, %b)\noutput %y, %c\n"));
}

TEST(QuantizedWeight, IsReadAsIntegers) {
  EXPECT_EQ(folded(kImage + R"(
    parameter %w : i8[128, 64, 1, 1]
    parameter %scale : f32[128]
    %q = quantize(%x, %scale)
    %d = dequantize(%q, %scale)
    %wf = dequantize(%w, %scale)
    %y = conv(%d, %wf)
    output %y
)"),
            "%q = quantize(%x, %scale)\n%d = dequantize(%q, %scale)\n%y = conv(%d, %w)\n");
}

TEST(QuantizedWeight, QuantizedFromFloatInTheGraph) {
  EXPECT_EQ(folded(kTokens + R"(
    parameter %w : f32[3072, 768]
    parameter %scale : f32[]
    %q = quantize(%w, %scale) {to = i8}
    %d = dequantize(%q, %scale)
    %t = transpose(%d) {order = [1, 0]}
    %y = matmul(%x, %t)
    output %y
)"),
            "%y = linear(%x, %w)\n");
}

const std::string kScalars = R"(
    constant %half : f32[] = [0.5]
    constant %one : f32[] = [1.0]
    constant %two : f32[] = [2.0]
    constant %three : f32[] = [3.0]
    constant %six : f32[] = [6.0]
    constant %zero : f32[] = [0.0]
    constant %root2 : f32[] = [1.41421354]
    constant %inverse_root2 : f32[] = [0.70710677]
    constant %root_2_pi : f32[] = [0.79788458]
    constant %cubic : f32[] = [0.044715]
    constant %quick : f32[] = [1.702]
    constant %eps : f32[] = [1e-6]
    constant %minus_inf : f32[] = [-3.4e38]
    constant %scale : f32[] = [0.125]
)";

TEST(Gelu, EveryOrderOfItsFactors) {
  const std::string gate = kTokens + kScalars + R"(
    %s = binary(%x, %root2) {kind = div}
    %e = unary(%s) {kind = erf}
    %g = binary(%e, %one)
)";
  const std::string gelu = "%y = activation(%x) {kind = gelu}\n";
  EXPECT_EQ(folded(gate + "%m = binary(%x, %g) {kind = mul}\n%y = binary(%m, %half) {kind = mul}\noutput %y\n"), gelu);
  EXPECT_EQ(folded(gate + "%m = binary(%half, %x) {kind = mul}\n%y = binary(%m, %g) {kind = mul}\noutput %y\n"), gelu);
  EXPECT_EQ(folded(gate + "%m = binary(%g, %half) {kind = mul}\n%y = binary(%m, %x) {kind = mul}\noutput %y\n"), gelu);
  EXPECT_EQ(folded(gate + "%m = binary(%x, %g) {kind = mul}\n%y = binary(%m, %two) {kind = div}\noutput %y\n"), gelu);
}

TEST(Gelu, MultipliedByTheInverseRoot) {
  EXPECT_EQ(folded(kTokens + kScalars + R"(
    %s = binary(%inverse_root2, %x) {kind = mul}
    %e = unary(%s) {kind = erf}
    %g = binary(%one, %e)
    %m = binary(%x, %half) {kind = mul}
    %y = binary(%m, %g) {kind = mul}
    output %y
)"),
            "%y = activation(%x) {kind = gelu}\n");
}

TEST(Gelu, OfAProductThatIsReadTwice) {
  EXPECT_EQ(folded(kTokens + kScalars + R"(
    %p = binary(%x, %x) {kind = mul}
    %s = binary(%p, %root2) {kind = div}
    %e = unary(%s) {kind = erf}
    %g = binary(%e, %one)
    %m = binary(%p, %g) {kind = mul}
    %y = binary(%m, %half) {kind = mul}
    output %y
)"),
            "%p = binary(%x, %x) {kind = mul}\n%y = activation(%p) {kind = gelu}\n");
}

TEST(Gelu, NearMissesStay) {
  const std::string start = kTokens + kScalars + "input %z : f32[batch, seq, 768]\n";
  const std::string end = "%m = binary(%x, %g) {kind = mul}\n%y = binary(%m, %half) {kind = mul}\noutput %y\n";
  const std::string wrong_scale =
      "%s = binary(%x, %two) {kind = div}\n%e = unary(%s) {kind = erf}\n%g = binary(%e, %one)\n";
  EXPECT_TRUE(stays(start + wrong_scale + end));
  const std::string other_x =
      "%s = binary(%z, %root2) {kind = div}\n%e = unary(%s) {kind = erf}\n%g = binary(%e, %one)\n";
  EXPECT_TRUE(stays(start + other_x + end));
  const std::string right =
      "%s = binary(%x, %root2) {kind = div}\n%e = unary(%s) {kind = erf}\n%g = binary(%e, %one)\n";
  EXPECT_TRUE(stays(start + right + end + "output %e\n"));  // the erf is read outside
}

// After %p, the cube of %x.
const std::string kGeluOfCube = R"(
    %c = binary(%p, %cubic) {kind = mul}
    %a = binary(%x, %c)
    %s = binary(%a, %root_2_pi) {kind = mul}
    %t = activation(%s) {kind = tanh}
    %g = binary(%t, %one)
    %h = binary(%x, %half) {kind = mul}
    %y = binary(%h, %g) {kind = mul}
    output %y
)";

TEST(GeluTanh, CubeAsProduct) {
  const std::string start = kTokens + kScalars;
  const std::string gelu = "%y = activation(%x) {kind = gelu_tanh}\n";
  EXPECT_EQ(folded(start + "%q = binary(%x, %x) {kind = mul}\n%p = binary(%x, %q) {kind = mul}\n" + kGeluOfCube), gelu);
  EXPECT_TRUE(stays(start + "%p = binary(%x, %x) {kind = mul}\n" + kGeluOfCube));
}

TEST(GeluTanh, AModelsOwnFormulaWithAPowerRunsAsItIs) {
  EXPECT_TRUE(stays(kTokens + kScalars + "%p = binary(%x, %three) {kind = pow}\n" + kGeluOfCube));
}

TEST(GeluTanh, WithXTakenOutOfTheSum) {
  EXPECT_EQ(folded(kTokens + kScalars + R"(
    %k = binary(%x, %cubic) {kind = mul}
    %k2 = binary(%k, %x) {kind = mul}
    %a = binary(%k2, %one)
    %r = binary(%x, %root_2_pi) {kind = mul}
    %s = binary(%r, %a) {kind = mul}
    %t = activation(%s) {kind = tanh}
    %g = binary(%t, %one)
    %h = binary(%x, %half) {kind = mul}
    %y = binary(%h, %g) {kind = mul}
    output %y
)"),
            "%y = activation(%x) {kind = gelu_tanh}\n");
}

TEST(Gates, SiluQuickGeluMish) {
  const std::string start = kTokens + kScalars;
  EXPECT_EQ(folded(start + "%s = activation(%x) {kind = sigmoid}\n%y = binary(%x, %s) {kind = mul}\noutput %y\n"),
            "%y = activation(%x) {kind = silu}\n");
  EXPECT_EQ(folded(start + "%k = binary(%x, %quick) {kind = mul}\n%s = activation(%k) {kind = sigmoid}\n"
                           "%y = binary(%s, %x) {kind = mul}\noutput %y\n"),
            "%y = activation(%x) {kind = quick_gelu}\n");
  EXPECT_EQ(folded(start + "%k = binary(%x, %one) {kind = mul}\n%s = activation(%k) {kind = sigmoid}\n"
                           "%y = binary(%s, %x) {kind = mul}\noutput %y\n"),
            "%y = activation(%x) {kind = silu}\n");
  EXPECT_EQ(folded(start + "%e = unary(%x) {kind = exp}\n%o = binary(%e, %one)\n%p = unary(%o) {kind = log}\n"
                           "%t = activation(%p) {kind = tanh}\n%y = binary(%x, %t) {kind = mul}\noutput %y\n"),
            "%y = activation(%x) {kind = mish}\n");
}

TEST(Gates, GateOfSomethingElseStays) {
  EXPECT_TRUE(stays(kTokens + "input %z : f32[batch, seq, 768]\n%s = activation(%z) {kind = sigmoid}\n"
                              "%y = binary(%x, %s) {kind = mul}\noutput %y\n"));
  EXPECT_TRUE(stays(kTokens + kScalars +
                    "%k = binary(%x, %two) {kind = mul}\n%s = activation(%k) {kind = sigmoid}\n"
                    "%y = binary(%s, %x) {kind = mul}\noutput %y\n"));
  EXPECT_TRUE(stays(kTokens + "%s = activation(%x) {kind = sigmoid}\n%y = binary(%x, %s) {kind = mul}\n"
                              "output %y\noutput %s\n"));
}

TEST(HardGates, Relu6HardsigmoidHardswish) {
  const std::string start = kImage + kScalars;
  const std::string clip = "%a = binary(%x, %three)\n%r = activation(%a, %zero, %six) {kind = clip}\n";
  EXPECT_EQ(folded(start + "%y = activation(%x, %zero, %six) {kind = clip}\noutput %y\n"),
            "%y = activation(%x) {kind = relu6}\n");
  EXPECT_TRUE(stays(start + "%y = activation(%x, %one, %six) {kind = clip}\noutput %y\n"));
  EXPECT_EQ(folded(start + clip + "%y = binary(%r, %six) {kind = div}\noutput %y\n"),
            "%y = activation(%x) {kind = hardsigmoid}\n");
  EXPECT_EQ(folded(start + clip + "%g = binary(%r, %six) {kind = div}\n%y = binary(%x, %g) {kind = mul}\noutput %y\n"),
            "%y = activation(%x) {kind = hardswish}\n");
  EXPECT_EQ(folded(start + clip + "%g = binary(%x, %r) {kind = mul}\n%y = binary(%g, %six) {kind = div}\noutput %y\n"),
            "%y = activation(%x) {kind = hardswish}\n");
  EXPECT_EQ(nodes_left(start + clip + "%y = binary(%r, %three) {kind = div}\noutput %y\n"), 3U);
}

TEST(Logarithms, OfSoftmaxAndSigmoid) {
  EXPECT_EQ(folded(kTokens + "%s = softmax(%x)\n%y = unary(%s) {kind = log}\noutput %y\n"),
            "%y = softmax(%x) {log = true}\n");
  EXPECT_EQ(folded(kTokens + "%s = activation(%x) {kind = sigmoid}\n%y = unary(%s) {kind = log}\noutput %y\n"),
            "%y = activation(%x) {kind = log_sigmoid}\n");
  EXPECT_TRUE(stays(kTokens + "%s = softmax(%x)\n%y = unary(%s) {kind = log}\noutput %y\noutput %s\n"));
}

TEST(ReciprocalRoot, InBothExportersWords) {
  for (const char* inverse : {"%y = binary(%one, %r) {kind = div}\n", "%y = unary(%r) {kind = reciprocal}\n"}) {
    EXPECT_EQ(folded(kTokens + kScalars + "%r = unary(%x) {kind = sqrt}\n" + inverse + "output %y\n"),
              "%y = unary(%x) {kind = rsqrt}\n");
    EXPECT_TRUE(stays(kTokens + kScalars + "%r = unary(%x) {kind = sqrt}\n" + inverse + "output %y\noutput %r\n"));
  }
  EXPECT_TRUE(
      stays(kTokens + kScalars + "%r = unary(%x) {kind = sqrt}\n%y = binary(%two, %r) {kind = div}\noutput %y\n"));
}

std::string layer_norm(const std::string& axes, const std::string& square = "%s = binary(%d, %two) {kind = pow}\n") {
  return kScalars + R"(
    parameter %w : f32[768]
    parameter %b : f32[768]
    %mean = reduce(%x) {kind = mean, axes = )" +
         axes + R"(}
    %d = binary(%x, %mean) {kind = sub}
    )" + square +
         "%v = reduce(%s) {kind = mean, axes = " + axes + R"(}
    %ve = binary(%v, %eps)
    %r = unary(%ve) {kind = sqrt}
    %n = binary(%d, %r) {kind = div}
)";
}
const std::string kAffine = "%k = binary(%n, %w) {kind = mul}\n%y = binary(%k, %b) \"norm\"\noutput %y\n";

TEST(LayerNormPass, WrittenOut) {
  const std::string whole = "%y = layer_norm(%x, %w, %b) \"norm\"\n";
  EXPECT_EQ(folded(kTokens + layer_norm("[-1]") + kAffine), whole);
  EXPECT_EQ(folded(kTokens + layer_norm("[2]") + kAffine), whole);
  EXPECT_EQ(folded(kTokens + layer_norm("[-1]", "%s = binary(%d, %d) {kind = mul}\n") + kAffine), whole);
  EXPECT_EQ(folded(kTokens + layer_norm("[-1]") + "output %n\n"), "%n = layer_norm(%x)\n");
}

TEST(LayerNormPass, WithCastsOfMixedPrecision) {
  EXPECT_EQ(folded("input %x : f16[batch, seq, 768]\n" +
                   layer_norm("[-1]", "%f = cast(%d)\n%s = binary(%f, %two) {kind = pow}\n") + "output %n\n"),
            "%n = layer_norm(%x)\n");
}

TEST(LayerNormPass, NearMissesStay) {
  EXPECT_TRUE(stays(kTokens + layer_norm("[1]") + "output %n\n"));              // not the last axis
  EXPECT_TRUE(stays(kTokens + layer_norm("[-1]") + "output %n\noutput %v\n"));  // the variance is read outside
}

const std::string kPermuted = kImage + R"(
    parameter %w : f32[64]
    parameter %b : f32[64]
    %p = transpose(%x) {order = [0, 2, 3, 1]}
    %n = layer_norm(%p, %w, %b)
)";

TEST(LayerNormChannels, BetweenTwoPermutations) {
  EXPECT_EQ(folded(kPermuted + "%y = transpose(%n) {order = [0, 3, 1, 2]}\noutput %y\n"),
            "%y = layer_norm(%x, %w, %b) {channels_first = true}\n");
  EXPECT_TRUE(stays(kPermuted + "%y = transpose(%n) {order = [0, 3, 2, 1]}\noutput %y\n"));
  EXPECT_TRUE(stays(kPermuted + "%y = transpose(%n) {order = [0, 3, 1, 2]}\noutput %y\noutput %n\n"));
}

std::string rms_norm(const std::string& root) {
  return kScalars + "parameter %w : f32[768]\n%s = binary(%x, %two) {kind = pow}\n" +
         "%v = reduce(%s) {kind = mean, axes = [-1]}\n%ve = binary(%v, %eps)\n" + root;
}

TEST(RmsNormPass, InEverySpelling) {
  const std::string scale = "%y = binary(%w, %n) {kind = mul}\noutput %y\n";
  const std::string whole = "%y = rms_norm(%x, %w) {by_hand = true}\n";
  const std::string sqrt = "%r = unary(%ve) {kind = sqrt}\n";
  const std::string product = "%n = binary(%x, %i) {kind = mul}\n";
  EXPECT_EQ(folded(kTokens + rms_norm(sqrt + "%i = unary(%r) {kind = reciprocal}\n" + product) + scale), whole);
  EXPECT_EQ(folded(kTokens + rms_norm(sqrt + "%i = binary(%one, %r) {kind = div}\n" + product) + scale), whole);
  EXPECT_EQ(folded(kTokens + rms_norm("%i = unary(%ve) {kind = rsqrt}\n" + product) + scale), whole);
  EXPECT_EQ(folded(kTokens + rms_norm(sqrt + "%n = binary(%x, %r) {kind = div}\n") + scale), whole);
}

TEST(RmsNormPass, OfHalfPrecisionThroughSingle) {
  EXPECT_EQ(folded("input %h : f16[batch, seq, 768]\n%x = cast(%h)\n" +
                   rms_norm("%i = unary(%ve) {kind = rsqrt}\n%n = binary(%x, %i) {kind = mul}\n") +
                   "%c = cast(%n) {to = f16}\n%y = binary(%w, %c) {kind = mul}\noutput %y\n"),
            "%y = rms_norm(%h, %w) {by_hand = true}\n");
}

TEST(RmsNormPass, ScaleOfOneMoreThanTheWeight) {
  EXPECT_EQ(folded(kTokens + rms_norm("%i = unary(%ve) {kind = rsqrt}\n%n = binary(%x, %i) {kind = mul}\n") +
                   "%w1 = binary(%w, %one)\n%y = binary(%n, %w1) {kind = mul}\noutput %y\n"),
            "%w1 = binary(%w, %one)\n%y = rms_norm(%x, %w1) {by_hand = true}\n");
}

TEST(RmsNormPass, OfAnotherTensorStays) {
  EXPECT_TRUE(stays("input %z : f32[batch, seq, 768]\n" + kTokens +
                    rms_norm("%i = unary(%ve) {kind = rsqrt}\n%n = binary(%z, %i) {kind = mul}\noutput %n\n")));
}

std::string group_norm(const std::string& groups, const std::string& ones) {
  return kImage + "constant %shape : i64[3] = [0, " + groups + ", -1]\nconstant %ones : f32[2] = " + ones + R"(
    constant %zeros : f32[2] = [0.0, 0.0]
    parameter %w : f32[64]
    parameter %b : f32[64, 1, 1]
    constant %axes : i64[2] = [1, 2]
    %g = reshape(%x, %shape)
    %n = instance_norm(%g, %ones, %zeros)
    %s = shape_of(%x)
    %u = reshape(%n, %s)
    %wu = unsqueeze(%w, %axes)
    %k = binary(%u, %wu) {kind = mul}
    %y = binary(%k, %b)
    output %y
)";
}

TEST(GroupNormPass, AroundInstanceNormalization) {
  EXPECT_EQ(folded(group_norm("2", "[1.0, 1.0]")), "%y = group_norm(%x, %w, %b) {groups = 2}\n");
}

TEST(GroupNormPass, WithOtherScalesStays) {
  EXPECT_TRUE(stays(group_norm("2", "[1.0, 0.5]")));
}

TEST(BatchNormPass, OverParameters) {
  const std::string body = kImage + kScalars + R"(
    parameter %mean : f32[1, 64, 1, 1]
    parameter %var : f32[1, 64, 1, 1]
    parameter %w : f32[1, 64, 1, 1]
    parameter %b : f32[1, 64, 1, 1]
    %d = binary(%x, %mean) {kind = sub}
    %ve = binary(%var, %eps)
    %r = unary(%ve) {kind = rsqrt}
    %n = binary(%d, %r) {kind = mul}
    %k = binary(%n, %w) {kind = mul}
    %y = binary(%k, %b)
    output %y
)";
  EXPECT_EQ(folded(body), "%y = batch_norm(%x, %w, %b, %mean, %var)\n");
}

const std::string kAppliedBatchNorm = kImage + kScalars + R"(
    parameter %mean : f32[1, 1, 1, 64]
    parameter %var : f32[1, 1, 1, 64]
    parameter %w : f32[1, 1, 1, 64]
    parameter %b : f32[1, 1, 1, 64]
    constant %shape : i64[4] = [1, 64, 1, 1]
    %ve = binary(%var, %eps)
    %r = unary(%ve) {kind = rsqrt}
    %s = binary(%r, %w) {kind = mul}
    %sc = reshape(%s, %shape)
    %k = binary(%x, %sc) {kind = mul}
    %m = binary(%mean, %s) {kind = mul}
    %o = binary(%b, %m) {kind = sub}
    %oc = reshape(%o, %shape)
    %y = binary(%k, %oc)
    output %y
)";

TEST(BatchNormPass, AsTensorflowAppliesIt) {
  EXPECT_TRUE(folded(kAppliedBatchNorm).ends_with("%y = batch_norm(%x, %w, %b, %mean, %var)\n"))
      << folded(kAppliedBatchNorm);
}

TEST(BatchNormPass, AppliedToSomethingElseStays) {
  EXPECT_TRUE(stays(kAppliedBatchNorm + "output %s\n"));
  std::string body = kAppliedBatchNorm;
  body.replace(body.find("%m = binary(%mean, %s)"), 22, "%m = binary(%mean, %r)");
  EXPECT_TRUE(stays(body));
}

TEST(LayerNormPass, AsTensorflowAppliesIt) {
  EXPECT_EQ(folded(kTokens + kScalars + R"(
    parameter %w : f32[1, 1, 768]
    parameter %b : f32[1, 1, 768]
    %mean = reduce(%x) {kind = mean, axes = [-1]}
    %d = binary(%x, %mean) {kind = sub}
    %sq = unary(%d) {kind = square}
    %var = reduce(%sq) {kind = mean, axes = [-1]}
    %ve = binary(%var, %eps)
    %r = unary(%ve) {kind = rsqrt}
    %s = binary(%r, %w) {kind = mul}
    %n = unary(%mean) {kind = neg}
    %m = binary(%n, %s) {kind = mul}
    %o = binary(%m, %b)
    %k = binary(%x, %s) {kind = mul}
    %y = binary(%k, %o)
    output %y
)"),
            "%y = layer_norm(%x, %w, %b)\n");
}

TEST(BatchNormPass, ScaleAndShiftAloneStay) {
  EXPECT_TRUE(stays(kImage + "parameter %w : f32[1, 64, 1, 1]\nparameter %b : f32[1, 64, 1, 1]\n"
                             "%k = binary(%x, %w) {kind = mul}\n%y = binary(%k, %b)\noutput %y\n"));
}

const std::string kHeads = kScalars + R"(
    input %q : f32[batch, 12, n, 64]
    input %k : f32[batch, 12, m, 64]
    input %v : f32[batch, 12, m, 64]
    input %bias : f32[1, 12, n, m]
    input %mask : bool[batch, 1, n, m]
)";
const std::string kAttention = "%y = attention(%q, %k, %v)\n";

TEST(AttentionPass, ScaledOnBothSidesAsTorchExports) {
  EXPECT_EQ(folded(kHeads + R"(
    %kt = transpose(%k) {order = [0, 1, 3, 2]}
    %qs = binary(%q, %scale) {kind = mul}
    %ks = binary(%kt, %scale) {kind = mul}
    %s = matmul(%qs, %ks)
    %p = softmax(%s)
    %y = matmul(%p, %v) "sdpa"
    output %y
)"),
            "%y = attention(%q, %k, %v) \"sdpa\"\n");
}

// Windows of an image, each with heads. PyTorch's own function alone: what a model writes out itself stays.
TEST(AttentionPass, OnOtherThanFourAxesOnlyWhatTorchExports) {
  const auto on_axes = [](std::string_view front, std::string_view order, std::string_view key_scale) {
    return kScalars + fmt::format(R"(
    input %q : f32[{0}, n, 64]
    input %k : f32[{0}, m, 64]
    input %v : f32[{0}, m, 64]
    %kt = transpose(%k) {{order = {1}}}
    %qs = binary(%q, %scale) {{kind = mul}}
    {2}
    %s = matmul(%qs, %ks)
    %p = softmax(%s)
    %y = matmul(%p, %v)
    output %y
)",
                                  front, order, key_scale);
  };
  const std::string scaled = "%ks = binary(%kt, %scale) {kind = mul}", plain = "%ks = unary(%kt) {kind = abs}";
  EXPECT_EQ(folded(on_axes("batch, 4, 12", "[0, 1, 2, 4, 3]", scaled)), kAttention);
  EXPECT_EQ(folded(on_axes("batch", "[0, 2, 1]", scaled)), kAttention);
  EXPECT_EQ(folded(on_axes("batch, 4, 12", "[0, 1, 2, 4, 3]", plain)).find("attention"), std::string::npos);
  const std::string by_hand = on_axes("batch, 4, 12", "[0, 1, 2, 4, 3]", "");
  const auto read_unscaled = [](std::string text) { return text.replace(text.find("%ks)"), 4, "%kt)"); };
  EXPECT_EQ(folded(read_unscaled(by_hand)).find("attention"), std::string::npos);
  EXPECT_EQ(folded(read_unscaled(on_axes("batch, 12", "[0, 1, 3, 2]", ""))),
            "%y = attention(%q, %k, %v) {by_hand = true}\n");
}

// The caller transposed the key as well, and both transpositions were folded away.
const std::string kSwappedHeads = kScalars + R"(
    input %x : f32[batch, 12, 64, n]
    input %k : f32[batch, 12, 64, m]
    input %v : f32[batch, 12, m, 64]
    %q = transpose(%x) {order = [0, 1, 3, 2]}
)";

// What run_decompositions() of torch.export makes of matmul on more than three axes; `last` is the extent that b merges
// to.
std::string decomposed_product(std::string_view a, std::string_view b, int columns, int last) {
  return fmt::format(R"(
    constant %sa : i64[4] = [2, 4, 6, 8]
    %ea = expand(%{0}, %sa)
    constant %ma : i64[3] = [8, 6, 8]
    %ra = reshape(%ea, %ma)
    constant %sb : i64[4] = [2, 4, 8, {2}]
    %eb = expand(%{1}, %sb)
    constant %mb : i64[3] = [8, {3}, -1]
    constant %mc : i64[3] = [8, 8, {2}]
    %rb = reshape(%eb, {4})
    %p = matmul(%ra, %rb)
    constant %so : i64[4] = [2, 4, 6, {2}]
    %y = reshape(%p, %so)
  )",
                     a, b, columns, last, last == 8 ? "%mc" : "%mb");
}

TEST(DecomposedMatmulPass, ExpandedMergedAndPartedAxesAreOneProduct) {
  const std::string inputs = "input %a : f32[2, 4, 6, 8]\ninput %b : f32[2, 4, 8, 5]\n";
  EXPECT_EQ(folded(inputs + decomposed_product("a", "b", 5, 8) + "output %y\n"), "%y = matmul(%a, %b)\n");
  // What the second operand is merged to is not said.
  EXPECT_NE(folded(inputs + decomposed_product("a", "b", 5, -8) + "output %y\n"), "%y = matmul(%a, %b)\n");
  // The product is read by others too.
  EXPECT_NE(folded(inputs + decomposed_product("a", "b", 5, 8) + "output %y\noutput %p\n"), "%y = matmul(%a, %b)\n");
}

TEST(AttentionPass, GuardAgainstRowsThatAreAllMasked) {
  const std::string text = R"(
    input %q : f32[2, 4, 6, 8]
    input %k : f32[2, 4, 6, 8]
    input %v : f32[2, 4, 6, 8]
    %kt = transpose(%k) {order = [0, 1, 3, 2]}
    %s = matmul(%q, %kt)
    %p = softmax(%s)
    constant %low : f32[] = [-1.7e+308]
    %shut = binary(%s, %low) {kind = equal}
    %open = unary(%shut) {kind = not}
    %some = reduce(%open) {kind = any, axes = [-1]}
    %none = unary(%some) {kind = not}
    %shape = shape_of(%p)
    %zero = fill(%shape) {value = FILL}
    %w = where(%none, %zero, %p)
    %y = matmul(%w, %v)
    output %y
  )";
  const auto with = [&](std::string_view value) {
    std::string out = text;
    return out.replace(out.find("FILL"), 4, value);
  };
  EXPECT_EQ(folded(with("0")), "%y = attention(%q, %k, %v)\n");
  EXPECT_NE(folded(with("1")), "%y = attention(%q, %k, %v)\n");
}

TEST(AttentionPass, KeyThatTorchWasGivenTransposed) {
  EXPECT_EQ(folded(kSwappedHeads + R"(
    %qs = binary(%q, %scale) {kind = mul}
    %ks = binary(%k, %scale) {kind = mul}
    %s = matmul(%qs, %ks)
    %p = softmax(%s)
    %y = matmul(%p, %v)
    output %y
)"),
            "%q = transpose(%x) {order = [0, 1, 3, 2]}\n%s = transpose(%k) {order = [0, 1, 3, 2]}\n"
            "%y = attention(%q, %s, %v)\n");
}

TEST(AttentionPass, ProductsThatTheNetworkWritesItselfStay) {
  EXPECT_TRUE(stays(kSwappedHeads + R"(
    %s = matmul(%q, %k)
    %a = binary(%s, %scale) {kind = mul}
    %p = softmax(%a)
    %y = matmul(%p, %v)
    output %y
)"));
}

TEST(AttentionPass, ScaleFromTheShape) {
  EXPECT_EQ(folded(kHeads + R"(
    constant %from : i64[1] = [-1]
    constant %to : i64[1] = [9223372036854775807]
    %shape = shape_of(%q)
    %d = slice(%shape, %from, %to)
    %df = cast(%d)
    %r = unary(%df) {kind = sqrt}
    %i = binary(%one, %r) {kind = div}
    %ri = unary(%i) {kind = sqrt}
    %kt = transpose(%k) {order = [0, 1, 3, 2]}
    %qs = binary(%q, %ri) {kind = mul}
    %ks = binary(%kt, %ri) {kind = mul}
    %s = matmul(%qs, %ks)
    %p = softmax(%s)
    %y = matmul(%p, %v)
    output %y
)"),
            kAttention);
}

TEST(AttentionPass, KeyTransposedThroughThreeAxes) {
  EXPECT_EQ(folded(kHeads + R"(
    constant %first : i64[1] = [-9223372036854775808]
    constant %minus1 : i64[1] = [-1]
    constant %minus2 : i64[1] = [-2]
    constant %to : i64[1] = [9223372036854775807]
    %shape = shape_of(%k)
    %d = slice(%shape, %minus1, %to)
    %m = slice(%shape, %minus2, %minus1)
    %rest = slice(%shape, %first, %minus2)
    %shape3 = concat(%minus1, %m, %d)
    %k3 = reshape(%k, %shape3)
    %kt3 = transpose(%k3) {order = [0, 2, 1]}
    %four = concat(%rest, %d, %m)
    %kt = reshape(%kt3, %four)
    %s = matmul(%q, %kt)
    %p = softmax(%s)
    %nan = unary(%p) {kind = is_nan}
    %guarded = where(%nan, %zero, %p)
    %y = matmul(%guarded, %v)
    output %y
)"),
            kAttention);
}

TEST(AttentionPass, TranspositionMergedWithThatOfTheHeads) {
  EXPECT_EQ(folded(kScalars + R"(
    input %q : f32[batch, 12, n, 64]
    input %k : f32[batch, m, 12, 64]
    input %v : f32[batch, 12, m, 64]
    %kt = transpose(%k) {order = [0, 2, 3, 1]}
    %s = matmul(%q, %kt)
    %p = softmax(%s)
    %y = matmul(%p, %v)
    output %y
)"),
            "%kt = transpose(%k) {order = [0, 2, 1, 3]}\n%y = attention(%q, %kt, %v) {by_hand = true}\n");
}

std::string masked(const std::string& mask) {
  return kHeads + "%kt = transpose(%k) {order = [0, 1, 3, 2]}\n%t = matmul(%q, %kt)\n" +
         "%s = binary(%t, %scale) {kind = mul}\n" + mask + "%p = softmax(%a)\n%y = matmul(%p, %v)\noutput %y\n";
}

TEST(AttentionPass, Masks) {
  EXPECT_EQ(folded(masked("%a = binary(%s, %bias)\n")),
            "%y = attention(%q, %k, %v, %bias) {by_hand = true, scales = 1, masks = 1}\n");
  EXPECT_EQ(folded(masked("%a = binary(%bias, %s)\n")),
            "%y = attention(%q, %k, %v, %bias) {by_hand = true, scales = 1, masks = 1}\n");
  EXPECT_EQ(folded(masked("%f = where(%mask, %zero, %minus_inf)\n%a = binary(%s, %f)\n")),
            "%y = attention(%q, %k, %v, %mask) {by_hand = true, scales = 1, masks = 1}\n");
  EXPECT_EQ(folded(masked("%a = where(%mask, %s, %minus_inf)\n")),
            "%y = attention(%q, %k, %v, %mask) {by_hand = true, scales = 1, fills = 1}\n");
  EXPECT_EQ(folded(masked("%a = where(%mask, %s, %minus_inf) {filled = true}\n")),
            "%y = attention(%q, %k, %v, %mask) {by_hand = true, scales = 1, fills = 2}\n");
}

TEST(AttentionPass, MaskThatLetsAllInIsNone) {
  EXPECT_EQ(folded(masked(R"(
    constant %all : bool[4] = [1, 1, 1, 1]
    constant %size : i64[4] = [2, 1, 4, 4]
    %wide = expand(%all, %size)
    %f = where(%wide, %zero, %minus_inf)
    %a = binary(%s, %f)
)")),
            "%y = attention(%q, %k, %v) {by_hand = true, scales = 1, masks = 1}\n");
  EXPECT_EQ(folded(masked(R"(
    constant %some : bool[4] = [1, 0, 1, 1]
    %f = where(%some, %zero, %minus_inf)
    %a = binary(%s, %f)
)")),
            "%y = attention(%q, %k, %v, %some) {by_hand = true, scales = 1, masks = 1}\n");
}

TEST(AttentionPass, TriangleOfOnesIsCausal) {
  EXPECT_EQ(folded(masked(R"(
    constant %size : i64[2] = [16, 16]
    %ones = fill(%size) {value = 1}
    %tri = triangle(%ones)
    %out = binary(%tri, %zero) {kind = equal}
    %f = where(%out, %minus_inf, %zero)
    %a = binary(%s, %f)
)")),
            "%y = attention(%q, %k, %v) {causal = true, by_hand = true, scales = 1, masks = 1}\n");
}

// Keras makes its masks for the shape of the scores, which are then read by more than the softmax.
TEST(AttentionPass, MaskOfTheShapeOfTheScores) {
  const std::string ones = R"(
    %shape = shape_of(%s)
    %ones = fill(%shape) {element = bool, value = 1}
)";
  const std::string triangle = R"(
    %rows = shape_of(%s) {begin = 2}
    %square = fill(%rows) {element = bool, value = 1}
    %tri = triangle(%square)
    %tri3 = unsqueeze(%tri) {axes = [0]}
    %tri4 = unsqueeze(%tri3) {axes = [0]}
)";
  const std::string causal = "%y = attention(%q, %k, %v) {causal = true, by_hand = true, scales = 1, fills = 1}\n";
  const std::string fill = "%a = where(%both, %s, %minus_inf)\n";
  EXPECT_EQ(folded(masked(ones + triangle + "%both = binary(%ones, %tri4) {kind = and}\n" + fill)), causal);
  EXPECT_EQ(folded(masked(ones + triangle + "%both = binary(%tri4, %ones) {kind = and}\n" + fill)), causal);
  EXPECT_EQ(folded(masked(ones + "%both = binary(%ones, %mask) {kind = and}\n" + fill)),
            "%y = attention(%q, %k, %v, %mask) {by_hand = true, scales = 1, fills = 1}\n");
  // Whatever else reads the scores or what was made of them keeps them.
  for (const std::string other : {"output %shape\n", "output %ones\n", "output %s\n"}) {
    const std::string left =
        folded(masked(ones + triangle + "%both = binary(%ones, %tri4) {kind = and}\n" + fill + other));
    EXPECT_EQ(left.find("attention"), std::string::npos) << left;
  }
  // Nothing but zeros is no mask of ones.
  const std::string none = "%shape = shape_of(%s)\n%ones = fill(%shape) {element = bool, value = 0}\n";
  EXPECT_EQ(folded(masked(none + "%both = binary(%ones, %mask) {kind = and}\n" + fill)).find("attention"),
            std::string::npos);
}

TEST(AttentionPass, PlacesComparedAreATriangle) {
  const auto compared = [](int row, int column) {
    return folded(masked(fmt::format(R"(
    constant %size : i64[3] = [1, 16, 16]
    %ones = fill(%size) {{element = i32, value = 1}}
    %row = cumulate(%ones) {{axis = {}}}
    %column = cumulate(%ones) {{axis = {}}}
    %past = binary(%row, %column) {{kind = greater_equal}}
    %tri4 = unsqueeze(%past) {{axes = [1]}}
    %a = where(%tri4, %s, %minus_inf)
)",
                                     row, column)));
  };
  EXPECT_EQ(compared(1, 2), "%y = attention(%q, %k, %v) {causal = true, by_hand = true, scales = 1, fills = 1}\n");
  EXPECT_NE(compared(2, 1).find("%tri4) {by_hand = true, scales = 1, fills = 1}"), std::string::npos) << compared(2, 1);
}

TEST(AttentionPass, ASoftmaxInFloatIsKept) {
  EXPECT_EQ(folded(kHeads + R"(
    %kt = transpose(%k) {order = [0, 1, 3, 2]}
    %s = matmul(%q, %kt)
    %p = softmax(%s) {in_float = true}
    %y = matmul(%p, %v)
    output %y
)"),
            "%y = attention(%q, %k, %v) {by_hand = true, in_float = true}\n");
}

TEST(AttentionPass, DropoutIsKept) {
  EXPECT_EQ(folded(kHeads + R"(
    %kt = transpose(%k) {order = [0, 1, 3, 2]}
    %s = matmul(%q, %kt)
    %p = softmax(%s)
    %d = dropout(%p) {probability = 0.25}
    %y = matmul(%d, %v)
    output %y
)"),
            "%y = attention(%q, %k, %v) {by_hand = true, dropout = 0.25}\n");
}

// As scaled_dot_product_attention is taken apart for an export, which scales both factors. A model that multiplies
// itself, or has a mask, runs the copies that it writes.
TEST(AttentionPass, RepeatedHeadsAreTakenBack) {
  const auto repeated = [](std::string_view query, std::string_view keys, std::string_view scores) {
    return folded(kScalars + fmt::format(R"(
    input %q : f32[2, 12, 16, 64]
    input %k : f32[2, 3, 16, 64]
    input %v : f32[2, 3, 16, 64]
    input %m : f32[16, 16]
    constant %five : i64[5] = [2, 3, 4, 16, 64]
    constant %four : i64[4] = [2, 12, 16, 64]
    %k1 = unsqueeze(%k) {{axes = [2]}}
    %k2 = expand(%k1, %five)
    %k3 = reshape(%k2, %four)
    %v1 = unsqueeze(%v) {{axes = [2]}}
    %v2 = expand(%v1, %five)
    %v3 = reshape(%v2, %four)
    %kt = transpose(%k3) {{order = [0, 1, 3, 2]}}
    %qs = binary(%q, %scale) {{kind = mul}}
    %ks = binary(%kt, %scale) {{kind = mul}}
    %s = matmul({}, {})
    %sm = binary(%s, %m) {{kind = add}}
    %p = softmax({})
    %y = matmul(%p, %v3)
    output %y
)",
                                         query, keys, scores));
  };
  EXPECT_EQ(repeated("%qs", "%ks", "%s"), kAttention);
  const std::string by_hand = repeated("%q", "%kt", "%s"), masked = repeated("%qs", "%ks", "%sm");
  EXPECT_NE(by_hand.find("%y = attention(%q, %k3, %v3) {by_hand = true}"), std::string::npos) << by_hand;
  EXPECT_NE(masked.find("%y = attention(%q, %k3, %v3, %m)"), std::string::npos) << masked;
}

TEST(AttentionPass, NearMissesStay) {
  const std::string start = kHeads + "%kt = transpose(%k) {order = [0, 1, 3, 2]}\n%s = matmul(%q, %kt)\n";
  // Probabilities that are an output, a softmax over another axis, a second factor that is a tensor.
  EXPECT_TRUE(stays(start + "%p = softmax(%s)\n%y = matmul(%p, %v)\noutput %y\noutput %p\n"));
  EXPECT_TRUE(stays(start + "%p = softmax(%s) {axis = 1}\n%y = matmul(%p, %v)\noutput %y\n"));
  EXPECT_EQ(
      nodes_left(start + "%a = binary(%s, %bias) {kind = mul}\n%p = softmax(%a)\n%y = matmul(%p, %v)\noutput %y\n"),
      5U);
  // Keys that are not transposed in their last two axes.
  EXPECT_TRUE(stays(R"(
    input %q : f32[2, 12, 64, 64]
    input %v : f32[2, 12, 64, 64]
    %s = matmul(%q, %v)
    %p = softmax(%s)
    %y = matmul(%p, %v)
    output %y
)"));
}

TEST(GlobalPool, MeanOverExactlyTheAxesOfTheDecomposition) {
  EXPECT_EQ(folded(kImage + "%y = reduce(%x) {kind = mean, axes = [-1, -2]}\noutput %y\n"),
            "%y = adaptive_pool(%x) {size = [1, 1]}\n");
  EXPECT_TRUE(stays(kImage + "%y = reduce(%x) {kind = mean, axes = [2, 3]}\noutput %y\n"));
  EXPECT_NE(folded(kImage + "%y = reduce(%x) {kind = mean, axes = [2, 3]}\noutput %y\n").find("reduce"),
            std::string::npos);
  EXPECT_NE(folded(kTokens + "%y = reduce(%x) {kind = mean, axes = [-1, -2]}\noutput %y\n").find("reduce"),
            std::string::npos);
}

std::string shuffle(const std::string& order) {
  return "input %x : f32[1, 36, 8, 8]\nconstant %six : i64[6] = [1, 4, 3, 3, 8, 8]\nconstant %four : i64[4] = "
         "[1, 4, 24, 24]\n%a = reshape(%x, %six)\n%b = transpose(%a) {order = " +
         order + "}\n%y = reshape(%b, %four)\noutput %y\n";
}

std::string strided(const std::string& stride) {
  return kImage + "constant %flat : i64[1] = [-1]\nconstant %zero : i64[] = [0]\nconstant %one : i64[] = [1]\n" +
         "constant %stride : i64[] = [" + stride + "]\nconstant %n : i64[] = [2]\n" +
         "constant %channels : i64[1, 4, 1, 1] = [0, 1, 2, 3]\nconstant %rows : i64[1, 1, 1, 1] = [0]\n" + R"(
    %p = reduce(%x) {kind = mean, axes = [-1, -2]}
    %f = reshape(%p, %flat)
    %r = range(%zero, %n, %one)
    %s = binary(%r, %stride) {kind = mul}
    %u = unsqueeze(%s) {axes = [1, 2, 3]}
    %c = binary(%u, %channels)
    %i = binary(%c, %rows)
    %g = gather(%f, %i)
    %y = unary(%g)
    output %y
)";
}

TEST(StridedPool, IsNothing) {
  EXPECT_EQ(folded(strided("4")), "%p = adaptive_pool(%x) {size = [1, 1]}\n%y = unary(%p)\n");
  EXPECT_EQ(nodes_left(strided("5")), 9U);
}

TEST(Indexing, OfOneAxisIsALookUp) {
  const std::string start = "parameter %t : f32[732, 12]\ninput %i : i64[38809]\n";
  EXPECT_EQ(folded(start + "%u = unsqueeze(%i) {axes = [-1]}\n%y = gather(%t, %u) {kind = nd}\noutput %y\n"),
            "%y = embedding(%t, %i)\n");
  EXPECT_TRUE(stays(start + "%u = unsqueeze(%i) {axes = [0]}\n%y = gather(%t, %u) {kind = nd}\noutput %y\n"));
}

TEST(RnnWeights, AreParametersAgain) {
  const std::string body = R"(
    input %x : f32[64, batch, 40]
    parameter %w : f32[512, 40]
    parameter %r : f32[512, 128]
    parameter %b : f32[512]
    constant %zero : i64[1] = [0]
    constant %half : i64[1] = [256]
    constant %end : i64[1] = [512]
    %w1 = slice(%w, %zero, %half, %zero)
    %w2 = slice(%w, %half, %end, %zero)
    %wc = concat(%w2, %w1)
    %wu = unsqueeze(%wc, %zero)
    %ru = unsqueeze(%r, %zero)
    %bc = concat(%b, %b)
    %bu = unsqueeze(%bc, %zero)
    %y = rnn(%x, %wu, %ru, %bu) {hidden = 128}
    output %y
)";
  EXPECT_EQ(folded(body), "%y = rnn(%x, %w, %r, %b) {hidden = 128}\n");
  const Graph after = simplify(parsed(body));
  EXPECT_EQ(after.value(after.nodes[0].inputs[1]).type.shape, (Shape{1, 512, 40}));
  EXPECT_EQ(after.value(after.nodes[0].inputs[2]).type.shape, (Shape{1, 512, 128}));
  EXPECT_EQ(after.value(after.nodes[0].inputs[3]).type.shape, (Shape{1, 1024}));
}

TEST(RnnWeights, ProjectionsAreParametersAgain) {
  const Graph after = simplify(parsed(R"(
    input %x : f32[64, batch, 40]
    parameter %w : f32[1, 512, 40]
    parameter %r : f32[1, 512, 16]
    parameter %p : f32[16, 128]
    parameter %c : f32[1, 1, 128]
    input %h : f32[1, batch, 16]
    input %s : f32[1, batch, 128]
    %pu = unsqueeze(%p) {axes = [0]}
    %y = rnn(%x, %w, %r, _, _, %h, %s, %pu) {hidden = 128}
    output %y
)"));
  ASSERT_EQ(after.nodes.size(), 1U);
  EXPECT_EQ(after.value(after.nodes[0].inputs[7]).kind, ValueKind::kParameter);
  EXPECT_EQ(after.value(after.nodes[0].inputs[7]).type.shape, (Shape{1, 16, 128}));
}

// A cell that runs twice has its weights once.
TEST(RnnWeights, OfACellAreSharedByItsSteps) {
  const std::string once = R"(
    %wu = unsqueeze(%w) {axes = [0]}
    %ru = unsqueeze(%r) {axes = [0]}
    %bc = concat(%b, %d) {axis = 0}
    %bu = unsqueeze(%bc) {axes = [0]}
)";
  const std::string again = R"(
    %ww = unsqueeze(%w) {axes = [0]}
    %rr = unsqueeze(%r) {axes = [0]}
    %bb = concat(%b, %d) {axis = 0}
    %bt = unsqueeze(%bb) {axes = [0]}
)";
  const Graph graph = simplify(parse_graph("graph \"n\" {\ninput %x : f32[1, 2, 4]\nparameter %w : f32[8, 4]\n"
                                           "parameter %r : f32[8, 8]\nparameter %b : f32[8]\nparameter %d : f32[8]\n" +
                                           once + "%y = rnn(%x, %wu, %ru, %bu) {kind = rnn, hidden = 8}\n" + again +
                                           "%z = rnn(%x, %ww, %rr, %bt) {kind = rnn, hidden = 8}\n"
                                           "output %y\noutput %z\n}\n")
                                   .value());
  ASSERT_EQ(graph.nodes.size(), 2U);
  for (std::size_t i = 1; i <= 3; ++i) EXPECT_EQ(graph.nodes[0].inputs[i], graph.nodes[1].inputs[i]) << i;
}

TEST(RnnWeights, ThatAreComputedStay) {
  EXPECT_TRUE(stays(R"(
    input %x : f32[64, batch, 40]
    parameter %w : f32[1, 512, 40]
    parameter %r : f32[1, 512, 128]
    %n = unary(%w)
    %y = rnn(%x, %n, %r) {hidden = 128}
    output %y
)"));
}

TEST(PixelShufflePass, ReshapeTransposeReshape) {
  EXPECT_EQ(folded(shuffle("[0, 1, 4, 2, 5, 3]")), "%y = pixel_shuffle(%x) {factor = 3}\n");
  EXPECT_TRUE(stays(shuffle("[0, 1, 3, 2, 4, 5]")));  // Swin's windows
}

// A 32 x 32 image of 64 channels as 16 blocks of 8 x 8: of all channels, or of each of 8 heads.
std::string blocks(const char* apart, const char* together) {
  return fmt::format(R"(
    input %x : f32[batch, 64, 32, 32]
    constant %apart : i64[6] = {}
    constant %together : i64[4] = {}
    %a = reshape(%x, %apart)
    %b = transpose(%a) {{order = [0, 1, 3, 5, 2, 4]}}
    %y = reshape(%b, %together)
    output %y
)",
                     apart, together);
}

TEST(PixelShufflePass, BackwardPutsTheBlocksIntoTheChannels) {
  EXPECT_EQ(folded(blocks("[-1, 64, 4, 8, 4, 8]", "[-1, 4096, 4, 4]")),
            "%y = pixel_shuffle(%x) {factor = 8, inverse = true}\n");
  EXPECT_TRUE(stays(blocks("[-1, 8, 4, 8, 4, 8]", "[-1, 8, 64, 16]")));  // halo attention's query
  EXPECT_TRUE(stays(blocks("[-1, 64, 4, 8, 4, 8]", "[-1, 4096, 2, 8]")));
}

// Programs of torch put a computed batch before the numbers, which are one constant.
TEST(PixelShufflePass, ShapesOfTwoPiecesAreRead) {
  const auto body = [](const char* rest) {
    return fmt::format(R"(
    input %x : f32[batch, 64, 32, 32]
    constant %apart : i64[6] = [-1, 64, 4, 8, 4, 8]
    constant %rest : i64[3] = {}
    %a = reshape(%x, %apart)
    %b = transpose(%a) {{order = [0, 1, 3, 5, 2, 4]}}
    %extent = shape_of(%x) {{end = 1}}
    %together = concat(%extent, %rest)
    %y = reshape(%b, %together)
    output %y
)",
                       rest);
  };
  EXPECT_EQ(folded(body("[4096, 4, 4]")), "%y = pixel_shuffle(%x) {factor = 8, inverse = true}\n");
  EXPECT_TRUE(stays(body("[64, 64, 16]")));
}

std::string roll(std::int64_t tail, std::int64_t head) {
  return fmt::format(R"(
    input %x : f32[1, 56, 56, 96]
    constant %zero : i64[1] = [0]
    constant %tail : i64[1] = [{}]
    constant %head : i64[1] = [{}]
    constant %end : i64[1] = [9223372036854775807]
    constant %one : i64[1] = [1]
    constant %two : i64[1] = [2]
    %a = slice(%x, %tail, %end, %one)
    %b = slice(%x, %zero, %head, %one)
    %c = concat(%a, %b) {{axis = 1}}
    %d = slice(%c, %tail, %end, %two)
    %e = slice(%c, %zero, %head, %two)
    %y = concat(%d, %e) {{axis = 2}}
    output %y
)",
                     tail, head);
}

TEST(RollPass, SlicesAndConcatAnAxis) {
  EXPECT_EQ(folded(roll(3, 3)), "%y = roll(%x) {axes = [1, 2], shifts = [-3, -3]}\n");
  EXPECT_EQ(folded(roll(-3, -3)), "%y = roll(%x) {axes = [1, 2], shifts = [3, 3]}\n");
  EXPECT_TRUE(stays(roll(3, 4)));
}

TEST(Bodies, AreSimplifiedAndThoseOfDeadNodesGo) {
  const Graph graph = parsed(R"(
    input %x : f32[4]
    input %c : bool[]
    %dead = if(%c, %x, %x) {then_body = 0, else_body = 1, then_captures = 1}
    %y = if(%c, %x, %x) {then_body = 2, else_body = 3, then_captures = 1}
    output %y
    body 0 "a" {
      input %x : f32[4]
      %y = unary(%x)
      output %y
    }
    body 1 "b" {
      input %x : f32[4]
      %y = unary(%x)
      output %y
    }
    body 2 "c" {
      input %x : f32[4]
      %s = activation(%x) {kind = sigmoid}
      %y = binary(%x, %s) {kind = mul}
      output %y
    }
    body 3 "d" {
      input %x : f32[4]
      %y = unary(%x)
      output %y
    }
)");
  const Graph after = simplify(graph);
  ASSERT_TRUE(validate(after)) << validate(after).error().text();
  ASSERT_EQ(after.bodies.size(), 2U);
  EXPECT_EQ(after.bodies[0].name, "c");
  EXPECT_EQ(after.bodies[0].nodes.size(), 1U);
}

// Graphs put together at random from the operators of the idioms: whatever folds, the result is valid.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint32_t seed) : random_(seed) {}

  Graph make() {
    for (const char* name : {"x", "z"}) {
      const ValueId id = graph_.add_value(Value{name, ValueKind::kInput, {}, std::nullopt});
      graph_.inputs.push_back(GraphInput{id, ElementType::kFloat32, {{2, ""}, {4, ""}, {4, ""}, {4, ""}}});
    }
    for (const double scalar : {0.0, 0.5, 1.0, 1e-6, 1.4142, 0.7978, 0.044715, 2.0, 3.0, 6.0, -1e30})
      add_scalar(scalar);
    for (const Shape& shape : {Shape{4}, Shape{4, 4}, Shape{4, 1, 1}}) {
      graph_.add_value(Value{"w", ValueKind::kParameter, TensorType{ElementType::kFloat32, shape}, std::nullopt});
    }
    for (int i = 0; i < 300; ++i) add_node();
    graph_.outputs.push_back(any());
    graph_.outputs.push_back(ValueId{static_cast<std::uint32_t>(graph_.values.size() - 1)});
    return std::move(graph_);
  }

 private:
  std::uint32_t below(std::size_t count) { return static_cast<std::uint32_t>(random_() % count); }

  void add_scalar(double scalar) {
    graph_.contents.push_back(Contents{{}, {scalar}});
    const auto at = static_cast<std::uint32_t>(graph_.contents.size() - 1);
    graph_.add_value(Value{"c", ValueKind::kConstant, TensorType{ElementType::kFloat32, {}}, at});
  }

  // Mostly what came last, so that chains form.
  ValueId any() {
    const std::size_t count = graph_.values.size();
    const std::size_t back = below(3) == 0 ? count : std::min<std::size_t>(count, 6);
    return ValueId{static_cast<std::uint32_t>(count - 1 - below(back))};
  }

  void add_node() {
    const auto [op, inputs] = kinds_[below(kinds_.size())];
    Node node{op, {}, {}, ""};
    for (int i = 0; i < inputs; ++i) node.inputs.push_back(below(12) == 0 ? ValueId{below(16)} : any());
    node.outputs.push_back(graph_.add_value(Value{"", ValueKind::kComputed, {}, std::nullopt}));
    graph_.nodes.push_back(std::move(node));
  }

  std::minstd_rand random_;
  Graph graph_;
  std::vector<std::pair<Operator, int>> kinds_{{Binary{BinaryKind::kMul}, 2},
                                               {Binary{BinaryKind::kAdd}, 2},
                                               {Binary{BinaryKind::kSub}, 2},
                                               {Binary{BinaryKind::kDiv}, 2},
                                               {Binary{BinaryKind::kPow}, 2},
                                               {Unary{UnaryKind::kSqrt}, 1},
                                               {Unary{UnaryKind::kErf}, 1},
                                               {Unary{UnaryKind::kExp}, 1},
                                               {Unary{UnaryKind::kLog}, 1},
                                               {Unary{UnaryKind::kIsNan}, 1},
                                               {Activation{ActivationKind::kSigmoid}, 1},
                                               {Activation{ActivationKind::kTanh}, 1},
                                               {Activation{ActivationKind::kClip}, 3},
                                               {Cast{}, 1},
                                               {Cast{ElementType::kFloat16}, 1},
                                               {Softmax{}, 1},
                                               {MatMul{}, 2},
                                               {Linear{}, 2},
                                               {Transpose{{0, 1, 3, 2}}, 1},
                                               {Transpose{{0, 1, 2, 3}}, 1},
                                               {Transpose{{0, 2, 3, 1}}, 1},
                                               {Transpose{{0, 3, 1, 2}}, 1},
                                               {LayerNorm{}, 1},
                                               {RmsNorm{}, 1},
                                               {Where{}, 3},
                                               {Reduce{ReduceKind::kMean, {-1}}, 1},
                                               {Reduce{ReduceKind::kMean, {-1, -2}}, 1},
                                               {ShapeOf{}, 1},
                                               {Reshape{}, 2},
                                               {InstanceNorm{}, 3},
                                               {Concat{}, 2},
                                               {Slice{}, 4},
                                               {Dequantize{}, 2},
                                               {Quantize{}, 2},
                                               {Rnn{}, 4},
                                               {Gather{}, 2}};
};

TEST(RandomGraphs, StayValidAndSettle) {
  std::size_t folded_nodes = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const Graph graph = RandomGraph(seed).make();
    ASSERT_TRUE(validate(graph)) << seed;
    const Graph once = simplify(graph);
    const auto valid = validate(once);
    ASSERT_TRUE(valid) << seed << ": " << valid.error().text();
    ASSERT_EQ(once.outputs.size(), graph.outputs.size());
    const Graph twice = simplify(once);
    ASSERT_TRUE(validate(twice)) << seed;
    for (const Node& node : once.nodes) {
      folded_nodes +=
          std::holds_alternative<Activation>(node.op) && std::get<Activation>(node.op).kind == ActivationKind::kSilu;
    }
  }
  EXPECT_GT(folded_nodes, 0U);  // otherwise the graphs test nothing
}

// A quarter of a million nodes, each of which is an idiom's root or could be: linear, and without deep recursion.
TEST(Size, LongChainsTakeLinearTime) {
  Graph graph;
  const ValueId x = graph.add_value(Value{"x", ValueKind::kInput, TensorType{ElementType::kFloat32, {4}}, {}});
  graph.inputs.push_back(GraphInput{x, ElementType::kFloat32, {Dimension{4, ""}}});
  ValueId last = x;
  for (int i = 0; i < 125'000; ++i) {
    const ValueId gate = graph.add_value(Value{"", ValueKind::kComputed, {}, {}});
    const ValueId next = graph.add_value(Value{"", ValueKind::kComputed, {}, {}});
    graph.nodes.push_back(Node{Activation{ActivationKind::kSigmoid}, {last}, {gate}, ""});
    graph.nodes.push_back(Node{Binary{BinaryKind::kMul}, {last, gate}, {next}, ""});
    last = next;
  }
  Graph unread = graph;
  graph.outputs.push_back(last);
  EXPECT_EQ(simplify(std::move(graph)).nodes.size(), 125'000U);
  unread.outputs.push_back(x);
  EXPECT_TRUE(simplify(std::move(unread)).nodes.empty());
}

}  // namespace
}  // namespace joulecast
