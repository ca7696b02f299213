// SPDX-License-Identifier: Apache-2.0
// A vector of at most N trivially copyable elements, stored in place: shapes and attribute lists.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace joulecast {

template <typename T, std::size_t N>
class InlineVector {
 public:
  constexpr InlineVector() = default;
  // Requires: at most N values.
  constexpr InlineVector(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }
  constexpr InlineVector(std::size_t count, T value) {
    for (std::size_t i = 0; i < count; ++i) push_back(value);
  }

  static constexpr std::size_t capacity() { return N; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr bool full() const { return size_ == N; }

  // Requires: !full(). An element too many is dropped, never written outside.
  constexpr void push_back(T value) {
    if (size_ < N) data_[size_++] = value;
  }
  constexpr void pop_back() { --size_; }
  constexpr void clear() { size_ = 0; }

  constexpr T& operator[](std::size_t i) { return data_[i]; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T* begin() { return data_.data(); }
  constexpr T* end() { return data_.data() + size_; }
  [[nodiscard]] constexpr const T* begin() const { return data_.data(); }
  [[nodiscard]] constexpr const T* end() const { return data_.data() + size_; }
  [[nodiscard]] constexpr const T& front() const { return data_[0]; }
  [[nodiscard]] constexpr const T& back() const { return data_[size_ - 1]; }
  [[nodiscard]] constexpr T& back() { return data_[size_ - 1]; }
  [[nodiscard]] constexpr std::span<const T> span() const { return {data_.data(), size_}; }

  friend constexpr bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<T, N> data_{};
  std::uint32_t size_ = 0;
};

}  // namespace joulecast
