// SPDX-License-Identifier: Apache-2.0
// What an ONNX file cannot show, as far as it can be noticed.
#pragma once

#include <string>
#include <vector>

#include "import/onnx/reader.h"

namespace joulecast::onnx {

std::vector<std::string> notes_on(const ModelView& model);

}  // namespace joulecast::onnx
