// SPDX-License-Identifier: Apache-2.0
// The constants of conv_simt.h's law, by whose kernels run.
#pragma once

#include "predict/conv_winograd.h"
#include "predict/physics.h"
#include "predict/work.h"

namespace joulecast {

inline constexpr double kConvLatency = 20.4e-6;     // seconds a pass takes beside its products and bytes
inline constexpr double kTiledFilter = 9.0 + 36.0;  // numbers moved to transform a filter for F(4x4, 3x3)

// How good the kernels are, relative to the peak.
struct ConvKernels {
  // Share of the clock under the power limit that forward passes and data gradients feel: an exponent.
  double hold = 0.8;
  double implicit_fill = 13.8, fused_fill = 18.0, fused_filters = 2.0;
  double fused = 1.02;
  bool pairs = false;         // of images on an A30's Ampere, as all have before Volta
  double fused_turing = 1.0;  // relative to `fused`
  WinogradKernels winograd{0.98, 1.10, 1.32};
  // Seconds a pass by Winograd takes beside its products and bytes; of F(4x4) so many starts of a kernel where they are
  // known.
  double fused_latency = kConvLatency, tiled_latency = kConvLatency, tiled_starts = 0;
  double preferred = 1.0;  // Winograd runs unless it takes so many times as long as the implicit product
  double tiled = 1.05, transforms = 1.26;
  double tiled_gradient = 0.365;    // of the weights, relative to `tiled`
  double least_tiled_gradient = 0;  // channels of the result
  // Numbers moved, parts of sums over the places: for each 3x3 filter by F(4x4), and for each weight by implicit
  // products, but no more than there are places (32 are the fewest that were measured).
  double parts = kTiledFilter, sums = 0;
  // Forward passes and data gradients by F(4x4, 3x3) follow `tiled` and `transforms` as well, which then stand for
  // whatever is fastest, and not winograd_time().
  bool searched = false;
  double forward = 0.985, data = 0.78, weight = 0.76;  // implicit products of the three passes
  double strided = 1.0;                                // gradients of those with a stride, relative to that
  bool narrow = false;                                 // gradients of the weights have tiles of 32 x 32
  // How much faster than the implicit product other kernels are, for shapes without a law of their own: the kernels for
  // 1x7 and 7x1, and for squares of 5x5 and more FFT, or where `fft` has a law for that, what else there is.
  double square = 1.5, square_gradient = 1.5, line = 1.5, line_weight = 1.5;
  double one_by_one = 1.0;
  // Layers on an image: their gradients have kernels of their own.
  double first_forward = 1.0, first_data = 4.8, first_weight = 2.5;
  // FFT by tiles: the products' share of the peak, and what transforms take over moving their numbers once. 0: none.
  double fft = 0, fft_transforms = 1;
  double filters = 0;     // numbers moved for every weight of a larger filter, to transform it
  bool one_tile = false;  // of 128 x 128, for all implicit products
};

// Those that run for the work. `bare`: as measured in bare loops.
const ConvKernels& conv_kernels(const ConvWork& work, const Device& device, bool bare);

}  // namespace joulecast
