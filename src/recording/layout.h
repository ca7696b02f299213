// SPDX-License-Identifier: Apache-2.0
// The recording file (.jcrun, docs/formats/recording.md), shared by reader and writer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace joulecast::recording {

// The line end shows a transfer as text, the end-of-file character stops `type` on old systems.
inline constexpr std::array<char, 8> kMagic{'J', 'C', 'R', 'U', 'N', '\r', '\n', '\x1a'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kHeaderSize = 16;  // magic, u32 version, u32 zero

// A frame: u32 mark, u32 kind, u32 size, u32 sum, payload. All little endian.
inline constexpr std::uint32_t kFrameMark = 0xA9464A9D;
inline constexpr std::size_t kFrameHeaderSize = 16;
// A frame is written whole or cut off at the end of the file, so a reader never needs more memory than this for one.
inline constexpr std::size_t kMaxPayload = std::size_t{1} << 20;
inline constexpr std::size_t kMaxChannels = 4096;

enum class FrameKind : std::uint32_t {
  kHead = 1,      // JSON object: the run, its machine and devices
  kChannel = 2,   // varint id, then JSON object
  kReadings = 3,  // one channel's, packed
  kAbsence = 4,
  kEvent = 5,
  kClocks = 6,  // a moment on both clocks
  kNote = 7,    // a warning for people
  kEnd = 8,     // JSON object: how the run ended; nothing follows it
};

}  // namespace joulecast::recording
