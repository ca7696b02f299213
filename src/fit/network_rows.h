// SPDX-License-Identifier: Apache-2.0
// What whole networks say of a GPU's level.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dataset/measured.h"
#include "fit/correction_fit.h"
#include "joulecast/gpu.h"
#include "predict/compose.h"
#include "predict/estimator.h"
#include "predict/network_graphs.h"

namespace joulecast {

// Requires: catalogue and estimator outlive it.
class NetworkRows {
 public:
  // `graphs`: folder with MODEL.onnx for every model; empty: no network can be used.
  NetworkRows(std::string graphs, const Catalogue& catalogue, const Estimator& estimator,
              const ComposeConstants& compose)
      : has_graphs_(!graphs.empty()),
        graphs_(std::move(graphs)),
        catalogue_(catalogue),
        estimator_(estimator),
        compose_(compose) {}

  // Errors: kUnsupported for a row that says nothing of the time, and why; those of NetworkGraphs and of predictions.
  Result<void> add(const MeasuredNetwork& row);

  // By GPU. Ways to run a network (mode, runtime, layout, precision) count alike, however many rows each has, and so
  // do the networks of one way.
  [[nodiscard]] std::map<std::string, std::vector<Deviation>> deviations() const;

 private:
  struct Row {
    std::string model;
    Deviation deviation;
  };

  bool has_graphs_;
  NetworkGraphs graphs_;
  const Catalogue& catalogue_;
  const Estimator& estimator_;
  ComposeConstants compose_;
  std::map<std::string, std::vector<Row>> rows_;  // by GPU
};

}  // namespace joulecast
