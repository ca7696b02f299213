// SPDX-License-Identifier: Apache-2.0
#include "fit/thesis/features.h"

#include <gtest/gtest.h>

#include <map>

#include "dataset/module_repr.h"

namespace joulecast {
namespace {

MeasuredOperation measured(const std::string& module, const Shape& input) {
  MeasuredOperation row;
  row.label = module;
  row.group = module;
  row.at.gpu = "a30";
  row.readings.time = Seconds{2e-4};
  row.readings.power = Watts{150.0};
  row.graph = std::make_shared<const Graph>(
      module_operation(parse_module_repr(module).value(), input, ElementType::kFloat32).value());
  return row;
}

// Those that are not absent, by name.
std::map<std::string, float> said(const MeasuredOperation& row) {
  const auto found = thesis_row(row);
  EXPECT_TRUE(found) << found.error().text();
  const std::vector<std::string> names = thesis_feature_names();
  EXPECT_EQ(names.size(), found->features.size());
  std::map<std::string, float> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool flag = names[i].ends_with("_applicable");
    if (found->features[i] != (flag ? 0.0F : -1.0F)) out[names[i]] = found->features[i];
  }
  return out;
}

using Said = std::map<std::string, float>;

TEST(ThesisFeatures, ALinearLayersInputIsEncodedAsInSection42) {
  EXPECT_EQ(said(measured("Linear(in_features=128, out_features=10, bias=True)", {32, 128})),
            (Said{{"input_size_0", 32},
                  {"input_size_0_applicable", 1},
                  {"input_size_1", 128},
                  {"input_size_1_applicable", 1},
                  {"in_features", 128},
                  {"in_features_applicable", 1},
                  {"out_features", 10},
                  {"out_features_applicable", 1},
                  {"bias", 1},
                  {"bias_applicable", 1}}));
}

TEST(ThesisFeatures, AConvolutionHasPairs) {
  const Said found =
      said(measured("Conv2d(16, 64, kernel_size=(3, 5), stride=(2, 1), bias=False)", {32, 16, 256, 128}));
  EXPECT_EQ(found.at("kernel_size_0"), 3);
  EXPECT_EQ(found.at("kernel_size_1"), 5);
  EXPECT_EQ(found.at("kernel_size_tuple_applicable"), 1);
  EXPECT_FALSE(found.contains("kernel_size_applicable")) << "a pair is no number";
  EXPECT_EQ(found.at("stride_0"), 2);
  EXPECT_EQ(found.at("padding_1"), 0) << "not printed: PyTorch's default";
  EXPECT_EQ(found.at("in_channels"), 16);
  EXPECT_EQ(found.at("out_channels"), 64);
  EXPECT_EQ(found.at("bias"), 0);
  EXPECT_EQ(found.at("bias_applicable"), 1);
  EXPECT_EQ(found.at("input_size_2"), 256);
  EXPECT_EQ(found.at("input_size_3_applicable"), 1);
}

TEST(ThesisFeatures, OneNumberIsNoPair) {
  const Said found =
      said(measured("MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)", {32, 64, 112, 112}));
  EXPECT_EQ(found.at("kernel_size"), 3);
  EXPECT_EQ(found.at("kernel_size_applicable"), 1);
  EXPECT_FALSE(found.contains("kernel_size_tuple_applicable"));
  EXPECT_FALSE(found.contains("bias_applicable"));
}

TEST(ThesisFeatures, NormsHaveABiasWhereTheyAreAffine) {
  const Said found = said(measured("BatchNorm2d(64, eps=1e-05, momentum=0.1, affine=True)", {32, 64, 7, 7}));
  EXPECT_EQ(found.at("num_features"), 64);
  EXPECT_EQ(found.at("eps"), 1e-5F);
  EXPECT_EQ(found.at("bias"), 1);
  EXPECT_FALSE(said(measured("BatchNorm2d(64, affine=False)", {32, 64, 7, 7})).contains("bias"));
}

TEST(ThesisFeatures, TheClockIsAFeatureWhereItIsKnown) {
  MeasuredOperation row = measured("ReLU(inplace=True)", {32, 64, 7, 7});
  EXPECT_FALSE(said(row).contains("clock_mhz_applicable"));
  EXPECT_EQ(said(row).at("inplace"), 1);
  row.at.sm_clock = Hertz{900e6};
  EXPECT_EQ(said(row).at("clock_mhz"), 900);
}

TEST(ThesisFeatures, RowsWithoutModuleOrPowerAreRefused) {
  MeasuredOperation row = measured("ReLU()", {32, 64, 7, 7});
  row.label = "a product";
  EXPECT_EQ(thesis_row(row).error().text(), "no PyTorch module");
  row = measured("ReLU()", {32, 64, 7, 7});
  row.readings.power.reset();
  EXPECT_EQ(thesis_row(row).error().text(), "no time or no power");
}

}  // namespace
}  // namespace joulecast
