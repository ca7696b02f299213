// SPDX-License-Identifier: Apache-2.0
// Measuring from within a program: joulecast_meter_* and joulecast_window_*.
#include "measure/meter.h"

#include <memory>

#include "analysis/summary.h"
#include "c/guarded.h"
#include "c/request.h"
#include "cli/measure/summary_text.h"
#include "joulecast/c.h"

struct joulecast_meter {
  std::shared_ptr<joulecast::Meter> meter;
};

struct joulecast_window {
  std::shared_ptr<joulecast::Meter> meter;
  joulecast::Meter::Window window;
};

namespace {

using joulecast::c::copied;
using joulecast::c::guarded;
using joulecast::c::no_handle;
using joulecast::cli::Failure;

// Of functions that give no handle.
constexpr int kDone = 0;
constexpr int kFailed = -1;

tl::expected<joulecast_meter*, Failure> open_meter(const char* request) {
  JC_ASSIGN_OR_FAIL(const auto options, joulecast::c::parse_meter_request(request));
  JC_ASSIGN_OR_FAIL(auto meter, joulecast::Meter::start(options));
  return new joulecast_meter{std::move(meter)};
}

tl::expected<joulecast_window*, Failure> begin(const joulecast_meter& meter, const char* name) {
  JC_ASSIGN_OR_FAIL(const auto window, meter.meter->begin(joulecast::c::text_or_empty(name)));
  return new joulecast_window{meter.meter, window};
}

tl::expected<char*, Failure> result_of(const joulecast_window& window) {
  JC_ASSIGN_OR_FAIL(const auto recording, window.meter->recording(window.window));
  JC_ASSIGN_OR_FAIL(const auto summary, joulecast::summarize(recording));
  return copied(joulecast::cli::json_text(joulecast::cli::summary_json(recording, summary)));
}

}  // namespace

joulecast_meter* joulecast_meter_open(const char* request, char** error) {
  return guarded(error, [&] { return open_meter(request); });
}

int joulecast_meter_close(joulecast_meter* meter, char** error) {
  return guarded(
      error,
      [&]() -> tl::expected<int, Failure> {
        const std::unique_ptr<joulecast_meter> closed(meter);
        if (closed) JC_RETURN_IF_ERROR(closed->meter->finish());
        return kDone;
      },
      kFailed);
}

joulecast_window* joulecast_window_begin(joulecast_meter* meter, const char* name, char** error) {
  return guarded(error, [&]() -> tl::expected<joulecast_window*, Failure> {
    if (meter == nullptr) return no_handle();
    return begin(*meter, name);
  });
}

int joulecast_window_end(joulecast_window* window, char** error) {
  return guarded(
      error,
      [&]() -> tl::expected<int, Failure> {
        if (window == nullptr) return no_handle();
        JC_RETURN_IF_ERROR(window->meter->end(window->window));
        return kDone;
      },
      kFailed);
}

char* joulecast_window_result(joulecast_window* window, char** error) {
  return guarded(error, [&]() -> tl::expected<char*, Failure> {
    if (window == nullptr) return no_handle();
    return result_of(*window);
  });
}

void joulecast_window_close(joulecast_window* window) {
  if (window == nullptr) return;
  window->meter->drop(window->window);
  delete window;
}
