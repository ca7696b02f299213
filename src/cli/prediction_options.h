// SPDX-License-Identifier: Apache-2.0
// What is run, and on which GPUs: options of predict and recommend.
#pragma once

#include "cli/prediction.h"

namespace CLI {
class App;
}

namespace joulecast::cli {

// From --gpu to --optimizer.
void add_workload(CLI::App& app, PredictionRequest& request);

}  // namespace joulecast::cli
