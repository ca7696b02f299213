// SPDX-License-Identifier: Apache-2.0
// Networks of torchvision, timm and others as model files, made by tools/zoo.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "joulecast/result.h"

namespace joulecast::profile {

struct ZooNetworks {
  std::vector<std::string> files;   // ONNX without weights, by name
  std::vector<std::string> failed;  // "torchvision_foo: why"
};

enum class Zoo : std::uint8_t { kMake, kIsMade };

// `wanted` is a list of tools/zoo/lists ("torchvision") or one network ("torchvision:resnet18"). Its files are made in
// `folder`/`wanted`; what is there already is not made again, and with kIsMade nothing is. Runs python3, whatever that
// is on the PATH, with `tools` (the folder that has zoo/) on its path; what it prints goes to `folder`/zoo.log, and to
// `say` line by line. Errors: kNotFound for a list that is none and where python3 cannot do it, with the reason; kIo;
// kUnknown where the user stopped it.
Result<ZooNetworks> export_zoo(const std::string& tools, const std::string& wanted, const std::string& folder, Zoo zoo,
                               const std::function<void(const std::string&)>& say);

// The folder that has zoo/: beside the installed program's data, or in the source tree around the build. Empty where
// there is none.
std::string zoo_tools();

}  // namespace joulecast::profile
