// SPDX-License-Identifier: Apache-2.0
// predict PACK MODEL GPU BATCH: the seconds of one inference.
#include <joulecast/gpu.h>
#include <joulecast/import.h>
#include <joulecast/passes.h>
#include <joulecast/predict.h>

#include <cstdio>
#include <cstdlib>

using namespace joulecast;

static Result<double> seconds(const char* pack, const char* model, const char* gpu_name, const char* batch) {
  JC_ASSIGN_OR_RETURN(Predictor predictor, Predictor::open(pack));
  JC_ASSIGN_OR_RETURN(const Gpu* gpu, Catalogue::shipped().find(gpu_name));
  JC_ASSIGN_OR_RETURN(Graph graph, import_model(model));
  Binding binding;
  binding.batch = std::atoi(batch);
  JC_ASSIGN_OR_RETURN(Workload load, prepare(simplify(std::move(graph)), binding, {}));
  JC_ASSIGN_OR_RETURN(Prediction prediction, predictor.predict(load, *gpu, {}));
  return prediction.time.value.value();
}

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: predict PACK MODEL GPU BATCH\n"), 2;
  const auto found = seconds(argv[1], argv[2], argv[3], argv[4]);
  if (!found) return std::fprintf(stderr, "%s\n", found.error().text().c_str()), 1;
  std::printf("%.9g\n", *found);
}
