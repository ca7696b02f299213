// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.h"

#include <algorithm>
#include <array>

namespace joulecast::cli {
namespace {

// In the order of the program's help.
constexpr std::array kVerbs{
    Verb{"predict", "time, power, energy and memory of a network on a GPU", define_predict},
    Verb{"inspect", "what a model file holds: operators, FLOPs, bytes, parameters", define_inspect},
    Verb{"gpus", "the GPUs we know, their figures and where these come from", define_gpus},
    Verb{"train", "fit a predictor pack to measured operations", define_train},
    Verb{"train-settings", "fit and judge how time and power follow clocks and limits", define_train_settings},
    Verb{"evaluate", "judge a predictor pack on measured tables", define_evaluate},
    Verb{"completion", "completion of commands for bash, zsh and fish", define_completion},
};

}  // namespace

std::span<const Verb> verbs() {
  return kVerbs;
}

const Verb* find_verb(std::string_view name) {
  const auto at = std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& verb) { return verb.name == name; });
  return at == kVerbs.end() ? nullptr : &*at;
}

}  // namespace joulecast::cli
