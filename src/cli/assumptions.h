// SPDX-License-Identifier: Apache-2.0
// Extents that the model leaves open and nobody gave: taken as what is usual, and said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/outcome.h"
#include "joulecast/graph.h"

namespace joulecast::cli {

struct Assumption {
  UnboundDimension dimension;
  std::int64_t extent = 1;
  // "dimension 'sequence' of input 'input_ids' is not bound: taken as 128; set it with --shapes input_ids:1x128"
  std::string text;
};

// Binds what `binding` leaves open: batches to its batch, else 1; heights and widths to 224, lengths to 128.
// Errors: kInvalidInput, exit code 2, naming the dimensions of which neither name nor place tells what is usual.
tl::expected<std::vector<Assumption>, Failure> assume_open_dimensions(const Graph& graph, Binding& binding);

// An error of inferring the types of `graph`, called `model`. Where the file does not say an input's shape, which may
// be why, the hint is what it was taken to be.
Failure misfit(Error error, const std::string& model, const Graph& graph, const Binding& binding);

}  // namespace joulecast::cli
