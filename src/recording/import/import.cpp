// SPDX-License-Identifier: Apache-2.0
#include "recording/import/import.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <span>
#include <utility>

#include "base/mapped_file.h"
#include "base/output_file.h"
#include "recording/import/gpyjoules.h"
#include "recording/import/smi_log.h"
#include "recording/layout.h"
#include "recording/writer.h"

namespace joulecast {
namespace {

// Enough for the first lines of a log.
constexpr std::size_t kBeginning = std::size_t{1} << 16;

Result<void> write_all(const Recording& recording, RecordingWriter& writer) {
  writer.head(recording.head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  for (const Channel& channel : recording.channels) writer.channel(channel);
  for (const ClockPair& pair : recording.clocks) writer.clocks(pair);
  for (std::size_t i = 0; i < recording.readings.size(); ++i) {
    writer.readings(static_cast<std::uint32_t>(i), recording.readings[i]);
    JC_RETURN_IF_ERROR(writer.flush());
  }
  for (const AbsenceRecord& record : recording.absences) writer.absence(record);
  for (const Event& event : recording.events) writer.event(event);
  for (const std::string& note : recording.notes) writer.note(note);
  // One that was cut off stays one.
  if (recording.damage.complete) {
    writer.end(recording.end.is_object() ? recording.end.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                                         : "{}");
  }
  return writer.sync();
}

}  // namespace

Result<RecordingKind> kind_of(const std::string& path, const ImportOptions& options) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return RecordingKind::kGpyjoules;
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const std::string_view text = file.text();
  if (text.starts_with(std::string_view(recording::kMagic.data(), recording::kMagic.size()))) {
    return RecordingKind::kJcrun;
  }
  if (!options.columns.empty() || looks_like_smi_log(text.substr(0, kBeginning))) return RecordingKind::kSmiLog;
  return invalid(path +
                 ": is neither a recording of joulecast (.jcrun), nor a folder of GPyJoules, nor a CSV log of "
                 "nvidia-smi --query-gpu");
}

Result<Recording> load_any(const std::string& path, const ImportOptions& options) {
  JC_ASSIGN_OR_RETURN(const RecordingKind kind, kind_of(path, options));
  if (kind == RecordingKind::kJcrun) return load_recording(path);
  if (kind == RecordingKind::kGpyjoules) return import_gpyjoules(path, options);
  return import_smi_log(path, options);
}

Result<void> save_recording(const Recording& recording, const std::string& place) {
  JC_ASSIGN_OR_RETURN(const std::string path, output_file(place));
  const std::string unfinished = path + ".part";
  JC_ASSIGN_OR_RETURN(RecordingWriter writer, RecordingWriter::create(unfinished, Existing::kReplace));
  auto written = write_all(recording, writer);
  if (written && std::rename(unfinished.c_str(), path.c_str()) != 0) {
    written = io_error(fmt::format("{}: cannot be replaced", path));
  }
  if (!written) (void)std::remove(unfinished.c_str());
  return written;
}

}  // namespace joulecast
