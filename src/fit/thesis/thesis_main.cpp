// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>

#include "fit/thesis/protocol.h"

namespace joulecast {
namespace {

Result<std::vector<Method>> parse_methods(const std::string& word) {
  if (word == "all")
    return std::vector{Method::kRandomForest, Method::kExtraTrees, Method::kBoosting, Method::kPhysics, Method::kOurs};
  const auto method = parse_method(word);
  if (!method) return invalid(fmt::format("no estimator '{}'", word));
  return std::vector{*method};
}

Result<std::string> run(const std::vector<std::string>& words) {
  const bool quiet = words[0] == "quiet";
  const auto progress = [&](const std::string& line) {
    if (!quiet) fmt::print(stderr, "{}\n", line);
  };
  ThesisOptions options;
  JC_ASSIGN_OR_RETURN(options.methods, parse_methods(words[2]));
  std::size_t at = 3;
  for (; at + 1 < words.size() && words[at] == "--layout"; at += 2) options.layouts.push_back(words[at + 1]);
  options.tables.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  JC_ASSIGN_OR_RETURN(const ThesisResult result, run_thesis_protocol(options, progress));
  return words[1] == "json" ? thesis_json(result) : thesis_text(result);
}

}  // namespace

int thesis_main(const std::vector<std::string>& words) {
  if (words.size() < 4) {
    fmt::print(stderr, "joulecast-train: part of joulecast; use joulecast train --protocol thesis\n");
    return 2;
  }
  const auto text = run(words);
  if (!text) {
    fmt::print(stderr, "joulecast: {}\n", text.error().text());
    return 1;
  }
  if (std::fwrite(text->data(), 1, text->size(), stdout) == text->size() && std::fflush(stdout) == 0) return 0;
  fmt::print(stderr, "joulecast: standard output cannot be written\n");
  return 1;
}

}  // namespace joulecast
