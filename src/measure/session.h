// SPDX-License-Identifier: Apache-2.0
// A command, run and recorded.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "measure/recorder.h"
#include "power/sensor.h"
#include "recording/recording.h"
#include "recording/writer.h"

namespace joulecast {

struct SessionOptions {
  std::vector<std::string> command;
  SensorOptions sensors;
  std::optional<std::string> output;  // a recording there; without it one in memory
  Existing existing = Existing::kRefuse;
  std::size_t repeats = 1;
  std::size_t warmups = 0;  // runs before the measured ones; their output goes nowhere
  double baseline_s = 0;    // idle before everything
  bool keep_going = false;  // repeats go on after one that failed
  std::string hook_folder;  // of the Python hook; empty: none
  std::string tool_version;
  // Called some four times a second while the command runs.
  std::function<void(const Recorder&, double seconds)> progress;
  // Called for each mark, the recorder's own too, by the thread that heard it.
  std::function<void(const Recorder&, const Event&)> heard;
};

struct SessionResult {
  int code = 0;  // of the command as a shell would give it; 127 and 126 where it could not be started
  std::optional<std::string> not_started;
  std::size_t runs = 0;  // of those asked for: fewer where one failed or the user stopped
  bool stopped = false;  // by the user
  std::vector<Missing> missing;
  std::vector<std::string> doubts;
  std::optional<Error> incomplete;  // the recording could not be written to its end
  Recording recording;
};

// Errors: kInvalidInput for GPUs and meters that are not there, kIo where there can be no recording; then the command
// was not run.
Result<SessionResult> measure_command(const SessionOptions& options);

}  // namespace joulecast
