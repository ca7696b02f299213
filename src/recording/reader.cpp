// SPDX-License-Identifier: Apache-2.0
#include "recording/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/harmless.h"
#include "base/mapped_file.h"
#include "recording/foreign_json.h"
#include "recording/frame_sum.h"
#include "recording/layout.h"
#include "recording/packed.h"

namespace joulecast {

using namespace recording;

namespace {

struct Frame {
  std::uint32_t kind = 0;
  std::string_view payload;
};

// The frame that begins with these bytes, if one does.
std::optional<Frame> frame_at(std::string_view bytes) {
  Unpacker in(bytes);
  if (in.fixed32() != kFrameMark) return std::nullopt;
  const auto kind = in.fixed32();
  const auto size = in.fixed32();
  const auto sum = in.fixed32();
  if (!sum || *size > kMaxPayload || *size > in.rest().size()) return std::nullopt;
  const std::string_view payload = in.rest().substr(0, *size);
  if (frame_sum(*kind, payload) != *sum) return std::nullopt;
  return Frame{*kind, payload};
}

// Damage leaves a mark without a frame now and then; a file full of them was made to keep us busy.
constexpr int kFalseMarks = 1000;

// Bytes up to the next whole frame; all of them where there is none, or no patience (`tries`) is left.
std::size_t next_frame(std::string_view bytes, int& tries) {
  std::string mark;
  append_fixed32(mark, kFrameMark);
  for (std::size_t at = bytes.find(mark, 1); at != std::string_view::npos; at = bytes.find(mark, at + 1)) {
    if (frame_at(bytes.substr(at))) return at;
    if (--tries < 0) break;
  }
  return bytes.size();
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// What a frame's payload holds, told to the visitor; false where it does not fit the format though its sum is right.
class Decoder {
 public:
  explicit Decoder(RecordingVisitor& visitor) : visitor_(visitor) {}

  bool decode(FrameKind kind, std::string_view payload) {
    switch (kind) {
      case FrameKind::kHead:
        visitor_.head(payload);
        return true;
      case FrameKind::kChannel:
        return channel(payload);
      case FrameKind::kReadings:
        return readings(payload);
      case FrameKind::kAbsence:
        return absence(payload);
      case FrameKind::kEvent:
        return event(payload);
      case FrameKind::kClocks:
        return clocks(payload);
      case FrameKind::kNote:
        visitor_.note(harmless_text(payload));
        return true;
      case FrameKind::kEnd:
        visitor_.end(payload);
        return true;
    }
    return false;
  }

 private:
  bool channel(std::string_view payload);
  bool readings(std::string_view payload);
  bool absence(std::string_view payload);
  bool event(std::string_view payload);
  bool clocks(std::string_view payload);

  // The visitor's number of a channel of the file; nullopt for signals that a newer joulecast knows.
  [[nodiscard]] std::optional<std::uint32_t> visitors(std::uint64_t id) const { return ids_[id]; }

  RecordingVisitor& visitor_;
  std::vector<std::optional<std::uint32_t>> ids_;
  std::uint32_t told_ = 0;
  std::vector<Reading> readings_;
};

bool Decoder::channel(std::string_view payload) {
  Unpacker in(payload);
  const auto id = in.varint();
  if (!id || *id != ids_.size() || ids_.size() >= kMaxChannels) return false;
  const auto json = foreign_object(in.rest());
  if (!json.is_object() || !json.contains("device") || !json["device"].is_string() || !json.contains("source") ||
      !json["source"].is_string() || !json.contains("signal") || !json["signal"].is_string()) {
    return false;
  }
  const auto signal = signal_of_key(json["signal"].get<std::string>());
  ids_.push_back(signal ? std::optional(told_) : std::nullopt);
  if (!signal) return true;
  Channel channel{harmless_line(json["device"].get<std::string>()), *signal,
                  harmless_line(json["source"].get<std::string>()), std::nullopt};
  if (json.contains("window_s") && json["window_s"].is_number()) channel.window_s = json["window_s"].get<double>();
  visitor_.channel(told_++, channel);
  return true;
}

bool Decoder::readings(std::string_view payload) {
  Unpacker in(payload);
  const auto channel = in.varint();
  const auto count = in.varint();
  // Each takes two bytes or more.
  if (!count || *channel >= ids_.size() || *count > in.rest().size() / 2) return false;
  readings_.clear();
  Reading reading;
  MonotonicUs step = 0;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto time = in.signed_varint();
    const auto value = in.signed_varint();
    if (!value) return false;
    if (i == 0) {
      reading = {*time, *value};
    } else {
      step = sum(step, *time);
      reading = {sum(reading.time, step), sum(reading.value, *value)};
    }
    readings_.push_back(reading);
  }
  if (!in.empty()) return false;
  if (const auto id = visitors(*channel)) visitor_.readings(*id, readings_);
  return true;
}

bool Decoder::absence(std::string_view payload) {
  Unpacker in(payload);
  const auto time = in.signed_varint();
  const auto channel = in.varint();
  const auto count = in.varint();
  const auto kind = in.text();
  const auto text = in.text();
  if (!text || *channel >= ids_.size()) return false;
  const Absence absence = absence_of_name(*kind).value_or(Absence::kError);
  if (const auto id = visitors(*channel)) visitor_.absence({*time, *id, absence, *count, harmless_text(*text)});
  return true;
}

bool Decoder::event(std::string_view payload) {
  Unpacker in(payload);
  const auto time = in.signed_varint();
  const auto kind = in.varint();
  const auto track = in.signed_varint();
  const auto name = in.text();
  const auto details = in.text();
  if (!details || *kind > static_cast<std::uint64_t>(EventKind::kMark)) return false;
  visitor_.event({*time, static_cast<EventKind>(*kind), *track, harmless_line(*name), harmless_text(*details)});
  return true;
}

bool Decoder::clocks(std::string_view payload) {
  Unpacker in(payload);
  const auto monotonic = in.signed_varint();
  const auto utc = in.signed_varint();
  if (!utc) return false;
  visitor_.clocks({*monotonic, *utc});
  return true;
}

Result<void> check_header(std::string_view bytes) {
  if (!bytes.starts_with(std::string_view(kMagic.data(), kMagic.size()))) {
    return invalid("is no recording of joulecast (.jcrun)");
  }
  Unpacker in(bytes.substr(kMagic.size()));
  const auto version = in.fixed32();
  if (version && *version > kVersion) {
    return invalid(
        fmt::format("was made by a newer joulecast (format {}, this one reads up to {})", *version, kVersion));
  }
  return {};
}

bool known(std::uint32_t kind) {
  return kind >= static_cast<std::uint32_t>(FrameKind::kHead) && kind <= static_cast<std::uint32_t>(FrameKind::kEnd);
}

}  // namespace

Result<RecordingDamage> read_recording(std::string_view bytes, RecordingVisitor& visitor) {
  JC_RETURN_IF_ERROR(check_header(bytes));
  bytes.remove_prefix(std::min(bytes.size(), kHeaderSize));
  RecordingDamage damage;
  Decoder decoder(visitor);
  int tries = kFalseMarks;
  while (!bytes.empty()) {
    const auto frame = frame_at(bytes);
    if (!frame) {
      const std::size_t skipped = next_frame(bytes, tries);
      (skipped == bytes.size() ? damage.cut_off : damage.damaged) += skipped;
      bytes.remove_prefix(skipped);
      continue;
    }
    if (!known(frame->kind)) {
      ++damage.unknown;
    } else if (!decoder.decode(static_cast<FrameKind>(frame->kind), frame->payload)) {
      damage.damaged += kFrameHeaderSize + frame->payload.size();
    }
    damage.complete = damage.complete || frame->kind == static_cast<std::uint32_t>(FrameKind::kEnd);
    bytes.remove_prefix(kFrameHeaderSize + frame->payload.size());
  }
  return damage;
}

Result<RecordingDamage> read_recording_file(const std::string& path, RecordingVisitor& visitor) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  auto damage = read_recording(file.text(), visitor);
  if (!damage) return tl::unexpected<Error>(std::move(damage).error().in(path));
  return damage;
}

}  // namespace joulecast
