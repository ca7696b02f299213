// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "cli/output.h"
#include "cli/verbs.h"

namespace joulecast::cli {

// The whole program but for its streams. `arguments` without the program's name; the exit code comes back.
// Exceptions of the option parser end here.
int run(std::span<const std::string_view> arguments, Output& output);

// The same for a program of one verb; `arguments` without the verb.
int run(const Verb& verb, std::span<const std::string_view> arguments, Output& output);

// An app for the options of `verb`, as its help shows it. The action is what the verb does after parsing.
Action define(const Verb& verb, CLI::App& app);

}  // namespace joulecast::cli
