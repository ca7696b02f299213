// SPDX-License-Identifier: Apache-2.0
#include "analysis/failed_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>
#include <utility>

namespace joulecast {
namespace {

constexpr int kInterrupted = 130;

std::string codes_text(const std::vector<FailedRun>& failed) {
  std::set<int> codes;
  for (const FailedRun& run : failed) codes.insert(run.code);
  return fmt::format("exit code{} {}", codes.size() == 1 ? "" : "s", fmt::join(codes, ", "));
}

}  // namespace

std::size_t number_of_run(const Phase& command) {
  std::size_t index = 0;
  const std::string text = detail_of(command.details, "index").value_or("0");
  std::from_chars(text.data(), text.data() + text.size(), index);
  return index + 1;
}

bool began_in(const Phase& phase, const std::vector<FailedRun>& runs) {
  return std::any_of(runs.begin(), runs.end(), [&](const FailedRun& run) {
    return phase.begin >= run.command.begin && phase.begin < run.command.end;
  });
}

int exit_code_of(const Recording& recording, const Phase& command) {
  if (!recording.end.is_object()) return 0;
  const auto commands = recording.end.find("commands");
  if (commands == recording.end.end() || !commands->is_array()) return 0;
  const std::size_t index = number_of_run(command) - 1;
  if (index >= commands->size()) return kInterrupted;  // its end was not waited for
  const auto& one = (*commands)[index];
  const auto code = one.is_object() ? one.find("code") : one.end();
  return code != one.end() && code->is_number_integer() ? code->get<int>() : 0;
}

SortedRuns sort_runs(const Recording& recording, const std::vector<Phase>& commands) {
  SortedRuns out;
  for (const Phase& command : commands) {
    if (const int code = exit_code_of(recording, command); code != 0) {
      out.left_out.push_back({command, code});
    } else {
      out.counted.push_back(command);
    }
  }
  if (out.left_out.empty()) return out;
  const std::string codes = codes_text(out.left_out);
  if (out.counted.empty()) {
    out.doubt = commands.size() == 1
                    ? fmt::format("the command failed ({}): the figures are of what it did", codes)
                    : fmt::format("all {} runs failed ({}): the figures are of what they did", commands.size(), codes);
    out.counted = commands;
    out.left_out.clear();
    return out;
  }
  const bool one = out.left_out.size() == 1;
  out.doubt = fmt::format("{} of {} runs failed ({}) and {} not in the means", out.left_out.size(), commands.size(),
                          codes, one ? "is" : "are");
  return out;
}

}  // namespace joulecast
