// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "joulecast/tensor.h"

namespace joulecast::torchscript {

// Of `torch.FloatStorage` and its like; nothing where the name is none of them.
std::optional<ElementType> element_of_storage(std::string_view name);

// Whether a pickle of a TorchScript file may name it: classes of the file, storages, what rebuilds tensors and lists.
bool is_known_global(std::string_view module, std::string_view name);

}  // namespace joulecast::torchscript
