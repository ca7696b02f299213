// SPDX-License-Identifier: Apache-2.0
// Quantities that carry their unit in their type.
//
//   Joules energy = Watts{300.0} * Seconds{2.0};
//   FlopsPerSecond roof = std::min(peak, bandwidth * intensity);   // does not compile if a factor is missing
//   double text = energy.value();                                   // SI base units, always
#pragma once

#include <compare>
#include <type_traits>

namespace joulecast {

// A double in SI base units, tagged with its exponents of (energy, time, bytes, flops).
template <int Energy, int Time, int Data, int Work>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}

  [[nodiscard]] constexpr double value() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity operator-() const { return Quantity{-value_}; }
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    value_ *= factor;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, double factor) { return a *= factor; }
  friend constexpr Quantity operator*(double factor, Quantity a) { return a *= factor; }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity{a.value_ / divisor}; }

 private:
  double value_ = 0.0;
};

namespace detail {
// A product whose exponents cancel is a plain number.
template <int E, int T, int D, int W>
constexpr auto make_quantity(double value) {
  if constexpr (E == 0 && T == 0 && D == 0 && W == 0) {
    return value;
  } else {
    return Quantity<E, T, D, W>{value};
  }
}
}  // namespace detail

template <int E1, int T1, int D1, int W1, int E2, int T2, int D2, int W2>
constexpr auto operator*(Quantity<E1, T1, D1, W1> a, Quantity<E2, T2, D2, W2> b) {
  return detail::make_quantity<E1 + E2, T1 + T2, D1 + D2, W1 + W2>(a.value() * b.value());
}

template <int E1, int T1, int D1, int W1, int E2, int T2, int D2, int W2>
constexpr auto operator/(Quantity<E1, T1, D1, W1> a, Quantity<E2, T2, D2, W2> b) {
  return detail::make_quantity<E1 - E2, T1 - T2, D1 - D2, W1 - W2>(a.value() / b.value());
}

template <int E, int T, int D, int W>
constexpr auto operator/(double a, Quantity<E, T, D, W> b) {
  return Quantity<-E, -T, -D, -W>{a / b.value()};
}

using Joules = Quantity<1, 0, 0, 0>;
using Seconds = Quantity<0, 1, 0, 0>;
using Watts = Quantity<1, -1, 0, 0>;
using Hertz = Quantity<0, -1, 0, 0>;
using JouleSeconds = Quantity<1, 1, 0, 0>;  // energy-delay product
using Bytes = Quantity<0, 0, 1, 0>;
using BytesPerSecond = Quantity<0, -1, 1, 0>;
using Flops = Quantity<0, 0, 0, 1>;            // a count; 1 multiply-accumulate = 2 flops
using FlopsPerSecond = Quantity<0, -1, 0, 1>;  // a rate
using FlopsPerByte = Quantity<0, 0, -1, 1>;    // arithmetic intensity

}  // namespace joulecast
