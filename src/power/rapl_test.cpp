// SPDX-License-Identifier: Apache-2.0
#include "power/rapl.h"

#include <gtest/gtest.h>

#include "power/fake_sys.h"

namespace joulecast {
namespace {

constexpr const char* kPackage = "sys/devices/virtual/powercap/intel-rapl/intel-rapl:0/";

void add_zone(const FakeSys& sys, const std::string& folder, const char* name, const char* energy) {
  sys.write(folder + "name", name);
  sys.write(folder + "max_energy_range_uj", "1000000");
  sys.write(folder + "energy_uj", energy);
}

TEST(Rapl, FindsPackagesAndTheirMemoryAndNoPartsOfThem) {
  const FakeSys sys;
  add_zone(sys, kPackage, "package-0", "5");
  add_zone(sys, std::string(kPackage) + "intel-rapl:0:0/", "core", "3");
  add_zone(sys, std::string(kPackage) + "intel-rapl:0:1/", "dram", "7");
  const Found found = find_rapl(sys.options()).value();
  ASSERT_EQ(found.sensors.size(), 2U);
  EXPECT_EQ(found.sensors[0]->channels()[0].device, "cpu0");
  EXPECT_EQ(found.sensors[1]->channels()[0].device, "cpu0-dram");
  EXPECT_TRUE(found.missing.empty());
}

TEST(Rapl, ACounterThatStartsAgainIsCountedOn) {
  const FakeSys sys;
  add_zone(sys, kPackage, "package-0", "999900");
  const Found found = find_rapl(sys.options()).value();
  KeptReadings kept;
  found.sensors.at(0)->read(kept);
  sys.write(std::string(kPackage) + "energy_uj", "50");
  found.sensors.at(0)->read(kept);
  sys.write(std::string(kPackage) + "energy_uj", "60");
  found.sensors.at(0)->read(kept);
  ASSERT_EQ(kept.readings.size(), 3U);
  EXPECT_EQ(kept.readings[1].value - kept.readings[0].value, 150);
  EXPECT_EQ(kept.readings[2].value - kept.readings[1].value, 10);
}

TEST(Rapl, WhatCannotBeReadIsAbsent) {
  const FakeSys sys;
  add_zone(sys, kPackage, "package-0", "5");
  const Found found = find_rapl(sys.options()).value();
  sys.write(std::string(kPackage) + "energy_uj", "not a number");
  KeptReadings kept;
  found.sensors.at(0)->read(kept);
  EXPECT_TRUE(kept.readings.empty());
  EXPECT_EQ(kept.absences.size(), 1U);
}

TEST(Rapl, AMachineWithoutItSaysSo) {
  const FakeSys sys;
  const Found found = find_rapl(sys.options()).value();
  EXPECT_TRUE(found.sensors.empty());
  EXPECT_EQ(found.missing.size(), 1U);
}

}  // namespace
}  // namespace joulecast
