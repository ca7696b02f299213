// SPDX-License-Identifier: Apache-2.0
// Logs of nvidia-smi and files of GPyJoules: any text, as each of them. What is read has rising times from 0 on, and a
// pair of clocks to tell when that was.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "recording/export/exporters.h"
#include "recording/import/gpyjoules.h"
#include "recording/import/smi_log.h"

namespace {

void check(const joulecast::Result<joulecast::Recording>& run) {
  if (!run) return;
  for (const auto& series : run->readings) {
    for (std::size_t i = 0; i < series.size(); ++i) {
      if (series[i].time < 0 || (i > 0 && series[i].time <= series[i - 1].time)) std::abort();
    }
  }
  for (const joulecast::AbsenceRecord& record : run->absences) {
    if (record.time < 0 || record.channel >= run->channels.size()) std::abort();
  }
  if (run->clocks.size() != 1) std::abort();
  const auto source = joulecast::RunSource::of(*run);
  for (const joulecast::Exporter& exporter : joulecast::exporters()) {
    if (!exporter.write(source, {}, [](std::string_view) {})) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)joulecast::looks_like_smi_log(text);
  check(joulecast::parse_smi_log(text, {}, "log"));
  check(joulecast::parse_smi_log(text, {{}, {"timestamp", "index", "power.draw", "pstate"}}, "log"));
  joulecast::GpyjoulesFiles files;
  for (auto part : {&joulecast::GpyjoulesFiles::gpu_power, &joulecast::GpyjoulesFiles::power_samples,
                    &joulecast::GpyjoulesFiles::external}) {
    files = {};
    files.*part = text;
    files.timestamps = part == &joulecast::GpyjoulesFiles::external ? std::string_view() : text;
    check(joulecast::parse_gpyjoules(files, {}, {}));
  }
  files = {};
  files.power_samples = ",timestamp,value\n0,1778191698900000,99000\n";
  files.timestamps = text;
  check(joulecast::parse_gpyjoules(files, {}, {}));
  files.timestamps = {};
  files.system_info = text;
  check(joulecast::parse_gpyjoules(files, {}, {}));
  return 0;
}
