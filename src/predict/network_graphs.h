// SPDX-License-Identifier: Apache-2.0
// The networks that rows of tables measured, from a folder of graphs.
#pragma once

#include <map>
#include <string>

#include "dataset/measured.h"
#include "joulecast/predict.h"

namespace joulecast {

// Each graph is read once: MODEL.onnx, or MODEL_SIZE.onnx where that one's image size is fixed to another.
class NetworkGraphs {
 public:
  explicit NetworkGraphs(std::string folder) : folder_(std::move(folder)) {}

  // The row's network at its batch and shapes, as it ran. Errors: why it cannot be had: kNotFound without a graph,
  // kUnsupported for several GPUs, a runtime without a model, another image size than the graph's and, where its
  // details have params_million, another number of parameters.
  Result<Workload> workload(const MeasuredNetwork& row);

 private:
  const Result<Graph>& graph(const MeasuredNetwork& row);
  const Result<Graph>& read(const std::string& model);

  std::string folder_;
  std::map<std::string, Result<Graph>> read_;
};

}  // namespace joulecast
