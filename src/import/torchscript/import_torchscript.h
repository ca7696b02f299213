// SPDX-License-Identifier: Apache-2.0
// TorchScript: archives of torch.jit.save, traced or scripted.
#pragma once

#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/import.h"
#include "joulecast/result.h"

namespace joulecast::torchscript {

// A zip archive with the constants that every TorchScript file has.
bool recognises(std::string_view bytes);

// Errors do not say which file it is. `name` is the graph's.
// `shapes`: of inputs, for those that the file does not tell.
Result<Graph> import_bytes(std::string_view bytes, std::string_view name, const InputShapes& shapes = {});

}  // namespace joulecast::torchscript
