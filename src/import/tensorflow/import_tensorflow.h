// SPDX-License-Identifier: Apache-2.0
// Files of TensorFlow: a SavedModel, or a GraphDef whose variables were frozen to constants.
#pragma once

#include <string>
#include <string_view>

#include "import/tensorflow/importer.h"
#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast::tensorflow {

bool is_saved_model(std::string_view bytes);
bool is_graph_def(std::string_view bytes);
// `name` becomes the graph's name. See joulecast/import.h for the errors; they do not name the file.
Result<Graph> import_saved_model(std::string_view bytes, std::string_view name);
Result<Graph> import_graph_def(std::string_view bytes, std::string_view name);
// Of a graph that is already read, or was made of a file of another kind.
Result<Graph> import_graph(const GraphView& graph, const Interface& interface, std::string_view name);

}  // namespace joulecast::tensorflow
