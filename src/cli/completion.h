// SPDX-License-Identifier: Apache-2.0
// Completion scripts, made from the option tables that the verbs parse with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace joulecast::cli {

// What may stand in the place of a value.
enum class Values : std::uint8_t {
  kNone,
  kWords,
  kFiles,
  kAnything,
  kWordThenFiles
};  // the last: a subcommand, then files

// One option, or the verb's positional argument.
struct CompletedOption {
  std::vector<std::string> short_names, long_names;  // without dashes; both empty for the positional one
  std::string description;
  Values values = Values::kNone;
  std::vector<std::string> words;  // of kWords and kWordThenFiles
};

struct CompletedVerb {
  std::string name, summary;
  std::vector<CompletedOption> options;
};

// Every verb's options, as CLI11 knows them; hidden ones left out.
std::vector<CompletedVerb> completed_verbs();

std::string bash_completion(const std::vector<CompletedVerb>& verbs);
std::string zsh_completion(const std::vector<CompletedVerb>& verbs);
std::string fish_completion(const std::vector<CompletedVerb>& verbs);

}  // namespace joulecast::cli
