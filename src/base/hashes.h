// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace joulecast {

// FNV-1a of 64 bits: the same on every machine, unlike std::hash; a name, no defence.
constexpr std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

// splitmix64: neighbours come out far apart, and every bit of the input moves every bit of the result. (The lowest bit
// of a stable_hash is that of the sum of its text.)
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace joulecast
