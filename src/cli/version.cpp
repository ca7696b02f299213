// SPDX-License-Identifier: Apache-2.0
#include "cli/version.h"

namespace joulecast::cli {

std::string version_text() {
  return "joulecast " JOULECAST_VERSION "\n";
}

}  // namespace joulecast::cli
