// SPDX-License-Identifier: Apache-2.0
// Writes recordings, so that whatever ends the program costs no more than what was not handed to flush() yet.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "joulecast/result.h"
#include "recording/channel.h"
#include "recording/event.h"
#include "recording/layout.h"

namespace joulecast {

enum class Existing : std::uint8_t { kRefuse, kReplace };

//   JC_ASSIGN_OR_RETURN(auto writer, RecordingWriter::create("run.jcrun", Existing::kRefuse));
//   writer.head(R"({"command":["train.py"]})");
//   const auto id = writer.channel({"gpu0", Signal::kPower, "nvml-instant", 0.1});
//   writer.readings(id, readings);
//   JC_RETURN_IF_ERROR(writer.flush());   // in the file; survives the program
//   JC_RETURN_IF_ERROR(writer.sync());    // on the disk; survives the machine
//
// Not for several threads at once. Requires of all texts: at most 512 KiB.
class RecordingWriter {
 public:
  // Errors: kIo, naming the path; kInvalidInput where the file is there and may not be replaced, is no regular
  // file, or is being written by another process.
  // An existing file is replaced at once, not at the end: a recording is only worth something while it grows.
  static Result<RecordingWriter> create(const std::string& path, Existing existing);
  // One that keeps nothing, for those who only look. Errors: kIo.
  static Result<RecordingWriter> nowhere();
  // One that is only kept in memory, for contents(). Errors: kIo.
  static Result<RecordingWriter> in_memory();

  RecordingWriter(RecordingWriter&& other) noexcept;
  RecordingWriter& operator=(RecordingWriter&& other) noexcept;
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;
  ~RecordingWriter();

  // A JSON object about the run. May come again: later keys replace those of the same name.
  void head(std::string_view json);
  // Ids count from 0.
  std::uint32_t channel(const Channel& channel);
  // Requires: times of one channel never go back.
  void readings(std::uint32_t channel, std::span<const Reading> readings);
  void absence(const AbsenceRecord& record);
  void event(const Event& event);
  void clocks(const ClockPair& pair);
  void note(std::string_view text);
  void end(std::string_view json);

  // Frames gathered so far go to the file in one write. Errors: kIo; what the file cannot take, and all that comes
  // after it, is kept in memory for contents().
  Result<void> flush();
  Result<void> sync();
  // To the file.
  [[nodiscard]] std::uint64_t bytes_written() const { return written_; }
  // What was flushed so far, whether the file could take it or not. Errors: kIo.
  [[nodiscard]] Result<std::string> contents() const;

 private:
  RecordingWriter(int descriptor, std::string path);
  void frame(recording::FrameKind kind, std::string_view payload);

  int descriptor_ = -1;
  std::string path_;
  std::string pending_;
  std::uint64_t written_ = 0;
  std::optional<Error> full_;  // why the file takes no more
  std::string not_written_;
  std::uint32_t channels_ = 0;
};

}  // namespace joulecast
