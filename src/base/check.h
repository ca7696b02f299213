// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

// Stops the program on a programmer's error. No input may ever reach one.
#define JC_CHECK(condition, message)                                                                \
  do {                                                                                              \
    if (!(condition)) {                                                                             \
      std::fprintf(stderr, "joulecast: internal error: %s (%s:%d)\n", message, __FILE__, __LINE__); \
      std::abort();                                                                                 \
    }                                                                                               \
  } while (false)
