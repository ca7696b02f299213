// SPDX-License-Identifier: Apache-2.0
// Any bytes are either an error or a valid graph that goes its way to a prediction. What starts as JSON is the program
// alone, so that changes need not fit an archive. Seeds: small programs, tests/data/pt2_broken.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "import/torch/import_bytes.h"
#include "whole_way.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bool archive = joulecast::torch::recognises(bytes);
  joulecast::check_import(archive ? joulecast::torch::import_bytes(bytes, "fuzz")
                                  : joulecast::torch::import_program(bytes, "fuzz"));
  return 0;
}
