// SPDX-License-Identifier: Apache-2.0
#include "series/sensor_class.h"

#include <gtest/gtest.h>

namespace joulecast::series {
namespace {

using A = Architecture;
using F = PowerField;

// '-': there is no such field. Columns: power.draw with 525, 530, 535; .average and .instant with 535.
std::string row(Architecture architecture) {
  std::string letters;
  const auto put = [&](int driver, F field) {
    const auto found = sensor_class(architecture, driver, field);
    letters += found ? letter(*found) : '-';
  };
  for (const int driver : {520, 530, 535}) put(driver, F::kLegacy);
  for (const F field : {F::kAverage, F::kInstant}) put(535, field);
  return letters;
}

TEST(SensorClass, IsThePublishedMatrix) {
  EXPECT_EQ(row(A::kHopper), "--CCA");
  EXPECT_EQ(row(A::kAda), "CBCCB");
  EXPECT_EQ(row(A::kAmpere), "CBCCB");
  EXPECT_EQ(row(A::kAmpereGa100), "AAA-A");
  EXPECT_EQ(row(A::kTuring), "BBB-B");
  EXPECT_EQ(row(A::kVolta), "DDD-D");
  EXPECT_EQ(row(A::kPascal), "DDD-D");
  EXPECT_EQ(row(A::kMaxwell), "EEE-E");
}

TEST(SensorClass, OfH100WasThereWith525) {
  EXPECT_EQ(sensor_class(A::kHopper, 525, F::kLegacy), SensorClass::kC);
  EXPECT_EQ(sensor_class(A::kHopper, 525, F::kInstant), SensorClass::kA);
}

TEST(SensorClass, MeansWindowsAndDelays) {
  EXPECT_DOUBLE_EQ(*meaning(SensorClass::kA).seen(), 0.25);
  EXPECT_DOUBLE_EQ(*meaning(SensorClass::kD).seen(), 0.5);
  EXPECT_DOUBLE_EQ(*meaning(SensorClass::kC).seen(), 1);
  EXPECT_DOUBLE_EQ(meaning(SensorClass::kC).delay()->value(), 0.55);
  EXPECT_FALSE(meaning(SensorClass::kE).seen());
}

const Series kFifteenSeconds{{0, 15}, {100, 100}};
const Series kFiveSeconds{{0, 5}, {100, 100}};

TEST(Correct, PutsReadingsWhereTheyBelong) {
  const auto result = correct(kFiveSeconds, SensorClass::kC);
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(result->power_w.time_s[0], -0.55);
  EXPECT_EQ(result->warnings, (Warnings{Warning::kOneSecondAverage}));
}

TEST(Correct, SaysWhatIsNotSeen) {
  EXPECT_TRUE(has(correct(kFiveSeconds, SensorClass::kA)->warnings, Warning::kPartlySeen));
  EXPECT_TRUE(has(correct(kFiveSeconds, SensorClass::kD)->warnings, Warning::kPartlySeen));
  EXPECT_TRUE(correct(kFiveSeconds, SensorClass::kB)->warnings.empty());
}

TEST(Correct, RefusesWhatCannotBeCorrected) {
  EXPECT_EQ(correct(kFiveSeconds, SensorClass::kE).error().code(), ErrorCode::kUnsupported);
  EXPECT_TRUE(has(correct(kFifteenSeconds, SensorClass::kE)->warnings, Warning::kSlowSensor));
  EXPECT_FALSE(correct(kFifteenSeconds, SensorClass::kG));
}

}  // namespace
}  // namespace joulecast::series
