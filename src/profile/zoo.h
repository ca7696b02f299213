// SPDX-License-Identifier: Apache-2.0
// Networks of torchvision, timm and others as model files, made by tools/zoo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "joulecast/units.h"

namespace joulecast::profile {

struct ZooNetworks {
  std::vector<std::string> files;   // ONNX without weights, by name
  std::vector<std::string> failed;  // "torchvision_foo: why"
  std::size_t left = 0;             // that nobody tried to make yet
  std::string why_none;             // what python3 said last where some were to be made and none was
};

enum class Zoo : std::uint8_t { kMake, kIsMade };

struct ZooOptions {
  Zoo zoo = Zoo::kMake;
  // No network is begun after that, but one at least: the next start makes more. Families come mixed then.
  std::optional<Seconds> within;
  bool retry_failed = false;                              // what could not be made by an earlier start is tried again
  std::function<void(const std::string&)> say = nullptr;  // gets what is printed, line by line, twice a second
};

// `wanted` is a list of tools/zoo/lists ("torchvision") or one network ("torchvision:resnet18"). Its files are made in
// `folder`/`wanted`; what is there already is not made again, and with kIsMade nothing is. Runs python3, whatever that
// is on the PATH, with `tools` (the folder that has zoo/) on its path, where something is missing; what it prints goes
// to `folder`/zoo.log. Errors: kNotFound for a list that is none and where python3 cannot do it, with the reason; kIo,
// also where the user stopped it; kUnsupported where each of the networks failed by itself, with one's reason.
Result<ZooNetworks> export_zoo(const std::string& tools, const std::string& wanted, const std::string& folder,
                               const ZooOptions& options);

// The folder that has zoo/: beside the installed program's data, or in the source tree around the build. Empty where
// there is none.
std::string zoo_tools();

}  // namespace joulecast::profile
