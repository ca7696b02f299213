// SPDX-License-Identifier: Apache-2.0
#include "cli/prediction_options.h"

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace joulecast::cli {

void add_workload(CLI::App& app, PredictionRequest& request) {
  app.add_option("-g,--gpu", request.gpus, "GPUs by id or alias, with commas between, or all (default all)")
      ->type_name(kGpu)
      ->expected(1)
      ->take_all()
      ->default_str("");
  app.add_option("-b,--batch", request.batches, "batch sizes, with commas between (default 1)")
      ->type_name("N,..")
      ->expected(1)
      ->take_all();
  app.add_option("--shapes", request.shapes,
                 "shape of an input, name:AxBxC (repeatable); lengths are else taken as 128, images as 224x224")
      ->type_name("SHAPE")
      ->expected(1)
      ->take_all();
  add_choice(app, "-m,--mode", request.mode, "what to predict (default inference)", {"inference", "training"});
  add_choice(app, "--precision", request.precision,
             "of the matrix work (default the runtime's own: tf32 in PyTorch, tf32-all in TensorFlow)",
             {"fp64", "fp32", "tf32", "tf32-all", "fp16", "bf16", "fp8", "nvfp4", "amp", "amp-bf16"});
  add_choice(app, "--runtime", request.runtime, "what executes the network (default pytorch-eager)",
             {"pytorch-eager", "pytorch-compiled", "cuda-graph", "tensorflow"});
  add_choice(app, "--layout", request.layout, "how images lie in memory (default channels-first)",
             {"channels-first", "channels-last"});
  app.add_option("--host", request.host,
                 "what launches kernels: modern, older, or a factor on modern's cost of a call (default: modern, with "
                 "bounds for others)")
      ->type_name("HOST");
  add_choice(app, "--optimizer", request.optimizer, "of training (default sgd)",
             {"sgd", "sgd-momentum", "adam", "adagrad", "rmsprop", "adadelta"});
}

}  // namespace joulecast::cli
