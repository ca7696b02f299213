// SPDX-License-Identifier: Apache-2.0
// A graph as the lines a runner reads (docs/formats/runner.md): every extent a number, the arithmetic of shapes done.
#pragma once

#include <string>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast::profile {

// Nodes whose results are known become constants, nodes that nobody reads then are left out.
// Requires: types is what infer_types() made of this graph. Errors: kUnsupported for control flow, operators that are
// none of ours and results whose shape depends on data.
Result<std::string> program_text(const Graph& graph, const TypeTable& types);

// In values: spaces, '%' and control characters as %XX.
std::string escaped(std::string_view value);
std::string unescaped(std::string_view value);

}  // namespace joulecast::profile
