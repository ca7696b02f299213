// SPDX-License-Identifier: Apache-2.0
// What networks from files are called in rows.
#pragma once

#include <string>
#include <vector>

namespace joulecast::profile {

// One a file, in their order: its name without the extension, and of files that share one as many of their folders in
// front as tell them apart. The same file twice has one name.
//
//   a/net.onnx b/net.onnx c/other.onnx   ->   "a/net", "b/net", "other"
std::vector<std::string> model_names(const std::vector<std::string>& files);

}  // namespace joulecast::profile
