// SPDX-License-Identifier: Apache-2.0
// What `joulecast train` runs: joulecast-train PACK quiet|progress TABLE...
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "fit/fit.h"

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "joulecast-train: part of joulecast; use joulecast train\n");
    return 2;
  }
  const bool quiet = std::string_view(argv[2]) == "quiet";
  const joulecast::TrainOptions options{.tables = {argv + 3, argv + argc}, .out = argv[1]};
  const auto progress = [&](const std::string& line) {
    if (!quiet) fmt::print(stderr, "{}\n", line);
  };
  const auto done = joulecast::train(options, progress);
  if (done) return 0;
  fmt::print(stderr, "joulecast: {}\n", done.error().text());
  return 1;
}
