// SPDX-License-Identifier: Apache-2.0
// Stands in for postgresql.cpp where libpqxx is not installed.
#include "store/database.h"

namespace joulecast {

Result<std::unique_ptr<Database>> open_postgresql(const std::string& /*url*/, Access /*access*/) {
  return unsupported("this joulecast was built without libpqxx, so without PostgreSQL");
}

}  // namespace joulecast
