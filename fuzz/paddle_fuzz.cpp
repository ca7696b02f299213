// SPDX-License-Identifier: Apache-2.0
// Any bytes are either an error or a valid graph, whose types propagate or fail with an error, and which goes its way
// to a prediction. Seeds: tests/data/paddle, tests/data/paddle_broken.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "import/paddle/import_paddle.h"
#include "whole_way.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with('{')) {
    joulecast::check_import(joulecast::paddle::import_json(bytes, "fuzz"));
  } else {
    joulecast::check_import(joulecast::paddle::import_pdmodel(bytes, "fuzz"));
  }
  return 0;
}
