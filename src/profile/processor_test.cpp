// SPDX-License-Identifier: Apache-2.0
#include "profile/processor.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace joulecast::profile {
namespace {

std::string name_in(const std::string& text) {
  const std::string path = testing::TempDir() + "/cpuinfo";
  std::ofstream(path) << text;
  return processor_name(path);
}

TEST(Processor, HasTheNameThatTheKernelTells) {
  EXPECT_EQ(name_in("processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7B13\nmodel name\t: other\n"),
            "AMD EPYC 7B13");
  EXPECT_EQ(name_in("processor\t: 0\nmodel name\t:\n"), "");
  EXPECT_EQ(name_in("processor\t: 0\nBogoMIPS\t: 50.00\n"), "");
  EXPECT_EQ(processor_name("/nowhere/at/all"), "");
}

}  // namespace
}  // namespace joulecast::profile
