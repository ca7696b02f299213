// SPDX-License-Identifier: Apache-2.0
// Any bytes are either an error or a valid graph, as an archive, as HDF5 and as the configuration inside of both.
// Seeds: fuzz/seeds/keras, tests/data/keras, tests/data/keras_broken.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "import/keras/import_keras.h"
#include "whole_way.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (joulecast::keras::is_archive(bytes)) {
    joulecast::check_import(joulecast::keras::import_archive(bytes, "fuzz"));
  } else if (joulecast::keras::is_hdf5(bytes)) {
    joulecast::check_import(joulecast::keras::import_hdf5(bytes, "fuzz"));
  } else {
    joulecast::check_import(joulecast::keras::import_config(bytes, "fuzz"));
  }
  return 0;
}
