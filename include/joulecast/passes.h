// SPDX-License-Identifier: Apache-2.0
// Exporters write one operator of the framework as a dozen of the file format's. This folds them back.
//
//   JC_ASSIGN_OR_RETURN(Graph graph, import_model("net.onnx"));
//   graph = simplify(std::move(graph));
#pragma once

#include "joulecast/graph.h"

namespace joulecast {

// The same network with exporters' idioms folded to the operators that the framework ran, and without nodes, values
// and bodies that nobody reads. A group of nodes is folded only if no value inside it is read elsewhere; the node that
// remains has the name of the group's last one. Bodies of control flow are treated likewise. Takes time linear in the
// size of the graph. Which idioms: src/graph/passes/passes.cpp has the list, each file there says what it knows.
// Requires: a graph that validate() accepts, as importers and parse_graph return them. The result is one as well.
Graph simplify(Graph graph);

// The same network with nodes that are equal, in what they do and what they read, computed once, as compilers have it;
// a framework that runs node by node computes each. The first one stays. Not random ones (dropout), nor operators
// nobody knows, nor those of bodies, and outputs of the graph keep their names. Requires and returns what simplify()
// does.
Graph merge_equal(Graph graph);

}  // namespace joulecast
