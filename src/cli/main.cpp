// SPDX-License-Identifier: Apache-2.0
// joulecast: finds the verb, lets it parse its options, runs it and reports how it ended.
#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

#include "cli/program.h"

int main(int argc, char** argv) {
  // A closed pipe is then an error of write(), and ends the program with an exit code as any other does.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write(), as a full disk is
  joulecast::cli::Output output(stdout, stderr);
  const std::vector<std::string_view> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return joulecast::cli::run(arguments, output);
}
