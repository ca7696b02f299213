// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.h"

#include <algorithm>
#include <array>
#include <string>

#include "dataset/store_place.h"

namespace joulecast::cli {
namespace {

bool always(std::span<const std::string_view> /*arguments*/) {
  return true;
}

bool names_a_store(std::span<const std::string_view> arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](std::string_view word) { return !word.starts_with('-') && is_store(std::string(word)); });
}

// In the order of the program's help.
constexpr std::array kVerbs{
    Verb{"predict", "time, power, energy and memory of a network on a GPU", define_predict},
    Verb{"inspect", "what a model file holds: operators, FLOPs, bytes, parameters", define_inspect},
    Verb{"gpus", "the GPUs we know, their figures and where these come from", define_gpus},
    Verb{"train", "fit a predictor pack to measurements", define_train},
    Verb{"pack", "what a predictor pack was fitted on, and how good it is", define_pack},
    Verb{"evaluate", "judge a predictor pack on measured tables", define_evaluate, names_a_store},
    Verb{"dataset", "a store of measurements: fill it, look into it, check it", define_dataset, always},
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
