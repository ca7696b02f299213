// SPDX-License-Identifier: Apache-2.0
// Files of PyTorch: programs of torch.export (.pt2).
#pragma once

#include <string>
#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast::torch {

// A zip archive that PyTorch wrote: a program, or a pickle, which is refused with what to do instead.
bool recognises(std::string_view bytes);

// Errors do not say which file it is. `name` is the graph's.
Result<Graph> import_bytes(std::string_view bytes, std::string_view name);

// The program alone, without its archive: JSON.
Result<Graph> import_program(std::string_view json, std::string_view name);

}  // namespace joulecast::torch
