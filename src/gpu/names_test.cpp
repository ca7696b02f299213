// SPDX-License-Identifier: Apache-2.0
#include "gpu/names.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace joulecast {
namespace {

TEST(GpuNames, CaseSpacesAndSeparatorsMakeNoDifference) {
  EXPECT_EQ(normal_form("RTX_2080-Ti"), "rtx2080ti");
  EXPECT_EQ(normal_form("rtx 2080 ti"), "rtx2080ti");
}

TEST(GpuNames, LeadingVendorIsLeftOut) {
  EXPECT_EQ(normal_form("NVIDIA A100-SXM4-40GB"), "a100sxm440gb");
  EXPECT_EQ(normal_form("AMD Instinct MI250X"), "instinctmi250x");
  EXPECT_EQ(normal_form("nvidia"), "nvidia");  // nothing would be left
}

TEST(GpuNames, DistanceOfEachKindOfEdit) {
  EXPECT_EQ(edit_distance("a100", "a100"), 0U);
  EXPECT_EQ(edit_distance("a100", "a10"), 2U);
  EXPECT_EQ(edit_distance("a100", "b100"), 2U);
  EXPECT_EQ(edit_distance("a100", "a010"), 2U);  // neighbours swapped, not two letters replaced
  EXPECT_EQ(edit_distance("a10o", "a100"), 1U);  // o looks like 0
  EXPECT_EQ(edit_distance("", "abc"), 6U);
}

TEST(GpuNames, NearestIsWhatWasMeantUnlessHalfOfItIsWrong) {
  constexpr std::array<std::string_view, 3> kNames{"power_w", "time_s", "type_s"};
  EXPECT_EQ(nearest_name("time_ms", kNames), "time_s");
  EXPECT_EQ(nearest_name("tipe_s", kNames), "time_s");  // as near to the last: the first of them
  EXPECT_EQ(nearest_name("time____", kNames), "time_s");
  EXPECT_EQ(nearest_name("ti", kNames), "");
  EXPECT_EQ(nearest_name("", kNames), "");
  EXPECT_EQ(nearest_name("time_s", {}), "");
}

TEST(GpuNames, LongNamesAreCut) {
  EXPECT_EQ(edit_distance(std::string(1'000'000, 'a'), std::string(kMaxNameLength, 'a')), 0U);
}

}  // namespace
}  // namespace joulecast
