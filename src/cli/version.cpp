// SPDX-License-Identifier: Apache-2.0
#include "cli/version.h"

namespace joulecast::cli {

std::string_view version() {
  return JOULECAST_VERSION;
}

std::string version_text() {
  return "joulecast " JOULECAST_VERSION "\n";
}

}  // namespace joulecast::cli
