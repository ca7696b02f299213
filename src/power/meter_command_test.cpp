// SPDX-License-Identifier: Apache-2.0
#include "power/meter_command.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(MeterCommand, FindsThePowerInWhatMetersPrint) {
  EXPECT_EQ(watts_in("    Instantaneous power reading:                   220 Watts\n    Minimum: 4 Watts"), 220.0);
  EXPECT_EQ(watts_in("Pwr Consumption  | 77h | ok  |  7.1 | 168 Watts"), 168.0);
  EXPECT_EQ(watts_in("1.25 kW"), 1250.0);
  EXPECT_EQ(watts_in("84500mW"), 84.5);
  EXPECT_EQ(watts_in("231.7\n"), 231.7);
  EXPECT_EQ(watts_in("1.5e2"), 150.0);
  EXPECT_EQ(watts_in("-7.5"), -7.5);
  EXPECT_EQ(watts_in("220W"), 220.0);
  EXPECT_FALSE(watts_in("0x10"));
  EXPECT_FALSE(watts_in("77h"));
  EXPECT_FALSE(watts_in("12 of 34"));
  EXPECT_FALSE(watts_in("no reading"));
  EXPECT_FALSE(watts_in(""));
}

TEST(MeterCommand, OneThatDoesNotWorkIsSaidBeforeTheRun) {
  SensorOptions options;
  options.meters = {"wall=echo 230 W", "debt=echo -7.5"};
  EXPECT_NE(find_meter_commands(options).error().text().find("no power"), std::string::npos);
  for (const char* name : {"=echo 5", "a\x1b[2J=echo 5", "wall=echo 6"}) {
    options.meters = {"wall=echo 230 W", name};
    EXPECT_NE(find_meter_commands(options).error().text().find("name"), std::string::npos) << name;
  }
  options.meters = {"wall=echo 230 W", "false"};
  const auto found = find_meter_commands(options);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().text().find("--meter false"), std::string::npos);
}

class Collector : public ReadingSink {
 public:
  void reading(std::size_t /*channel*/, const Reading& reading) override { readings.push_back(reading); }
  void absent(std::size_t /*channel*/, MonotonicUs /*time*/, Absence absence, std::uint64_t /*count*/,
              const std::string& /*text*/) override {
    absences.push_back(absence);
  }
  std::vector<Reading> readings;
  std::vector<Absence> absences;
};

TEST(MeterCommand, IsReadInMilliwatts) {
  SensorOptions options;
  options.meters = {"wall=echo '230.5 W'"};
  const Found found = find_meter_commands(options).value();
  ASSERT_EQ(found.sensors.size(), 1U);
  EXPECT_EQ(found.sensors[0]->channels()[0].device, "wall");
  Collector collector;
  found.sensors[0]->read(collector);
  ASSERT_EQ(collector.readings.size(), 1U);
  EXPECT_EQ(collector.readings[0].value, 230'500);
}

}  // namespace
}  // namespace joulecast
