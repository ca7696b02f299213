// SPDX-License-Identifier: Apache-2.0
// What `joulecast inspect` counts in a graph, and how it is shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/assumptions.h"
#include "cli/json.h"
#include "cli/options.h"
#include "joulecast/cost.h"
#include "joulecast/graph.h"

namespace joulecast::cli {

// All operators of one label.
struct KindTotal {
  std::string kind;
  bool known = true;  // false: costed by its bytes only
  std::int64_t count = 0;
  Cost cost;
};

struct NamedTensor {
  std::string name;
  ValueKind kind = ValueKind::kComputed;
  TensorType type;
};

struct Inspection {
  std::string model;  // path
  std::string graph;  // name
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> outputs;
  std::vector<Assumption> assumed;
  std::vector<KindTotal> kinds;  // most flops first, then most bytes
  KindTotal total;
  std::vector<NamedTensor> largest;  // at most as many as asked for, largest first
  std::vector<std::string> notes;
};

// Requires: `types` is the table of `graph`.
Inspection inspect(const Graph& graph, const TypeTable& types, std::size_t top);

// Read and written by the forward pass.
Bytes forward_bytes(const Cost& cost);

// In the words of the options of `joulecast inspect`.
struct InspectionRequest {
  ShapeOptions shapes;
  std::size_t top = 5;
  bool as_written = false;  // not simplified
};
// `graph` as it was imported, called `model`. Fails with exit code 2 for what the request says wrongly.
tl::expected<Inspection, Failure> inspected(const InspectionRequest& request, const std::string& model, Graph graph);

std::string inspection_text(const Inspection& inspection);
Json inspection_json(const Inspection& inspection);        // schema joulecast.inspection/1
std::string inspection_csv(const Inspection& inspection);  // one line a kind of operator

}  // namespace joulecast::cli
