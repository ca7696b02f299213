// SPDX-License-Identifier: Apache-2.0
// TorchScript: archives of torch.jit.save, traced or scripted.
#pragma once

#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast::torchscript {

// A zip archive with the constants that every TorchScript file has.
bool recognises(std::string_view bytes);

// Errors do not say which file it is. `name` is the graph's.
Result<Graph> import_bytes(std::string_view bytes, std::string_view name);

}  // namespace joulecast::torchscript
