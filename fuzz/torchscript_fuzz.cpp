// SPDX-License-Identifier: Apache-2.0
// Any bytes are either an error or a valid graph that goes its way to a prediction. What starts as a pickle is the data
// of a small archive, other text its code, so that changes need not fit an archive. Seeds:
// tests/data/torchscript_broken, and archives of real networks.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "import/torchscript/archive_writer.h"
#include "import/torchscript/import_torchscript.h"
#include "whole_way.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace joulecast::torchscript;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("PK")) {
    joulecast::check_import(import_bytes(bytes, "fuzz"));
    return 0;
  }
  const bool pickle = bytes.starts_with("\x80");
  const std::string inputs = inputs_pickle({{2, 3, 8, 8}});
  joulecast::check_import(
      import_bytes(pickle ? archive_of(kOneConvolution, bytes, inputs) : archive_of(bytes, {}, inputs), "fuzz"));
  return 0;
}
