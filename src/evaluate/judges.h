// SPDX-License-Identifier: Apache-2.0
// Predicts what a row of a table measured.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dataset/measured.h"
#include "evaluate/tally.h"
#include "joulecast/gpu.h"
#include "joulecast/predict.h"
#include "predict/estimator.h"
#include "predict/measured_work.h"
#include "predict/network_graphs.h"
#include "predict/spread.h"

namespace joulecast {

struct FoundValue {
  double value = 0, lo = 0, hi = 0;
  double spread = 1;  // of an operation: what the pack's factor was multiplied by
};
struct Estimate {
  FoundValue time, power, energy;
  FoundValue memory = {};              // bytes at most in the allocator, of a network
  double gpu_busy = 0, host_busy = 0;  // seconds, of a network
  double baseline = 0;          // seconds, of a simple law: the bound of an operation, the roofline of a whole network
  std::string_view group = {};  // the estimator's, of an operation
  // "seen", "elsewhere", "relative", "unseen-gpu" or "outside" of an operation, the Support of a network
  std::string_view support;
  std::vector<OperationEstimate> operations = {};  // of a network, where they were asked for
};

class OperationJudge {
 public:
  static Result<OperationJudge> open(const std::string& pack, PackOptions use, const Catalogue& catalogue);
  // Errors: why the row cannot be predicted.
  Result<Estimate> predict(const MeasuredOperation& row) const;
  // Whether the pack's report names the layout among the tables it was fitted on.
  [[nodiscard]] bool fitted_on(std::string_view layout) const;

 private:
  OperationJudge(Pack pack, const Catalogue& catalogue)
      : pack_(std::make_unique<Pack>(std::move(pack))), catalogue_(&catalogue) {}
  // How well operations of a group are known on the GPU: "seen", "relative" or "unseen-gpu", as the pack's factors say;
  // "elsewhere" where they are seen, but not in this published benchmark; "outside" where nothing of the GPU's
  // architecture was measured.
  [[nodiscard]] std::string_view support(const MeasuredWork& work, bool elsewhere, const Gpu& gpu, const Device& device,
                                         const Estimator::Trust& trust) const;
  // The logarithm of its bounds' factor. `what`: "time", "power" or "energy".
  [[nodiscard]] double factor(Group group, std::string_view support, std::string_view what) const;
  // What that logarithm is multiplied by in a published benchmark that the pack was not fitted on, which may time other
  // things, with other libraries.
  [[nodiscard]] double elsewhere_factor(Group group, std::string_view what) const;

  std::unique_ptr<Pack> pack_;  // on the heap: the estimator's views must survive a move
  const Catalogue* catalogue_;
  Estimator estimator_;
  SpreadModels spreads_;
  TableView intervals_, gpus_;
  std::set<std::string, std::less<>> layouts_;  // that the pack was fitted on
};

class NetworkJudge {
 public:
  static Result<NetworkJudge> open(const std::string& pack, PackOptions use, const Catalogue& catalogue,
                                   std::string graphs);
  Result<Estimate> predict(const MeasuredNetwork& row, bool operations);

 private:
  NetworkJudge(Predictor predictor, const Catalogue& catalogue, NetworkGraphs graphs)
      : predictor_(std::move(predictor)), catalogue_(&catalogue), graphs_(std::move(graphs)) {}

  Predictor predictor_;
  const Catalogue* catalogue_;
  NetworkGraphs graphs_;
};

}  // namespace joulecast
