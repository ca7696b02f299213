// SPDX-License-Identifier: Apache-2.0
// Any bytes are either an error or a valid graph, whose types propagate or fail with an error, and which goes its way
// to a prediction. Seeds: tests/data/tflite, tests/data/tflite_broken.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "import/tflite/import_tflite.h"
#include "whole_way.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  joulecast::check_import(joulecast::tflite::import_tflite(bytes, "fuzz"));
  return 0;
}
