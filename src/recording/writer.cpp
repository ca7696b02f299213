// SPDX-License-Identifier: Apache-2.0
#include "recording/writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/output_file.h"
#include "recording/frame_sum.h"
#include "recording/packed.h"

namespace joulecast {

using namespace recording;

namespace {

// A thousand readings need at most 20 kB, so a frame stays far below its limit.
constexpr std::size_t kReadingsOfFrame = 1000;
constexpr int kMode = 0644;

tl::unexpected<Error> failed(const std::string& path, std::string_view what) {
  return io_error(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
}

Result<void> write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return failed(path, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

// Modulo 2^64, as the reader adds it again.
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

std::string header() {
  std::string out(kMagic.begin(), kMagic.end());
  append_fixed32(out, kVersion);
  append_fixed32(out, 0);
  return out;
}

}  // namespace

Result<RecordingWriter> RecordingWriter::create(const std::string& path, Existing existing) {
  // A pipe would hold us up until somebody reads it, and a device keeps nothing.
  JC_ASSIGN_OR_RETURN([[maybe_unused]] const std::string regular, output_file(path));
  const int exclusive = existing == Existing::kRefuse ? O_EXCL : 0;
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND | exclusive, kMode);
  if (descriptor < 0 && errno == EEXIST) return invalid(fmt::format("{}: is there already", path));
  if (descriptor < 0) return failed(path, "cannot create");
  RecordingWriter writer(descriptor, path);
  // Held as long as it is written. File systems without locks do without.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return invalid(fmt::format("{}: another process is recording into it", path));
  if (::ftruncate(descriptor, 0) != 0) return failed(path, "cannot empty");
  writer.pending_ = header();
  JC_RETURN_IF_ERROR(writer.flush());
  return writer;
}

Result<RecordingWriter> RecordingWriter::nowhere() {
  const int descriptor = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return failed("/dev/null", "cannot open");
  return RecordingWriter(descriptor, "/dev/null");
}

Result<RecordingWriter> RecordingWriter::in_memory() {
  const int descriptor = ::memfd_create("joulecast-recording", MFD_CLOEXEC);
  if (descriptor < 0) return failed("recording", "no memory");
  RecordingWriter writer(descriptor, "recording in memory");
  writer.pending_ = header();
  return writer;
}

RecordingWriter::RecordingWriter(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

RecordingWriter::RecordingWriter(RecordingWriter&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      pending_(std::move(other.pending_)),
      written_(other.written_),
      full_(std::move(other.full_)),
      not_written_(std::move(other.not_written_)),
      channels_(other.channels_) {}

RecordingWriter& RecordingWriter::operator=(RecordingWriter&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(pending_, other.pending_);
  std::swap(written_, other.written_);
  std::swap(full_, other.full_);
  std::swap(not_written_, other.not_written_);
  std::swap(channels_, other.channels_);
  return *this;
}

RecordingWriter::~RecordingWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void RecordingWriter::frame(FrameKind kind, std::string_view payload) {
  JC_CHECK(payload.size() <= kMaxPayload, "a frame is too large");
  append_fixed32(pending_, kFrameMark);
  append_fixed32(pending_, static_cast<std::uint32_t>(kind));
  append_fixed32(pending_, static_cast<std::uint32_t>(payload.size()));
  append_fixed32(pending_, frame_sum(static_cast<std::uint32_t>(kind), payload));
  pending_ += payload;
}

void RecordingWriter::head(std::string_view json) {
  frame(FrameKind::kHead, json);
}

std::uint32_t RecordingWriter::channel(const Channel& channel) {
  nlohmann::ordered_json json{
      {"device", channel.device}, {"signal", info(channel.signal).key}, {"source", channel.source}};
  if (channel.window_s) json["window_s"] = *channel.window_s;
  std::string payload;
  append_varint(payload, channels_);
  payload += json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  frame(FrameKind::kChannel, payload);
  return channels_++;
}

// Sensors are read at a steady pace, so it is the change of the step from reading to reading that is small.
void RecordingWriter::readings(std::uint32_t channel, std::span<const Reading> readings) {
  while (!readings.empty()) {
    const auto part = readings.first(std::min(readings.size(), kReadingsOfFrame));
    readings = readings.subspan(part.size());
    std::string payload;
    append_varint(payload, channel);
    append_varint(payload, part.size());
    append_signed(payload, part.front().time);
    append_signed(payload, part.front().value);
    MonotonicUs step = 0;
    for (std::size_t i = 1; i < part.size(); ++i) {
      const MonotonicUs new_step = difference(part[i].time, part[i - 1].time);
      append_signed(payload, difference(new_step, step));
      append_signed(payload, difference(part[i].value, part[i - 1].value));
      step = new_step;
    }
    frame(FrameKind::kReadings, payload);
  }
}

void RecordingWriter::absence(const AbsenceRecord& record) {
  std::string payload;
  append_signed(payload, record.time);
  append_varint(payload, record.channel);
  append_varint(payload, record.count);
  append_text(payload, name(record.absence));
  append_text(payload, record.text);
  frame(FrameKind::kAbsence, payload);
}

void RecordingWriter::event(const Event& event) {
  std::string payload;
  append_signed(payload, event.time);
  append_varint(payload, static_cast<std::uint64_t>(event.kind));
  append_signed(payload, event.track);
  append_text(payload, event.name);
  append_text(payload, event.details);
  frame(FrameKind::kEvent, payload);
}

void RecordingWriter::clocks(const ClockPair& pair) {
  std::string payload;
  append_signed(payload, pair.monotonic);
  append_signed(payload, pair.utc);
  frame(FrameKind::kClocks, payload);
}

void RecordingWriter::note(std::string_view text) {
  frame(FrameKind::kNote, text);
}

void RecordingWriter::end(std::string_view json) {
  frame(FrameKind::kEnd, json);
}

Result<void> RecordingWriter::flush() {
  const std::string bytes = std::exchange(pending_, {});
  if (!full_) {
    auto done = write_all(descriptor_, bytes, path_);
    if (done) {
      written_ += bytes.size();
      return {};
    }
    full_ = std::move(done).error();
  }
  not_written_ += bytes;
  return tl::unexpected<Error>(*full_);
}

Result<std::string> RecordingWriter::contents() const {
  std::string out(written_, '\0');
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t size = ::pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(done));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return failed(path_, "cannot read back");
    done += static_cast<std::size_t>(size);
  }
  return out + not_written_;
}

Result<void> RecordingWriter::sync() {
  JC_RETURN_IF_ERROR(flush());
  // Pipes and the like keep nothing, and have nothing to wait for.
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) return failed(path_, "cannot write to disk");
  return {};
}

}  // namespace joulecast
