// SPDX-License-Identifier: Apache-2.0
// Any config.json is either an error or a valid graph, which goes its way to a prediction. Seeds:
// fuzz/seeds/config.
#include <cstddef>
#include <cstdint>

#include "import/huggingface/import_config.h"
#include "whole_way.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  joulecast::check_import(joulecast::huggingface::import_config({reinterpret_cast<const char*>(data), size}, "fuzz"));
  return 0;
}
