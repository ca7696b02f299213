// SPDX-License-Identifier: Apache-2.0
#include "report/run_view.h"

#include <utility>

namespace joulecast::report {

RunView::RunView(std::string file, const Recording& of, const RunSummary& its)
    : path(std::move(file)),
      recording(of),
      summary(its),
      accountant(of),
      phases(phases_of(of)),
      sensors(check_sensors(of)) {}

}  // namespace joulecast::report
