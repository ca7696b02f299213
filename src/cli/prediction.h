// SPDX-License-Identifier: Apache-2.0
// What the verb predict and the C interface do: one network on GPUs, at batches, under settings.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/outcome.h"
#include "cli/predict_text.h"
#include "cli/setting_options.h"
#include "joulecast/gpu.h"
#include "joulecast/graph.h"
#include "joulecast/predict.h"

namespace joulecast::cli {

// In the words of the options of `joulecast predict`.
struct PredictionRequest {
  std::string mode = "inference", precision, runtime = "pytorch-eager", layout = "channels-first", host, optimizer;
  std::vector<std::string> gpus{"all"}, batches, shapes;
  std::size_t top = 0;
  bool breakdown = false;
  SettingOptions settings;
};

struct PredictionContext {
  const Catalogue& catalogue;
  const Predictor& predictor;
};

// What a request asks for, read and checked: every load on every GPU.
struct PreparedRequest {
  std::vector<const Gpu*> gpus;  // of the catalogue
  std::vector<Workload> loads;   // one a batch
  PredictOptions how;
  std::optional<SettingRequest> settings;
};

// Fails where --gpu names a GPU that the catalogue does not have, or none.
Outcome check_gpus(const PredictionRequest& request, const Catalogue& catalogue);

// The first eight sentences of what was left out, for people, and how many more there are.
std::vector<std::string> few(const std::vector<std::string>& left_out);

// `network` is simplified and called `model`. Fails with exit code 2 for what the request says wrongly.
tl::expected<PreparedRequest, Failure> prepared(const PredictionRequest& request, const std::string& model,
                                                const Graph& network, const Catalogue& catalogue);

// Adds a note where a measured time is far from what is predicted: milliseconds for seconds, an epoch for a batch.
void doubt_measured_times(PreparedRequest& asked, const Predictor& predictor);

// GPUs among several that lack the precision, and settings among several that a GPU lacks, are left out, and the report
// says so. Fails as prepared() does, where nothing is left, and where the pack turns out to be damaged.
tl::expected<PredictionReport, Failure> predictions(const PredictionRequest& request, const std::string& model,
                                                    const Graph& network, const PredictionContext& context);

}  // namespace joulecast::cli
