// SPDX-License-Identifier: Apache-2.0
// Constants of forward passes fitted by tools/fit/convolutions.py on A30 and RTX 2080 Ti (modules in PyTorch) and on
// convolutions of A100, V100, T4, P4 and P100 (bare loops), whose kernels' names are published. Those of gradients on
// A30 and RTX 2080 Ti.
#include "predict/conv_simt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "predict/conv_winograd.h"
#include "predict/law.h"

namespace joulecast {

double SimtPass::fastest() const {
  return std::min({implicit, fused, tiled});
}

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kStreamed = 0.79;  // share of the bandwidth

struct Tile {
  double rows, columns, efficiency;
};
constexpr std::array<Tile, 3> kImplicitTiles{{{128, 128, 1.0}, {128, 64, 0.95}, {128, 32, 0.75}}};
constexpr std::array<Tile, 5> kProductTiles{
    {{128, 128, 1.0}, {128, 64, 0.95}, {64, 64, 0.85}, {32, 128, 0.8}, {128, 32, 0.8}}};
constexpr std::array<Tile, 7> kSplitTiles{{{128, 128, 1.0},
                                           {128, 64, 0.9},
                                           {64, 64, 0.75},
                                           {256, 64, 0.95},
                                           {64, 32, 0.5},
                                           {128, 32, 0.7},
                                           {256, 128, 1.05}}};

constexpr std::array<Tile, 1> kOneTile{{{128, 128, 1.0}}};

// One pass as a convolution from `in` to `out`: the data gradient is one with the channels the other way.
struct Pass {
  double batch, height, width;  // of the result
  double in_channels, out_channels, groups, depth;
  double in, out, weight;  // numbers
  double filters = 0;      // numbers moved to transform the filters
};

// Flops in whole waves of tiles, over the best of `tiles`.
template <std::size_t kCount>
BusySms busiest(const std::array<Tile, kCount>& tiles, double rows, double columns, double batch, double depth,
                double sm) {
  BusySms best;
  for (const Tile& tile : tiles) {
    const double waves = batch * ceil_div(rows, tile.rows) * ceil_div(columns, tile.columns) / sm;
    const double flops = 2.0 * tile.rows * tile.columns / tile.efficiency * depth;
    const double most = ceil_fast(waves) * flops;
    if (most < best.most) best = {most, waves * flops};
  }
  return best;
}

// The same with the depth split in up to `max_split` parts of at least 32.
template <std::size_t kCount>
BusySms busiest_split(const std::array<Tile, kCount>& tiles, double rows, double columns, double batch, double depth,
                      double sm, int max_split) {
  BusySms best;
  for (int split = 1; split <= max_split; split *= 2) {
    const BusySms found = busiest(tiles, rows, columns, batch * split, std::max(depth / split, 32.0), sm);
    if (found.most < best.most) best = found;
    if (depth <= 32.0 * split) break;
  }
  return best;
}

// The GPU as these kernels see it: flops a second of one SM, seconds to move a number.
struct Rates {
  double sm, flops, number;
  bool pairs_images;
};

double moved(const Pass& p, const Rates& r) {
  return (p.in + p.out + p.weight) * r.number / kStreamed;
}

// The depth is rounded up to 8; what fills and drains a tile costs `fill` more of it.
template <std::size_t kCount>
BusySms implicit_products(const std::array<Tile, kCount>& tiles, const Pass& p, const Rates& r, double fill) {
  const double depth = 8.0 * ceil_fast(p.depth / 8.0) + fill;
  const double places = p.batch * p.height * p.width;
  return busiest(tiles, places, p.out_channels / p.groups, p.groups, depth, r.sm) * (1.0 / r.flops);
}

// A block makes 32 channels of 4 x 8 squares of 2 x 2 places of one image, and before Volta there is one of 4 x 4
// squares of two images: 16 products over the channels.
BusySms fused_products(const Pass& p, const Rates& r, double efficiency, double fill) {
  const double high = ceil_div(ceil_fast(p.height / 2.0), 4.0);
  const double wide = ceil_fast(p.width / 2.0);
  double blocks = p.batch * high * ceil_div(wide, 8.0);
  if (r.pairs_images) blocks = std::min(blocks, ceil_fast(p.batch / 2.0) * high * ceil_div(wide, 4.0));
  const double depth = 8.0 * ceil_fast(p.in_channels / 8.0) + fill;
  const double waves = blocks * ceil_div(p.out_channels, 32.0) / r.sm;
  return BusySms{ceil_fast(waves), waves} * (2.0 * 16.0 * 32.0 * 32.0 * depth / (r.flops * efficiency));
}
// The filters are transformed before, 9 numbers becoming 16.
double fused_filters(const Pass& p, const Rates& r, double cost) {
  return cost * 25.0 * p.in_channels * p.out_channels * r.number;
}

// Squares of 4 x 4 places become 36 numbers.
double tiled_squares(const Pass& p) {
  return p.batch * ceil_fast(p.height / 4.0) * ceil_fast(p.width / 4.0);
}
BusySms tiled_products(const Pass& p, const Rates& r, double efficiency) {
  return busiest(kProductTiles, tiled_squares(p), p.out_channels, 36.0, p.in_channels + 9.0, r.sm) *
         (1.0 / (r.flops * efficiency));
}
double tiled_moved(const Pass& p, const Rates& r) {
  return 36.0 * (tiled_squares(p) * (p.in_channels + p.out_channels) + p.in_channels * p.out_channels) * r.number /
         kStreamed;
}
double tiled_transforms(const Pass& p, const Rates& r, double cost) {
  const double channels = p.in_channels + p.out_channels;
  return cost * (p.in + p.out + 36.0 * tiled_squares(p) * channels + 45.0 * p.in_channels * p.out_channels) * r.number;
}

// joined() with p = 4/3, in roots instead of powers: tiles compute while others load, but not all of the time.
double overlapped(double a, double b) {
  const double larger = std::max(a, b);
  if (larger <= 0.0) return 0.0;
  const double ratio = std::min(a, b) / larger;
  const double root = std::sqrt(1.0 + ratio * std::cbrt(ratio));
  return larger * root * std::sqrt(root);
}

// How good the kernels are, relative to the peak.
struct Kernels {
  // Share of the clock under the power limit that forward passes and data gradients feel: an exponent.
  double hold = 0.8;
  double implicit_fill = 13.8, fused_fill = 18.0, fused_filters = 2.0;
  double fused = 1.02;
  WinogradKernels winograd{1.17, 1.2};
  double tiled = 1.05, transforms = 1.26;
  double tiled_gradient = 0.365;  // of the weights, relative to `tiled`
  // Forward passes and data gradients by F(4x4, 3x3) follow `tiled` and `transforms` as well, which then stand for
  // whatever is fastest, and not winograd_time().
  bool searched = false;
  double forward = 0.985, data = 0.78, weight = 0.76;  // implicit products of the three passes
  // How much faster than the implicit product other kernels are, for shapes without a law of their own: FFT for squares
  // of 5x5 and more, and the kernels for 1x7 and 7x1.
  double square = 1.5, square_gradient = 1.5, line = 1.5;
  double one_by_one = 1.0;
  // Layers on an image: their gradients have kernels of their own.
  double first_forward = 1.0, first_data = 4.8, first_weight = 2.5;
  double filters = 0;     // numbers moved for every weight of a larger filter, to transform it
  bool one_tile = false;  // of 128 x 128, for all implicit products
};
constexpr Kernels kModules{};
// Perhaps other versions of cuDNN, or colder clocks.
constexpr Kernels kBareLoops{.fused = 0.98, .winograd = {0.96, 1.19}};
// The fastest of all algorithms, as TensorFlow finds it by trying them with as much workspace as they ask for: device
// time of PROFET's networks on T4 and V100 (tools/fit/tensorflow.py).
constexpr Kernels kAutotuned{.hold = 1.0,
                             .implicit_fill = 14.0,
                             .fused_fill = 17.0,
                             .fused_filters = 1.2,
                             .fused = 0.94,
                             .tiled = 1.70,
                             .transforms = 2.36,
                             .tiled_gradient = 0.65,
                             .searched = true,
                             .forward = 0.78,
                             .data = 0.67,
                             .weight = 0.50,
                             .square = 1.7,
                             .square_gradient = 2.9,
                             .line = 1.95,
                             .first_weight = 2.6};
// Kepler has no Winograd and one size of tiles; its kernels transform the filters at great cost, whatever the batch.
// Device time of the same networks on a K80, less what the profiler adds to a step there.
constexpr Kernels kKepler{.hold = 1.0,
                          .implicit_fill = 14.0,
                          .forward = 1.05,
                          .data = 1.09,
                          .weight = 0.76,
                          .square = 2.2,
                          .square_gradient = 1.5,
                          .line = 0.24,
                          .one_by_one = 0.315,
                          .first_forward = 0.31,
                          .first_data = 1.0,
                          .first_weight = 0.85,
                          .filters = 48.5,
                          .one_tile = true};

void keep_products(SimtPass& out, const BusySms& implicit, const BusySms& fused, const BusySms& tiled) {
  const BusySms& fastest = out.implicit <= std::min(out.fused, out.tiled) ? implicit
                           : out.fused <= out.tiled                       ? fused
                                                                          : tiled;
  out.products = fastest.most;
  out.mean = fastest.mean;
}

WinogradTime searched_winograd(const Pass& p, const Rates& r, const Kernels& kernels) {
  const double products = tiled_products(p, r, kernels.tiled).most;
  return {products, joined2(products, tiled_moved(p, r)) + tiled_transforms(p, r, kernels.transforms)};
}

// Of forward pass and data gradient, which differ in how well they load.
SimtPass pass_of(const Pass& p, const Rates& r, bool winograd, const Kernels& kernels, double efficiency, bool data,
                 const Device& device) {
  const double fill = kernels.implicit_fill;
  const BusySms products =
      kernels.one_tile ? implicit_products(kOneTile, p, r, fill) : implicit_products(kImplicitTiles, p, r, fill);
  const BusySms implicit = products * (1.0 / efficiency);
  SimtPass out{.implicit = joined_by_squares<2>(implicit.most, moved(p, r)), .fused = kNever, .tiled = kNever};
  if (data) out.implicit = joined2(implicit.most, moved(p, r));
  out.implicit += p.filters * r.number;
  BusySms fused;
  WinogradTime tiled;
  if (winograd) {
    fused = fused_products(p, r, kernels.fused, kernels.fused_fill);
    out.fused = overlapped(fused.most, moved(p, r)) + fused_filters(p, r, kernels.fused_filters);
    tiled = kernels.searched ? searched_winograd(p, r, kernels)
                             : winograd_time({p.batch, p.height, p.width, p.in_channels, p.out_channels, p.in, p.out,
                                              r.number * device.bandwidth},
                                             r.flops * r.sm, kernels.winograd, device);
    out.tiled = tiled.time;
  }
  keep_products(out, implicit, fused, {tiled.products, tiled.products});
  return out;
}

SimtPass weight_pass(const Pass& p, const Rates& r, bool winograd, const Kernels& kernels, double efficiency) {
  const double places = p.batch * p.height * p.width;
  const auto busiest_of = [&](const auto& tiles) {
    return busiest_split(tiles, p.out_channels / p.groups, p.depth, p.groups, places, r.sm, 64);
  };
  const BusySms implicit =
      (kernels.one_tile ? busiest_of(kOneTile) : busiest_of(kSplitTiles)) * (1.0 / (r.flops * efficiency));
  SimtPass out{
      .implicit = joined2(implicit.most, moved(p, r)) + p.filters * r.number, .fused = kNever, .tiled = kNever};
  BusySms tiled;
  if (winograd) {
    tiled = busiest_split(kSplitTiles, p.in_channels, p.out_channels, 36.0, tiled_squares(p), r.sm, 8) *
            (1.0 / (r.flops * kernels.tiled * kernels.tiled_gradient));
    out.tiled = joined2(tiled.most, tiled_moved(p, r)) + tiled_transforms(p, r, kernels.transforms);
  }
  keep_products(out, implicit, {}, tiled);
  return out;
}

// 3x3 without stride or gaps.
bool has_winograd(const ConvWork& w) {
  const bool dense = w.in_height + 2 * w.padding - w.out_height == 2 && w.in_width + 2 * w.padding - w.out_width == 2;
  return w.arithmetic != Arithmetic::kFp64 && w.kernel_height == 3 && w.kernel_width == 3 && w.stride == 1 &&
         w.groups == 1 && dense;
}

// Of the implicit products of each pass.
struct Efficiency {
  double forward, data, weight;
};

// FP64 has implicit products alone: networks in it take twice what other kernels would give.
Efficiency fp64_efficiency(const Kernels& k) {
  constexpr double kForward = 0.87;  // on networks of GeForce and A100
  return {kForward, k.data, k.weight};
}

Efficiency efficiency_of(const ConvWork& w, const Kernels& k) {
  Efficiency out{k.forward, k.data, k.weight};
  const auto scale = [&](double forward, double data, double weight) {
    out = {out.forward * forward, out.data * data, out.weight * weight};
  };
  const std::int64_t longest = std::max(w.kernel_height, w.kernel_width);
  const std::int64_t shortest = std::min(w.kernel_height, w.kernel_width);
  if (w.arithmetic == Arithmetic::kFp64) {
    out = fp64_efficiency(k);
  } else if (longest == 1) {
    scale(k.one_by_one, k.one_by_one, k.one_by_one);
  } else if (shortest >= 5 && shortest == longest && w.stride == 1) {
    scale(k.square, k.square_gradient, k.square_gradient);
  } else if (longest >= 5 && shortest == 1) {
    scale(k.line, k.line, k.line);
  }
  const bool depthwise = w.in_channels == w.groups && w.groups > 1;
  if (w.in_channels / w.groups <= 4 && !depthwise) scale(k.first_forward, k.first_data, k.first_weight);
  return out;
}

const Kernels& kernels_of(const ConvWork& w, const Device& device, bool bare) {
  if (device.kepler) return kKepler;
  if (w.autotuned) return kAutotuned;
  return bare ? kBareLoops : kModules;
}

// Chips that feed not all of their lanes are taken to feed convolutions as they feed products: nobody measured these
// there. With the power limit's share of the clock to the power of `hold`. On the P100 all kernels reach less of the
// peak, as its products do.
constexpr double kP100 = 0.875;
Rates rates_of(const ConvWork& w, const Device& device, double hold) {
  const Arithmetic arithmetic = w.arithmetic == Arithmetic::kFp64 ? Arithmetic::kFp64 : Arithmetic::kFp32;
  const bool doubles = arithmetic == Arithmetic::kFp64;
  const double reached = (doubles ? 1.0 : device.fed) * (device.capability == 6.0 ? kP100 : 1.0);
  const double held = std::pow(device.held_at(arithmetic), doubles ? 1.0 : hold) * reached;
  return {device.sm, device.peak(arithmetic) * held / device.sm,
          static_cast<double>(w.element_bytes) / device.bandwidth, device.capability > 0.0 && device.capability < 7.0};
}

}  // namespace

