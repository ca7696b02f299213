// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast::huggingface {

bool is_config(std::string_view bytes);

// A config.json of Hugging Face's transformers as the network it describes; there is no file of weights to it.
// Errors: kInvalidInput naming the key; kUnsupported for model types and parts we do not know.
Result<Graph> import_config(std::string_view bytes, std::string_view name);

}  // namespace joulecast::huggingface
