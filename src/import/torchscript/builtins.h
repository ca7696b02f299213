// SPDX-License-Identifier: Apache-2.0
// Functions of the language itself: types, lists, what is asked of tensors. Adding one: a function in builtins.cpp or
// builtins_list.cpp, and its line in the list at the end of builtins.cpp.
#pragma once

#include <optional>
#include <string_view>

#include "import/torchscript/importer.h"

namespace joulecast::torchscript {

// Answers nothing where its arguments are those of an operator of the same name.
using Builtin = Result<std::optional<Item>> (*)(Importer& importer, const Arguments& arguments);

// Without "torch." or "ops.prim."; nullptr where there is none.
Builtin find_builtin(std::string_view name);

}  // namespace joulecast::torchscript
