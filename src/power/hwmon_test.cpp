// SPDX-License-Identifier: Apache-2.0
#include "power/hwmon.h"

#include <gtest/gtest.h>

#include "power/amdgpu.h"
#include "power/fake_sys.h"

namespace joulecast {
namespace {

using One = KeptReadings::One;

TEST(Hwmon, ReadsMetersOfTheBoardInMilliwatts) {
  const FakeSys sys;
  sys.write("sys/class/hwmon/hwmon3/name", "ina226");
  sys.write("sys/class/hwmon/hwmon3/power1_input", "12345678");
  sys.write("sys/class/hwmon/hwmon1/name", "coretemp");
  const Found found = find_hwmon(sys.options()).value();
  ASSERT_EQ(found.sensors.size(), 1U);
  EXPECT_EQ(found.sensors[0]->channels()[0], (Channel{"ina226-hwmon3", Signal::kPower, "hwmon-ina226", std::nullopt}));
  KeptReadings kept;
  found.sensors[0]->read(kept);
  EXPECT_EQ(kept.readings, (std::vector<One>{{0, 12'346}}));
}

// What the kernel gives where the firmware does not know (sustainable-computing-io/kepler#1049).
TEST(Hwmon, ASentinelIsNoPower) {
  const FakeSys sys;
  sys.write("sys/class/hwmon/hwmon0/name", "power_meter");
  sys.write("sys/class/hwmon/hwmon0/power1_average", "4294967295000");
  const Found found = find_hwmon(sys.options()).value();
  KeptReadings kept;
  found.sensors.at(0)->read(kept);
  EXPECT_TRUE(kept.readings.empty());
  EXPECT_EQ(kept.absences, (std::vector<Absence>{Absence::kImplausible}));
}

void add_card(const FakeSys& sys, const std::string& number, const char* microwatts) {
  const std::string folder = "sys/class/hwmon/hwmon" + number + "/";
  sys.write(folder + "name", "amdgpu");
  sys.write(folder + "power1_average", microwatts);
  sys.write(folder + "freq1_input", "1700000000");
  sys.write(folder + "temp1_input", "65000");
  sys.write(folder + "power1_cap", "300000000");
  sys.write(folder + "device/gpu_busy_percent", "87");
  sys.write(folder + "device/mem_info_vram_used", "1234567");
}

TEST(Amdgpu, ReadsPowerAndStateOfEachCard) {
  const FakeSys sys;
  add_card(sys, "2", "150000000");
  add_card(sys, "5", "90000000");
  const Found found = find_amdgpu(sys.options()).value();
  ASSERT_EQ(found.devices.size(), 2U);
  EXPECT_EQ(found.devices[0].id, "amd0");
  EXPECT_EQ(found.devices[0].details["settings"]["power_limit_w"], 300);
  ASSERT_EQ(found.sensors.size(), 4U);
  KeptReadings power;
  found.sensors[0]->read(power);
  EXPECT_EQ(power.readings, (std::vector<One>{{0, 150'000}}));
  KeptReadings state;
  found.sensors[1]->read(state);
  EXPECT_EQ(state.readings,
            (std::vector<One>{{0, 1'700'000'000}, {1, 65'000}, {2, 300'000}, {3, 8700}, {4, 1'234'567}}));
}

TEST(Amdgpu, ACardWithoutAMeterIsSaidToHaveNone) {
  const FakeSys sys;
  sys.write("sys/class/hwmon/hwmon0/name", "amdgpu");
  sys.write("sys/class/hwmon/hwmon0/temp1_input", "40000");
  const Found found = find_amdgpu(sys.options()).value();
  ASSERT_EQ(found.missing.size(), 1U);
  EXPECT_EQ(found.missing[0].what, "amd0: power");
}

}  // namespace
}  // namespace joulecast
