// SPDX-License-Identifier: Apache-2.0
// How a value lies in memory, as far as copies and convolutions care.
#pragma once

#include <cstdint>
#include <optional>

#include "joulecast/operators.h"
#include "joulecast/tensor.h"

namespace joulecast {

enum class Storage : std::uint8_t {
  kContiguous,    // in the order of its axes
  kChannelsLast,  // axis 1 innermost: what PyTorch calls channels_last, of any rank from 3
  kHeadsInner,    // [batch, heads, places, head] lying as [batch, places, heads, head], as fused attention leaves it
  kPlacesCut,     // [batch, places, ...], some of the places of each image: contiguous but for the gaps between images
  kStrided,       // any other view: who needs it contiguous copies it
};

// Of a part of a value.
Storage cut(Storage from, const Shape& shape, const Shape& to);

// Of a value of `rank` axes, seen through a permutation of them; no order: reversed.
Storage transposed(Storage from, const IntList& order, std::size_t rank);

// Of a value lying as `from` seen in another shape; nothing where that takes a copy first.
std::optional<Storage> reshaped(Storage from, const Shape& shape, const Shape& to);

}  // namespace joulecast
