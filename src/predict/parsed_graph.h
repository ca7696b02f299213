// SPDX-License-Identifier: Apache-2.0
// Graphs for tests, from their text form.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "joulecast/graph.h"

namespace joulecast {

inline Graph parsed(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? *graph : Graph{};
}

}  // namespace joulecast
