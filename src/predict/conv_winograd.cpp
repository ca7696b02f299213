// SPDX-License-Identifier: Apache-2.0
// Constants fitted by tools/fit/convolutions.py.
#include "predict/conv_winograd.h"

#include <array>
#include <span>

#include "predict/law.h"

namespace joulecast {
namespace {

constexpr double kProducts = 36.0;  // numbers of a transformed square of 4 x 4 places

// The kernels that run the products have these in their names.
constexpr std::array<TileShape, 1> kAmpere{{{128, 128}}};
constexpr std::array<TileShape, 3> kTuring{{{128, 64}, {64, 64, 0.8}, {128, 32, 0.8}}};
constexpr std::array<TileShape, 3> kVolta{{{64, 64, 0.8}, {32, 128, 0.8}, {128, 32, 0.8}}};
constexpr std::array<TileShape, 2> kPascal{{{64, 64, 0.8}, {32, 128, 0.8}}};

std::span<const TileShape> tiles_of(const Device& device) {
  if (device.capability >= 8.0) return kAmpere;
  if (device.capability == 7.0) return kVolta;
  if (device.capability > 0.0 && device.capability < 7.0) return kPascal;
  return kTuring;
}

// The batch is filled up to a multiple of 16.
double squares_of(const WinogradShape& s) {
  return 16.0 * ceil_div(s.batch, 16.0) * ceil_div(s.height, 4.0) * ceil_div(s.width, 4.0);
}

}  // namespace

WinogradTime winograd_time(const WinogradShape& s, double peak, const WinogradKernels& kernels, const Device& device) {
  const double squares = squares_of(s);
  const double weights = s.in_channels * s.out_channels;
  const double transformed_in = kProducts * squares * s.in_channels;
  const double transformed_out = kProducts * squares * s.out_channels;
  const auto moved = [&](double numbers, double streamed) {
    return memory_time(s.number_bytes * numbers, s.number_bytes * numbers, device, streamed);
  };
  WinogradTime out;
  out.products = winograd_products(kProducts, squares, s.out_channels, s.in_channels, tiles_of(device),
                                   peak * kernels.products, device);
  constexpr double kSharpness = 2.95, kStreamed = 0.84;
  out.time =
      joined(out.products.most, moved(transformed_in + transformed_out + kProducts * weights, kStreamed), kSharpness);
  const double transforms = two_read(device) / kernels.transforms;
  out.time += moved(s.in + transformed_in, transforms) + moved(s.out + transformed_out, transforms);
  out.time += moved((9.0 + kProducts) * weights, 1.0 / kernels.filters);
  return out;
}

}  // namespace joulecast