SimtPasses simt_passes(const ConvWork& w, const Device& device, bool training, bool bare) {
  const auto in = static_cast<double>(w.in_channels);
  const auto out = static_cast<double>(w.out_channels);
  const auto groups = static_cast<double>(w.groups);
  const auto batch = static_cast<double>(w.batch);
  const auto kernel = static_cast<double>(w.kernel_height * w.kernel_width);
  const auto stride = static_cast<double>(w.stride);
  Pass p{batch,
         static_cast<double>(w.out_height),
         static_cast<double>(w.out_width),
         in,
         out,
         groups,
         in / groups * kernel,
         0,
         0,
         out * in / groups * kernel,
         0};
  p.out = batch * p.height * p.width * out;
  p.in = batch * static_cast<double>(w.in_height) * static_cast<double>(w.in_width) * in;
  const bool winograd = has_winograd(w) && !device.kepler;
  const Kernels& kernels = kernels_of(w, device, bare);
  const Rates r = rates_of(w, device, kernels.hold);
  const Efficiency efficiency = efficiency_of(w, kernels);
  if (kernel > 1.0) p.filters = kernels.filters * p.weight;
  SimtPasses all;
  all.forward = pass_of(p, r, winograd, kernels, efficiency.forward, false, device);
  if (!training) return all;
  const Pass back{batch,
                  static_cast<double>(w.in_height),
                  static_cast<double>(w.in_width),
                  out,
                  in,
                  groups,
                  out / groups * kernel / (stride * stride),
                  p.out,
                  p.in,
                  p.weight,
                  p.filters};
  all.data = pass_of(back, r, winograd, kernels, efficiency.data, true, device);
  all.weight = weight_pass(p, rates_of(w, device, 1.0), winograd, kernels, efficiency.weight);
  return all;
}

}  // namespace joulecast
