// SPDX-License-Identifier: Apache-2.0
// One model, or several, or folders of them: answered one after another.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/json.h"
#include "cli/options.h"
#include "cli/outcome.h"
#include "cli/output.h"

namespace joulecast::cli {

// What a verb says of one model, in the form that was asked for.
struct Answer {
  Json json;
  std::string text;                // or CSV, with its header
  std::vector<std::string> notes;  // for the messages
};
using Answerer = std::function<tl::expected<Answer, Failure>(const std::string& model)>;

// One model alone is answered as it is; of several the JSON is "joulecast.batch/1" (docs/formats/prediction.md), and
// CSV has one header. One that fails is told and left out: the exit code is kIncomplete then, or that of the failure
// where all fail.
Outcome answer_models(const std::vector<std::string>& models, const Form& form, Output& output, const Answerer& answer);

}  // namespace joulecast::cli
