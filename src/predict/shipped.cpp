// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/program_folder.h"
#include "joulecast/predict.h"

namespace joulecast {
Result<std::string> shipped_pack_path() {
  if (const char* set = std::getenv("JOULECAST_PACK"); set != nullptr && *set != '\0')
    return std::string(set);  // NOLINT(concurrency-mt-unsafe)
  const std::string folder = program_folder();
  // An install tree has bin/ and share/; a build tree stands two folders below the sources.
  for (const char* place : {"/../share/joulecast/joulecast.jcpack", "/../../data/packs/joulecast.jcpack"}) {
    std::string path = folder + place;
    if (::access(path.c_str(), R_OK) == 0) return path;
  }
  return not_found(
      fmt::format("no predictor pack in {0}/../share/joulecast or {0}/../../data/packs; set JOULECAST_PACK", folder));
}

}  // namespace joulecast
