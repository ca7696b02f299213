// SPDX-License-Identifier: Apache-2.0
#include "predict/pack/hash.h"

#include <array>
#include <bit>
#include <cstring>

namespace joulecast {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;

template <typename T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

// Steps 2 and 3 of the specification: four lanes over stripes of 32 bytes.
std::uint64_t stripes(const std::byte*& at, const std::byte* end) {
  std::array<std::uint64_t, 4> lanes = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  for (; end - at >= 32; at += 32) {
    lanes[0] = round(lanes[0], read<std::uint64_t>(at));
    lanes[1] = round(lanes[1], read<std::uint64_t>(at + 8));
    lanes[2] = round(lanes[2], read<std::uint64_t>(at + 16));
    lanes[3] = round(lanes[3], read<std::uint64_t>(at + 24));
  }
  std::uint64_t sum =
      std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
  for (const std::uint64_t lane : lanes) sum = (sum ^ round(0, lane)) * kPrime1 + kPrime4;
  return sum;
}

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> bytes) {
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  std::uint64_t sum = bytes.size() >= 32 ? stripes(at, end) : kPrime5;
  sum += bytes.size();
  for (; end - at >= 8; at += 8) sum = std::rotl(sum ^ round(0, read<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  if (end - at >= 4) {
    sum = std::rotl(sum ^ (read<std::uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
    at += 4;
  }
  for (; at != end; ++at) sum = std::rotl(sum ^ (std::to_integer<std::uint64_t>(*at) * kPrime5), 11) * kPrime1;
  sum = (sum ^ (sum >> 33)) * kPrime2;
  sum = (sum ^ (sum >> 29)) * kPrime3;
  return sum ^ (sum >> 32);
}

}  // namespace joulecast
