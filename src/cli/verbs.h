// SPDX-License-Identifier: Apache-2.0
// The verbs of the program: one file each, one line in the list each.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "cli/output.h"

namespace CLI {
class App;
}

namespace joulecast::cli {

// What a verb does once its options are parsed.
using Action = std::function<Outcome(Output&)>;

struct Verb {
  std::string_view name;
  std::string_view summary;     // one line of the program's help
  Action (*define)(CLI::App&);  // gives the app its options; only called for the verb that was asked for
};

std::span<const Verb> verbs();
// nullptr where there is none of that name.
const Verb* find_verb(std::string_view name);

Action define_gpus(CLI::App& app);
Action define_predict(CLI::App& app);
Action define_inspect(CLI::App& app);
Action define_train(CLI::App& app);
Action define_train_settings(CLI::App& app);
Action define_evaluate(CLI::App& app);
Action define_completion(CLI::App& app);

}  // namespace joulecast::cli
