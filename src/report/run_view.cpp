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

Json time_axis(const RunView& run) {
  Json out = time_axis();
  const auto span = run.recording.span();
  if (span && span->begin < span->end) {
    out["scale"]["domain"] = Json::array({run.seconds(span->begin), run.seconds(span->end)});
  }
  return out;
}

}  // namespace joulecast::report
