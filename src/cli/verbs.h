// SPDX-License-Identifier: Apache-2.0
// The verbs of the program: one file each, one line in the list each.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.h"
#include "dataset/table.h"

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
  // The program that has to do it, empty for this one: databases and sensors would cost every other start of this
  // program their libraries.
  std::string_view (*elsewhere)(std::span<const std::string_view> arguments) = nullptr;
  bool json_among_messages = false;  // standard output is somebody else's
};

std::span<const Verb> verbs();
// nullptr where there is none of that name.
const Verb* find_verb(std::string_view name);

Action define_gpus(CLI::App& app);
Action define_predict(CLI::App& app);
Action define_recommend(CLI::App& app);
Action define_inspect(CLI::App& app);
Action define_train(CLI::App& app);
Action define_pack(CLI::App& app);
Action define_evaluate(CLI::App& app);
Action define_completion(CLI::App& app);
Action define_dataset(CLI::App& app);
Action define_measure(CLI::App& app);
Action define_analyze(CLI::App& app);
Action define_export(CLI::App& app);
Action define_report(CLI::App& app);
Action define_watch(CLI::App& app);
Action define_doctor(CLI::App& app);
Action define_mark(CLI::App& app);
Action define_sweep(CLI::App& app);
Action define_restore(CLI::App& app);
Action define_profile(CLI::App& app);

// `evaluate`, with what reads its table.
using ReadRows = Result<joulecast::Table> (*)(const std::string& place, const std::vector<std::string>& layouts,
                                              const TableSink& sink);
Action define_evaluate_with(CLI::App& app, ReadRows read);

}  // namespace joulecast::cli
