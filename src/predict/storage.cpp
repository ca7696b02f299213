// SPDX-License-Identifier: Apache-2.0
#include "predict/storage.h"

#include <algorithm>
#include <vector>

namespace joulecast {
namespace {

using Order = std::vector<std::int64_t>;

Order plain(std::size_t rank) {
  Order out(rank);
  for (std::size_t i = 0; i < rank; ++i) out[i] = static_cast<std::int64_t>(i);
  return out;
}

// [0, 2, 3, 1]: axis 1 goes last.
Order to_channels_last(std::size_t rank) {
  Order out = plain(rank);
  out.erase(out.begin() + 1);
  out.push_back(1);
  return out;
}

// [0, 3, 1, 2]: the last axis becomes axis 1.
Order from_channels_last(std::size_t rank) {
  Order out = plain(rank);
  out.pop_back();
  out.insert(out.begin() + 1, static_cast<std::int64_t>(rank) - 1);
  return out;
}

Order normal(const IntList& order, std::size_t rank) {
  Order out;
  for (const std::int64_t axis : order) out.push_back(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
  if (out.empty()) {
    out = plain(rank);
    out = Order(out.rbegin(), out.rend());
  }
  return out;
}

// Whether the axes of more than one place follow each other as before.
bool keeps_order(const Order& order, const Shape& shape) {
  std::int64_t last = -1;
  for (const std::int64_t axis : order) {
    if (shape[static_cast<std::size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

std::int64_t places(const Shape& shape) {
  std::int64_t out = 1;
  for (std::size_t i = 2; i < shape.size(); ++i) out *= shape[i];
  return out;
}

// Whether every axis becomes one or several: a view, however the value lies.
bool splits_axes(const Shape& shape, const Shape& to) {
  std::size_t j = 0;
  for (const std::int64_t extent : shape) {
    std::int64_t found = 1;
    while (j < to.size() && found < extent) found *= to[j++];
    if (found != extent) return false;
  }
  return std::all_of(to.begin() + static_cast<std::ptrdiff_t>(j), to.end(),
                     [](std::int64_t extent) { return extent == 1; });
}

}  // namespace

Storage cut(Storage from, const Shape& shape, const Shape& to) {
  if (from != Storage::kContiguous && from != Storage::kPlacesCut)
    return from == Storage::kGaps ? from : Storage::kStrided;
  const bool plain_images = from == Storage::kContiguous && shape.size() >= 3 && to.size() == shape.size();
  if (!plain_images || to[0] != shape[0]) return Storage::kGaps;
  return std::equal(shape.begin() + 2, shape.end(), to.begin() + 2) ? Storage::kPlacesCut : Storage::kGaps;
}

Storage elementwise(Storage from) {
  return from == Storage::kGaps || from == Storage::kPlacesCut ? Storage::kContiguous : from;
}

Storage transposed(Storage from, const IntList& order, const Shape& shape) {
  const std::size_t rank = shape.size();
  if (from == Storage::kStrided || rank == 0) return from;
  const Order found = normal(order, rank);
  if (keeps_order(found, shape)) return from;
  if (from == Storage::kGaps) return Storage::kStrided;
  if (rank == 4 && found == Order{0, 2, 1, 3}) {
    if (from == Storage::kHeadsInner) return Storage::kContiguous;
    return from == Storage::kContiguous ? Storage::kHeadsInner : Storage::kStrided;
  }
  if (rank < 3) return Storage::kStrided;
  if (from == Storage::kChannelsLast && found == to_channels_last(rank)) return Storage::kContiguous;
  const bool plain_images = from == Storage::kContiguous || from == Storage::kPlacesCut;
  if (plain_images && found == from_channels_last(rank)) return Storage::kChannelsLast;
  return Storage::kStrided;
}

std::optional<Storage> reshaped(Storage from, const Shape& shape, const Shape& to) {
  if (from == Storage::kContiguous || shape == to) return from;
  const bool image = from == Storage::kChannelsLast && shape.size() >= 3;
  if (image && places(shape) == 1) return Storage::kContiguous;
  if (image && to.size() >= 3 && to[0] == shape[0] && to[1] == shape[1]) return Storage::kChannelsLast;
  if (!splits_axes(shape, to)) return std::nullopt;
  return elementwise(from) == Storage::kContiguous ? Storage::kGaps : Storage::kStrided;
}

}  // namespace joulecast
