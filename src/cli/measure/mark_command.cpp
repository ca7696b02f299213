// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "cli/measure/commands.h"
#include "joulecast/marks.h"
#include "measure/mark_line.h"

namespace joulecast::cli {
namespace {

int say(const MarkLine& mark) {
  const char* name = mark.name.c_str();
  const char* details = mark.details.c_str();
  if (mark.kind == EventKind::kBegin) return joulecast_begin_with(name, "%s", details);
  if (mark.kind == EventKind::kEnd) return joulecast_end_with(name, "%s", details);
  return joulecast_mark_with(name, "%s", details);
}

}  // namespace

Outcome mark_command(const MarkOptions& options) {
  const bool phase = options.what == "begin" || options.what == "end";
  if (phase && options.name.empty())
    return usage(fmt::format("mark {}: of what?", options.what), "joulecast mark begin NAME");
  if (!phase && !options.name.empty()) return usage(fmt::format("mark: '{}' is neither begin nor end", options.what));
  // A tab divides the name from what belongs to it.
  for (const std::string& word : {options.what, options.name}) {
    if (word.find('\t') != std::string::npos) return usage("mark: there is a tab in the name", "--with KEY=VALUE");
  }
  for (const std::string& detail : options.details) {
    if (detail.find('=') == std::string::npos || detail.front() == '=')
      return usage(fmt::format("mark: --with: '{}' is no KEY=VALUE", printable(detail)));
  }
  std::string line = phase ? options.what + " " + options.name : "mark " + options.what;
  for (const std::string& detail : options.details) line += "\t" + detail;
  const auto mark = parse_mark_line(line);
  const int error = mark ? say(*mark) : EINVAL;
  // A program that says what it does must also run where nobody listens, or nobody listens any more.
  if (error == 0 || error == ECONNREFUSED) return {};
  if (error == EINVAL || error == EMSGSIZE) {
    return usage("mark: that is no name of a phase",
                 fmt::format("at most {} printable letters, {} with what belongs to it", kMaxMarkName, kMaxMarkLine));
  }
  if (error == EDESTADDRREQ) {
    return tl::unexpected<Failure>(Error(ErrorCode::kInvalidInput, "JOULECAST_MARKS names no listener"));
  }
  const char* why = std::strerror(error);  // NOLINT(concurrency-mt-unsafe)
  return tl::unexpected<Failure>(Error(ErrorCode::kIo, fmt::format("mark: nobody took it: {}", why)));
}

}  // namespace joulecast::cli
