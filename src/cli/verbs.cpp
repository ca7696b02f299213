// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.h"

#include <algorithm>
#include <array>
#include <string>

#include "cli/other_program.h"
#include "dataset/store_place.h"

namespace joulecast::cli {
namespace {

std::string_view dataset_program(std::span<const std::string_view> /*arguments*/) {
  return kDatasetProgram;
}

std::string_view measure_program(std::span<const std::string_view> /*arguments*/) {
  return kMeasureProgram;
}

std::string_view profile_program(std::span<const std::string_view> /*arguments*/) {
  return kProfileProgram;
}

std::string_view where_a_store_is_named(std::span<const std::string_view> arguments) {
  const bool store = std::any_of(arguments.begin(), arguments.end(), [](std::string_view word) {
    return !word.starts_with('-') && is_store(std::string(word));
  });
  return store ? kDatasetProgram : std::string_view();
}

// In the order of the program's help.
constexpr std::array kVerbs{
    Verb{"predict", "time, power, energy and memory of a network on a GPU", define_predict},
    Verb{"recommend", "the GPU, batch and setting at which a network does best", define_recommend},
    Verb{"inspect", "what a model file holds: operators, FLOPs, bytes, parameters", define_inspect},
    Verb{"gpus", "the GPUs we know, their figures and where these come from", define_gpus},
    Verb{"measure", "run a command and measure time, power and energy", define_measure, measure_program},
    Verb{"analyze", "what recordings of measured runs come to", define_analyze, measure_program},
    Verb{"export", "recordings and logs of others as CSV, JSON, trace or metrics", define_export, measure_program},
    Verb{"report", "a page with charts of measured runs, in one file", define_report, measure_program},
    Verb{"watch", "power, energy, clocks and memory of GPUs, live", define_watch, measure_program},
    Verb{"doctor", "which sensors work here, and what the others lack", define_doctor, measure_program},
    Verb{"mark", "say, from inside a measured program, what begins or ends", define_mark, measure_program},
    Verb{"sweep", "measure a command over power limits, clocks and parameters", define_sweep, measure_program},
    Verb{"restore", "put back GPU settings that a killed sweep has left", define_restore, measure_program},
    Verb{"profile", "measure operations and networks here, for datasets", define_profile, profile_program},
    Verb{"train", "fit a predictor pack to measurements", define_train},
    Verb{"pack", "what a predictor pack was fitted on, and how good it is", define_pack},
    Verb{"evaluate", "judge a predictor pack on measured tables", define_evaluate, where_a_store_is_named},
    Verb{"dataset", "a store of measurements: fill it, look into it, check it", define_dataset, dataset_program},
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
