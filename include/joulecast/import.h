// SPDX-License-Identifier: Apache-2.0
// A model file on disk becomes a graph. Weights are never read, and need not be in the file.
//
//   JC_ASSIGN_OR_RETURN(Graph graph, import_model("resnet50.onnx"));
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast {

using InputShapes = decltype(Binding::shapes);

// Recognises the format by the file's contents, whatever its name: ONNX, programs of torch.export, TorchScript,
// TensorFlow's SavedModel and GraphDef, TensorFlow Lite, Keras' .keras and .h5, Paddle's .pdmodel and .json,
// transformers' config.json, and the text form of graph.h ("graph ..."). A folder is a model where it has a file of a
// name that tells so (saved_model.pb, inference.pdmodel, config.json). A `framework` other than "" is believed instead:
// one of frameworks(). `shapes` of inputs, by name, help where a file tells none (scripted modules of TorchScript),
// their first extent as the batch that stays open; what a file tells is not changed by them, and names that it has not
// are passed over. Errors: kNotFound, kIo; kUnsupported for a format we do not read (says which are); kInvalidInput for
// a framework nobody knows; those of the format's importer.
Result<Graph> import_model(const std::string& path, std::string_view framework = {}, const InputShapes& shapes = {});

// The models at a path: the file or the folder that is one, else all that are anywhere in the folder, sorted; what is
// no model is passed over, and so are links. Errors: kNotFound where there is none, kIo, kUnsupported for a folder of
// more than 100,000 files.
Result<std::vector<std::string>> find_models(const std::string& path);

// "onnx", "joulecast", ...
std::vector<std::string_view> frameworks();

// ONNX, operator sets 7 to the newest. The file is mapped, and only its structure is looked at: the bytes of weights
// may be missing (stripped, or kept as external data). See docs/formats/onnx.md for what becomes of each operator.
// Errors: kNotFound, kIo; kInvalidInput for anything malformed, naming file, node and attribute; kUnsupported for
// operator sets before 7 and for models beyond the importer's limits.
Result<Graph> import_onnx(const std::string& path);

// The same from memory. `name` becomes the graph's name and stands first in errors.
Result<Graph> import_onnx(std::span<const std::byte> bytes, std::string_view name);

// TensorFlow: a SavedModel's saved_model.pb, or a GraphDef with its variables frozen to constants, whichever the bytes
// are. See docs/formats/tensorflow.md. Errors as above.
Result<Graph> import_tensorflow(std::span<const std::byte> bytes, std::string_view name);

}  // namespace joulecast
