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
  kGaps,     // some other part of a value, or one repeated: what is computed of it element by element is contiguous
  kStrided,  // in another order of axes, which what is computed of it keeps: who needs it contiguous copies it
};

// Of what is computed element by element of a value that lies so: PyTorch keeps the order of axes and leaves no gaps.
Storage elementwise(Storage from);

// Of a part of a value.
Storage cut(Storage from, const Shape& shape, const Shape& to);

// Of a value seen through a permutation of its axes, of which those of one place do not count; no order: reversed.
Storage transposed(Storage from, const IntList& order, const Shape& shape);

// Of a value lying as `from` seen in another shape; nothing where that takes a copy first.
std::optional<Storage> reshaped(Storage from, const Shape& shape, const Shape& to);

}  // namespace joulecast
