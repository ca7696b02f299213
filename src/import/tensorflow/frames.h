// SPDX-License-Identifier: Apache-2.0
// Loops as they stand in graphs from before TensorFlow 2, and in those that were frozen: not a While with two
// functions, but the nodes of both in the graph itself, between Enter and Exit of a frame.
#pragma once

#include <deque>
#include <string>

#include "import/tensorflow/graph_def.h"
#include "joulecast/result.h"

namespace joulecast::tensorflow {

// Makes a While of each frame that is a loop over a counter as the framework writes them, the innermost first: a Merge,
// a Switch and a NextIteration for each variable, one LoopCond. Other frames, and those with a TensorArray, stay as
// they are. `texts` keeps what the graph's views then refer to. Errors: kUnsupported for loops in loops that would take
// more steps than those of any real model.
Result<void> raise_frames(GraphView& graph, std::deque<std::string>& texts);

}  // namespace joulecast::tensorflow
