// SPDX-License-Identifier: Apache-2.0
// Any bytes are either an error or a valid graph, whose types propagate or fail with an error, and which goes its way
// to a prediction. Seeds: examples, tests/data/onnx_broken.
#include <cstddef>
#include <cstdint>
#include <span>

#include "joulecast/import.h"
#include "whole_way.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  joulecast::check_import(joulecast::import_onnx(std::as_bytes(std::span(data, size)), "fuzz"));
  return 0;
}
