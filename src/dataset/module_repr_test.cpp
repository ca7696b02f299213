// SPDX-License-Identifier: Apache-2.0
#include "dataset/module_repr.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

Result<Graph> operation(std::string_view repr, const Shape& input) {
  JC_ASSIGN_OR_RETURN(const ModuleRepr module, parse_module_repr(repr));
  return module_operation(module, input, ElementType::kFloat32);
}

// "conv 2x3x8x8 4x3x3x3 4 -> 2x4x8x8": operator, inputs, output; or the error.
std::string told(std::string_view repr, const Shape& input) {
  const auto graph = operation(repr, input);
  if (!graph) return graph.error().text();
  const auto types = infer_types(*graph, {});
  if (!types) return types.error().text();
  std::string told = label(graph->nodes[0].op);
  for (const ValueId id : graph->nodes[0].inputs) told += " " + (id == kNoValue ? "-" : text(types->type(id).shape));
  return told + " -> " + text(types->type(graph->outputs[0]).shape);
}

TEST(ModuleRepr, ReadsArguments) {
  const auto module = parse_module_repr("Conv2d(3, 32, kernel_size=(3, 3), bias=False, padding_mode='zeros')");
  ASSERT_TRUE(module) << module.error().text();
  EXPECT_EQ(module->name, "Conv2d");
  ASSERT_EQ(module->arguments.size(), 5U);
  EXPECT_EQ(module->arguments[1].numbers, std::vector<double>{32});
  EXPECT_EQ(module->find("kernel_size")->numbers, (std::vector<double>{3, 3}));
  EXPECT_EQ(module->find("bias")->numbers, std::vector<double>{0});
  EXPECT_EQ(module->find("padding_mode")->word, "zeros");
  EXPECT_EQ(module->find("stride"), nullptr);
}

TEST(ModuleRepr, OneElementTuplesAndExponents) {
  const auto module = parse_module_repr("LayerNorm((768,), eps=1e-05, elementwise_affine=True)");
  ASSERT_TRUE(module) << module.error().text();
  EXPECT_EQ(module->arguments[0].numbers, std::vector<double>{768});
  EXPECT_EQ(module->find("eps")->numbers, std::vector<double>{1e-5});
}

// The same operation has the same text, in place or not.
TEST(ModuleRepr, TextLeavesOutInplace) {
  EXPECT_EQ(parse_module_repr("ReLU(inplace=True)")->text(), parse_module_repr("ReLU()")->text());
  EXPECT_EQ(parse_module_repr("Hardtanh(min_val=-1.0, inplace=True, max_val=2)")->text(),
            "Hardtanh(min_val=-1, max_val=2)");
}

TEST(ModuleRepr, RefusesOtherText) {
  for (const char* text : {"", "Conv2d", "Conv2d(", "Conv2d(3", "Conv2d(3,", "Conv2d(3 4)", "Conv2d(a=)", "(3)",
                           "A((1, (2)))", "A('x)", "A() B()", "A(,)", "A(1,)x", "A((1 2))"}) {
    EXPECT_FALSE(parse_module_repr(text)) << text;
  }
  EXPECT_FALSE(parse_module_repr("A(" + std::string(100'000, '(')));
}

TEST(ModuleOperation, TheModulesOfPublishedTables) {
  EXPECT_EQ(told("Conv2d(3, 8, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), bias=False)", {2, 3, 8, 8}),
            "conv 2x3x8x8 8x3x3x3 -> 2x8x4x4");
  EXPECT_EQ(told("Conv2d(8, 8, kernel_size=(3, 3), stride=(1, 1), padding=same, groups=8)", {2, 8, 5, 5}),
            "conv 2x8x5x5 8x1x3x3 8 -> 2x8x5x5");
  EXPECT_EQ(told("ConvTranspose2d(4, 6, kernel_size=(2, 2), stride=(2, 2))", {1, 4, 5, 5}),
            "conv_transpose 1x4x5x5 4x6x2x2 6 -> 1x6x10x10");
  EXPECT_EQ(told("BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)", {2, 4, 3, 3}),
            "batch_norm 2x4x3x3 4 4 4 4 -> 2x4x3x3");
  EXPECT_EQ(told("Linear(in_features=5, out_features=7, bias=True)", {2, 3, 5}), "linear 2x3x5 7x5 7 -> 2x3x7");
  EXPECT_EQ(told("LayerNorm((5,), eps=1e-05, elementwise_affine=True)", {2, 3, 5}), "layer_norm 2x3x5 5 5 -> 2x3x5");
  EXPECT_EQ(told("MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)", {1, 2, 8, 8}),
            "max_pool 1x2x8x8 -> 1x2x4x4");
  EXPECT_EQ(told("AvgPool2d(kernel_size=2)", {1, 2, 8, 8}), "average_pool 1x2x8x8 -> 1x2x4x4");
  EXPECT_TRUE(told("AdaptiveAvgPool2d(output_size=1)", {1, 2, 8, 8}).ends_with("pool 1x2x8x8 -> 1x2x1x1"));
  EXPECT_EQ(told("GELU(approximate='tanh')", {4, 4}), "gelu_tanh 4x4 -> 4x4");
  EXPECT_EQ(told("SiLU(inplace=True)", {4}), "silu 4 -> 4");
  EXPECT_EQ(told("Softmax(dim=-1)", {4, 4}), "softmax 4x4 -> 4x4");
  EXPECT_EQ(told("StochasticDepth(p=0.025, mode=row)", {4, 4}), "stochastic_depth 4x4 -> 4x4");
}

TEST(ModuleOperation, RefusesWhatDoesNotFit) {
  EXPECT_EQ(told("Permute()", {4}), "module Permute has no operator");
  EXPECT_EQ(told("Linear(in_features=5, out_features=7)", {2, 6}),
            "Linear(in_features=5, out_features=7) applied to an input of shape 2x6");
  EXPECT_FALSE(operation("Conv2d(3, 8, kernel_size=(3, 3))", {3, 8}));
  EXPECT_FALSE(operation("Conv2d(3, 8, kernel_size=(3, 3, 3))", {2, 3, 8, 8}));
  EXPECT_FALSE(operation("Conv2d(3, 8, kernel_size=(0, 3))", {2, 3, 8, 8}));
  EXPECT_FALSE(operation("Conv2d(3, 8, kernel_size=(1e99, 3))", {2, 3, 8, 8}));
  EXPECT_FALSE(operation("Conv2d(3, 8, kernel_size=(3, 3), groups=2)", {2, 3, 8, 8}));
  EXPECT_FALSE(operation("Conv2d(kernel_size=(3, 3))", {2, 3, 8, 8}));
  EXPECT_FALSE(operation("Conv2d(3, 8, kernel_size=(3, 3), padding_mode=reflect)", {2, 3, 8, 8}));
  EXPECT_FALSE(operation("LayerNorm()", {2, 3}));
  EXPECT_FALSE(operation("LayerNorm((2, 3, 4))", {2, 3}));
}

}  // namespace
}  // namespace joulecast
