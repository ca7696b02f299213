// SPDX-License-Identifier: Apache-2.0
// A model file on disk becomes a graph. Weights are never read, and need not be in the file.
//
//   JC_ASSIGN_OR_RETURN(Graph graph, import_model("resnet50.onnx"));
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast {

// Recognises the format by the file's contents, whatever its name: ONNX, and the text form of graph.h ("graph ...").
// Errors: kNotFound, kIo; kUnsupported for a format we do not read (says which are); those of the format's importer.
Result<Graph> import_model(const std::string& path);

// ONNX, operator sets 7 to the newest. The file is mapped, and only its structure is looked at: the bytes of weights
// may be missing (stripped, or kept as external data). See docs/formats/onnx.md for what becomes of each operator.
// Errors: kNotFound, kIo; kInvalidInput for anything malformed, naming file, node and attribute; kUnsupported for
// operator sets before 7 and for models beyond the importer's limits.
Result<Graph> import_onnx(const std::string& path);

// The same from memory. `name` becomes the graph's name and stands first in errors.
Result<Graph> import_onnx(std::span<const std::byte> bytes, std::string_view name);

}  // namespace joulecast
