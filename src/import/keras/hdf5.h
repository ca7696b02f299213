// SPDX-License-Identifier: Apache-2.0
// A text among the attributes of an HDF5 file's root group: all of HDF5 that the configuration of a network needs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "joulecast/result.h"

namespace joulecast::keras {

struct RootAttributes {
  std::optional<std::string> text;  // of the one that was asked for
  std::string names;                // of all, separated by ", "
};

// Strings of a fixed length and those in the global heap, superblocks 0 to 3, object headers 1 and 2. Errors:
// kInvalidInput for offsets that lead out of the file, kUnsupported for attributes that are stored in another way.
Result<RootAttributes> read_root_attribute(std::string_view bytes, std::string_view name);

}  // namespace joulecast::keras
