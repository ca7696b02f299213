// SPDX-License-Identifier: Apache-2.0
// For tests of laws against numbers worked out by hand.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {

inline void expect_close(double found, double wanted, double relative = 1e-4) {
  EXPECT_NEAR(found, wanted, relative * std::abs(wanted));
}

}  // namespace joulecast
