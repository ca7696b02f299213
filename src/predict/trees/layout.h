// SPDX-License-Identifier: Apache-2.0
// The constants of a forest's flat image, shared by lay_out() and ForestView; docs/formats/pack.md describes it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace joulecast::forest_layout {

static_assert(std::endian::native == std::endian::little, "the image is little endian and evaluated in place");

struct Header {
  std::uint32_t feature_count;
  std::uint32_t tree_count;
  float base;
  std::uint32_t names_size;    // bytes; names joined by '\n'
  std::uint32_t names_offset;  // all offsets in bytes from the start of the image
  std::uint32_t trees_offset;
  std::uint32_t words_offset;
  std::uint32_t word_count;
};
static_assert(sizeof(Header) == 32);

// Every tree is complete: below a leaf that is not at the bottom, both children repeat it. Nodes are numbered as in a
// binary heap, root 1, children 2i and 2i + 1, so no child has to be stored. A tree of depth d is 2^(d+1) values
// (thresholds at [1, 2^d), leaves at [2^d, 2^(d+1))) and then 2^d slots (of the splits at [1, 2^d)).
constexpr std::size_t value_words(std::uint32_t depth) {
  return std::size_t{2} << depth;
}
constexpr std::size_t slot_words(std::uint32_t depth) {
  return std::size_t{1} << depth;
}
constexpr std::size_t tree_words(std::uint32_t depth) {
  return value_words(depth) + slot_words(depth);
}
// Shallower trees are stored this deep: the values and slots of the first levels then fill a vector register.
inline constexpr std::uint32_t kMinStoredDepth = 3;
inline constexpr std::size_t kTreeAlignment = 32;  // bytes
inline constexpr std::uint32_t kWordsPerAlignment = kTreeAlignment / sizeof(std::uint32_t);

// Rows walked together. A slot is where a split's feature lies in a transposed block of them: each feature has two
// groups of kLanes values, missing ones replaced by -infinity in the first (they go left) and by +infinity in the
// second (they go right).
inline constexpr std::uint32_t kLanes = 8;
inline constexpr std::uint32_t kMissingRight = kLanes;
constexpr std::uint32_t slot(std::uint32_t feature, bool default_left) {
  return feature * (2 * kLanes) + (default_left ? 0 : kMissingRight);
}
constexpr std::uint32_t slot_feature(std::uint32_t slot) {
  return slot / (2 * kLanes);
}

// A forest of symmetric trees (symmetric.h) has this in the depth of all of its trees. Its words: how many steps a
// search through the thresholds of a feature has, s, and seven more of no meaning; for each feature 2^s thresholds,
// ascending, from the last on +infinity; and of each tree, from a multiple of eight on, eight questions and its leaves.
// A question is the feature's place in a block of bytes (kRowBytes a feature), and above it the number of the threshold
// plus one, as a byte less 128. Leaves are numbered by the answers, the first one's highest, where left is 1: this is
// what the comparison gives.
inline constexpr std::uint32_t kSymmetric = 0x100;
inline constexpr std::uint32_t kMaxSymmetricDepth = 8;
inline constexpr std::uint32_t kMaxSteps = 8;
inline constexpr std::uint32_t kQuestionWords = 8;
inline constexpr std::uint32_t kThresholdsFrom = 8;
inline constexpr std::size_t kRowBytes = 32;
inline constexpr int kByteBias = 128;
inline constexpr std::uint32_t kPlaceBits = 16;  // of a question that are the place

}  // namespace joulecast::forest_layout
