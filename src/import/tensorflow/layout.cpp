// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/layout.h"

namespace joulecast::tensorflow {
namespace {

using Axes = InlineVector<std::uint8_t, kMaxRank>;

bool in_order(const Axes& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != i) return false;
  }
  return true;
}

}  // namespace

Layout::Layout(const Axes& axes) : axes_(in_order(axes) ? Axes{} : axes) {}

Layout Layout::channels_first(std::size_t rank) {
  if (rank < 3) return {};
  Axes axes{0, static_cast<std::uint8_t>(rank - 1)};
  for (std::size_t i = 1; i + 1 < rank; ++i) axes.push_back(static_cast<std::uint8_t>(i));
  return Layout(axes);
}

std::size_t Layout::in_value(std::size_t axis) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i] == axis) return i;
  }
  return axis;
}

Shape Layout::held(const Shape& tensor) const {
  if (!fits(tensor.size())) return tensor;
  Shape out;
  for (std::size_t i = 0; i < tensor.size(); ++i) out.push_back(tensor[of_tensor(i)]);
  return out;
}

Shape Layout::tensor(const Shape& held) const {
  if (!fits(held.size())) return held;
  Shape out;
  for (std::size_t i = 0; i < held.size(); ++i) out.push_back(held[in_value(i)]);
  return out;
}

IntList Layout::order_to(const Layout& wanted, std::size_t rank) const {
  IntList out;
  for (std::size_t i = 0; i < rank; ++i) out.push_back(static_cast<std::int64_t>(in_value(wanted.of_tensor(i))));
  return out;
}

Layout Layout::without(std::size_t axis) const {
  Axes out;
  for (const std::uint8_t one : axes_) {
    if (one != axis) out.push_back(static_cast<std::uint8_t>(one > axis ? one - 1 : one));
  }
  return Layout(out);
}

// In the value it stands before the axis that follows it in the tensor, the last one behind the one before it.
Layout Layout::with(std::size_t axis, std::size_t rank) const {
  if (plain()) return {};
  const std::size_t place = axis < rank ? in_value(axis) : in_value(rank - 1) + 1;
  Axes out;
  for (std::size_t i = 0; i <= rank; ++i) {
    if (i == place) out.push_back(static_cast<std::uint8_t>(axis));
    if (i < rank) out.push_back(static_cast<std::uint8_t>(of_tensor(i) >= axis ? of_tensor(i) + 1 : of_tensor(i)));
  }
  return Layout(out);
}

Layout Layout::widened(std::size_t count, std::size_t rank) const {
  if (plain()) return {};
  Axes out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<std::uint8_t>(i));
  for (std::size_t i = 0; i < rank; ++i) out.push_back(static_cast<std::uint8_t>(of_tensor(i) + count));
  return Layout(out);
}

}  // namespace joulecast::tensorflow
