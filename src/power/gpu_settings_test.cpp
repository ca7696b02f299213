// SPDX-License-Identifier: Apache-2.0
// On the stand-in of tests/nvml, opened before us under its library's name.
#include "power/gpu_settings.h"

#include "opened_library.h"

namespace joulecast {
namespace {

class GpuSettingsTest : public nvml::StandinTest {
 protected:
  // Requires: the scenario was chosen.
  NvmlGpu open(std::size_t index = 0) {
    standin_.emplace();
    library_ = *NvmlLibrary::open();
    std::vector<Missing> missing;
    return list_nvml_gpus(library_, missing)->at(index);
  }
  void TearDown() override {
    library_.reset();
    standin_.reset();
  }

  std::optional<nvml::OpenedLibrary> standin_;
  std::shared_ptr<const NvmlLibrary> library_;
};

constexpr const char* kPlain = "allow_set = true\n[[gpu]]\nload = {constant_w = 600}\n";

GpuSettings limit(std::uint32_t milliwatts) {
  GpuSettings out;
  out.power_limit_mw = milliwatts;
  return out;
}

TEST_F(GpuSettingsTest, ALimitIsSetReadBackAndPutBack) {
  scenario(kPlain);
  const NvmlGpu gpu = open();
  ASSERT_TRUE(apply_settings(gpu, limit(500'000)));  // what somebody had set before us
  FoundSettings found = find_settings(gpu);
  found.will_change(limit(300'000));
  ASSERT_TRUE(apply_settings(gpu, limit(300'000)));
  EXPECT_EQ(find_settings(gpu).power_limit_mw, 300'000U);
  ASSERT_TRUE(restore_settings(gpu, found));
  EXPECT_EQ(find_settings(gpu).power_limit_mw, 500'000U) << "what was found, not the default of 700 W";
}

TEST_F(GpuSettingsTest, WhatWasNotChangedIsLeftAlone) {
  scenario(kPlain);
  const NvmlGpu gpu = open();
  const FoundSettings found = find_settings(gpu);
  ASSERT_TRUE(apply_settings(gpu, limit(400'000)));  // by others, meanwhile
  ASSERT_TRUE(restore_settings(gpu, found));
  EXPECT_EQ(find_settings(gpu).power_limit_mw, 400'000U);
}

TEST_F(GpuSettingsTest, OutsideItsRangeIsRefusedWithTheRange) {
  scenario(kPlain);
  const NvmlGpu gpu = open();
  const auto low = check_settings(gpu, limit(100'000));
  ASSERT_FALSE(low);
  EXPECT_EQ(low.error().text(), "gpu0: a power limit of 100 W is outside its range, 200 W to 700 W");
  EXPECT_FALSE(check_settings(gpu, limit(701'000)));
  EXPECT_TRUE(check_settings(gpu, limit(200'000)));
}

TEST_F(GpuSettingsTest, ClocksItHasNotAreRefusedWithTheNearest) {
  shipped("v100");
  const NvmlGpu gpu = open();
  GpuSettings wanted;
  wanted.sm_lock = ClockRange{1000, 1000};
  const auto lock = check_settings(gpu, wanted);
  ASSERT_FALSE(lock);
  EXPECT_NE(lock.error().text().find("the nearest: 975, 1110 MHz (of 135 to 1530)"), std::string::npos)
      << lock.error().text();
  wanted = {};
  wanted.application = ApplicationClocks{900, 1530};
  EXPECT_FALSE(check_settings(gpu, wanted)) << "no such memory clock";
  wanted.application = ApplicationClocks{877, 1530};
  EXPECT_TRUE(check_settings(gpu, wanted));
  wanted.memory_lock = ClockRange{877, 877};
  const auto memory = check_settings(gpu, wanted);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code(), ErrorCode::kUnsupported) << "Volta cannot lock its memory's clock";
}

TEST_F(GpuSettingsTest, ClocksGoBackToWhatTheyWere) {
  shipped("v100");
  const NvmlGpu gpu = open();
  GpuSettings wanted;
  wanted.application = ApplicationClocks{877, 975};
  wanted.sm_lock = ClockRange{840, 840};
  FoundSettings found = find_settings(gpu);
  found.will_change(wanted);
  ASSERT_TRUE(apply_settings(gpu, wanted));
  EXPECT_EQ(find_settings(gpu).application, wanted.application);
  ASSERT_TRUE(restore_settings(gpu, found));
  EXPECT_EQ(find_settings(gpu).application, (ApplicationClocks{877, 1530}));
  EXPECT_EQ(ask<std::uint32_t>(library_->nvmlDeviceGetClockInfo, gpu.handle, nvml::ClockType::kSm).value_or(0), 1530U);
}

TEST_F(GpuSettingsTest, ALimitThatSilentlyDoesNotTakeIsAnError) {
  shipped("stubborn_limit");
  const NvmlGpu gpu = open();
  const auto set = apply_settings(gpu, limit(300'000));
  ASSERT_FALSE(set);
  EXPECT_NE(set.error().text().find("took a power limit of 300 W and still has 700 W"), std::string::npos)
      << set.error().text();
}

TEST_F(GpuSettingsTest, ALimitOverriddenOutOfBandIsAnError) {
  scenario(std::string(kPlain) + "[[gpu.out_of_band]]\nat_s = 0\nlimit_w = 350\n");
  const NvmlGpu gpu = open();
  const auto set = apply_settings(gpu, limit(500'000));
  ASSERT_FALSE(set);
  EXPECT_NE(set.error().text().find("500 W is asked for, but 350 W is enforced"), std::string::npos)
      << set.error().text();
}

TEST_F(GpuSettingsTest, WithoutRightsItSaysWhatToAskFor) {
  shipped("denied");
  const NvmlGpu gpu = open();
  const auto set = apply_settings(gpu, limit(250'000));
  ASSERT_FALSE(set);
  EXPECT_NE(set.error().text().find("sudo nvidia-smi -i 0 -pl 250"), std::string::npos) << set.error().text();
  EXPECT_NE(set.error().text().find("CAP_SYS_ADMIN"), std::string::npos);
}

TEST(FoundSettings, SurviveAJournal) {
  FoundSettings found{"GPU-1", "H100", 3, 500'000, 700'000, ApplicationClocks{2619, 1980}, true, false, true, false};
  const auto back = found_of_json(nlohmann::json::parse(to_json(found).dump()));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, found);
  EXPECT_FALSE(found_of_json(nlohmann::json::parse("{\"index\": 1}")));
  EXPECT_FALSE(found_of_json(nlohmann::json::parse("[]")));
}

}  // namespace
}  // namespace joulecast
