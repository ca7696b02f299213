// SPDX-License-Identifier: Apache-2.0
// The order in which a value of our graph has the axes of the tensor that it stands for.
//
// TensorFlow's images have their channels last, our operators have them first. No transposition is written for that:
// each tensor knows in which order its value holds the axes, and operators are told the order they work in.
#pragma once

#include <cstdint>
#include <string_view>

#include "joulecast/operators.h"
#include "joulecast/tensor.h"

namespace joulecast::tensorflow {

class Layout {
 public:
  Layout() = default;  // the axes as the tensor has them
  // Axis i of the value holds axis axes[i] of the tensor. Requires: a permutation.
  explicit Layout(const InlineVector<std::uint8_t, kMaxRank>& axes);

  // [batch, spatial..., channels] held as [batch, channels, spatial...].
  static Layout channels_first(std::size_t rank);

  bool operator==(const Layout&) const = default;
  [[nodiscard]] bool plain() const { return axes_.empty(); }
  // Whether a tensor of so many axes can be held so.
  [[nodiscard]] bool fits(std::size_t rank) const { return plain() || axes_.size() == rank; }
  // The axis of the tensor that axis `held` of the value is, and the other way round. What a file says of ranks need
  // not be true: axes that the layout does not have are where they are, and so are shapes that do not fit.
  [[nodiscard]] std::size_t of_tensor(std::size_t held) const { return held < axes_.size() ? axes_[held] : held; }
  [[nodiscard]] std::size_t in_value(std::size_t axis) const;
  [[nodiscard]] Shape held(const Shape& tensor) const;  // extents in the order of the value
  [[nodiscard]] Shape tensor(const Shape& held) const;  // extents in the order of the tensor
  // The order of a Transpose that brings a value of this layout into `wanted`.
  [[nodiscard]] IntList order_to(const Layout& wanted, std::size_t rank) const;
  // After one axis of the tensor is gone, or stands anew before `axis`.
  [[nodiscard]] Layout without(std::size_t axis) const;
  [[nodiscard]] Layout with(std::size_t axis, std::size_t rank) const;
  // For a tensor with `count` axes more in front, that broadcast.
  [[nodiscard]] Layout widened(std::size_t count, std::size_t rank) const;

 private:
  InlineVector<std::uint8_t, kMaxRank> axes_;  // empty: in order
};

}  // namespace joulecast::tensorflow
