// SPDX-License-Identifier: Apache-2.0
// The kernels' constants are conv_kernels.cpp's.
#include "predict/conv_simt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "predict/conv_kernels.h"
#include "predict/conv_winograd.h"
#include "predict/law.h"

namespace joulecast {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kStreamed = 0.79;  // share of the bandwidth
// The same of 1x1 in modules on Turing, whose forward passes stream a little more, and whose gradients' take so many
// times as long as once through their tensors. From the RTX 2080 Ti's, by hand.
constexpr double kTuringStreamed = 0.83, kTuringLatency = 8e-6, kTuringAgain = 2.2;
constexpr double kVectorParts = 8;  // of the depth of deep vectors there, as what they draw says

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

constexpr std::array<Tile, 1> kNarrowTile{{{32, 32, 0.48}}};  // of gradients of the weights, but of layers on an image
constexpr std::array<Tile, 1> kOneTile{{{128, 128, 1.0}}};

// One pass as a convolution from `in` to `out`: the data gradient is one with the channels the other way.
struct Pass {
  double batch, height, width;  // of the result
  double in_channels, out_channels, groups, depth;
  double in, out, weight;          // numbers
  double filters = 0;              // numbers moved to transform the filters
  double latency = kConvLatency;   // seconds beside products and bytes, of implicit ones
  bool of_vectors = false;         // a layer on 1 x 1 places: no sums over them
  bool turing_one_by_one = false;  // in modules
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

double moved(const Pass& p, const Rates& r, double streamed = kStreamed) {
  return (p.in + p.out + p.weight) * r.number / streamed;
}

// The depth is rounded up to 8; what fills and drains a tile costs `fill` more of it.
template <std::size_t kCount>
BusySms implicit_products(const std::array<Tile, kCount>& tiles, const Pass& p, const Rates& r, double fill) {
  const double places = p.batch * p.height * p.width;
  const auto products = [&](double parts) {
    const double depth = 8.0 * ceil_fast(p.depth / (8.0 * parts)) + fill;
    return busiest(tiles, places, p.out_channels / p.groups, p.groups * parts, depth, r.sm);
  };
  BusySms flops = products(1.0);
  if (p.turing_one_by_one && p.of_vectors) {
    const BusySms split = products(kVectorParts);
    if (split.most < flops.most) flops = split;
  }
  return flops * (1.0 / r.flops);
}

// A block makes 32 channels of 4 x 8 squares of 2 x 2 places of one image, and where images are paired there is one of
// 4 x 4 squares of two: 16 products over the channels.
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
// `filters`: numbers moved for each.
double tiled_transforms(const Pass& p, const Rates& r, double cost, double filters) {
  const double channels = p.in_channels + p.out_channels;
  const double numbers = p.in + p.out + 36.0 * tiled_squares(p) * channels;
  return cost * (numbers + filters * p.in_channels * p.out_channels) * r.number;
}

// FFT by tiles of 32 x 32, which overlap by the filter's side: 32 x 17 complex numbers each, of which every product
// takes four of real ones.
constexpr double kFftTile = 32.0, kFftPoints = 32.0 * 17.0, kFftProducts = 4.0;
double fft_tiles(const Pass& p, double side) {
  const double step = kFftTile + 1.0 - side;
  return p.batch * ceil_div(p.height, step) * ceil_div(p.width, step);
}

// Takes the pass where it is faster. `products`: flops of real ones.
void consider_fft(const Pass& p, const Rates& r, double tiles, const BusySms& products, const ConvKernels& kernels,
                  SimtPass& pass) {
  const BusySms busy = products * (kFftProducts / (r.flops * kernels.fft));
  const double channels = p.in_channels + p.out_channels;
  const double numbers = 2.0 * kFftPoints * (tiles * channels + p.in_channels * p.out_channels);
  const double transforms = kernels.fft_transforms * (p.in + p.out + p.weight + numbers) * r.number;
  const double time = joined2(busy.most, numbers * r.number / kStreamed) + transforms + p.latency;
  pass.fft = time;
  if (!(time < pass.time)) return;
  pass.time = time;
  pass.products = busy.most;
  pass.mean = busy.mean;
}

// Of forward pass or data gradient, and of the weights' gradient.
void consider_fft(const Pass& p, const Rates& r, double side, const ConvKernels& kernels, SimtPass& pass) {
  const double tiles = fft_tiles(p, side);
  const BusySms flops = busiest(kProductTiles, tiles, p.out_channels, kFftPoints, p.in_channels + 9.0, r.sm);
  consider_fft(p, r, tiles, flops, kernels, pass);
}
void consider_weight_fft(const Pass& p, const Rates& r, double side, const ConvKernels& kernels, SimtPass& pass) {
  const double tiles = fft_tiles(p, side);
  const BusySms flops = busiest_split(kSplitTiles, p.in_channels, p.out_channels, kFftPoints, tiles, r.sm, 8);
  consider_fft(p, r, tiles, flops, kernels, pass);
}

// joined() with p = 4/3, in roots instead of powers: tiles compute while others load, but not all of the time.
double overlapped(double a, double b) {
  const double larger = std::max(a, b);
  if (larger <= 0.0) return 0.0;
  const double ratio = std::min(a, b) / larger;
  const double root = std::sqrt(1.0 + ratio * std::cbrt(ratio));
  return larger * root * std::sqrt(root);
}

void choose(SimtPass& out, double preferred, const BusySms& implicit, const BusySms& fused, const BusySms& tiled) {
  const double winograd = std::min(out.fused, out.tiled);
  const bool plain = preferred * out.implicit <= winograd;
  const BusySms& runs = plain ? implicit : out.fused <= out.tiled ? fused : tiled;
  out.time = plain ? out.implicit : winograd;
  out.products = runs.most;
  out.mean = runs.mean;
}

WinogradTime searched_winograd(const Pass& p, const Rates& r, const ConvKernels& kernels) {
  const double products = tiled_products(p, r, kernels.tiled).most;
  const double time = joined2(products, tiled_moved(p, r)) + tiled_transforms(p, r, kernels.transforms, kTiledFilter);
  return {{products, products}, time};
}

BusySms product_of(const Pass& p, const Rates& r, const ConvKernels& kernels, double efficiency) {
  const double fill = kernels.implicit_fill;
  const BusySms products =
      kernels.one_tile ? implicit_products(kOneTile, p, r, fill) : implicit_products(kImplicitTiles, p, r, fill);
  return products * (1.0 / efficiency);
}

// Of the implicit product of either gradient.
double gradient_with_bytes(const Pass& p, const Rates& r, double products) {
  return p.turing_one_by_one ? joined8(products, kTuringAgain * moved(p, r)) : joined2(products, moved(p, r));
}

// Of the implicit product of forward pass or data gradient.
double overlapped_bytes(const Pass& p, const Rates& r, double products, bool data) {
  if (data) return gradient_with_bytes(p, r, products);
  return p.turing_one_by_one ? joined8(products, moved(p, r, kTuringStreamed))
                             : joined_by_squares<2>(products, moved(p, r));
}

// Of forward pass and data gradient, which differ in how well they load; `implicit` is the product.
SimtPass pass_of(const Pass& p, const Rates& r, bool winograd, const ConvKernels& kernels, const BusySms& implicit,
                 bool data, const Device& device) {
  const double beside = p.filters * r.number + p.latency;
  SimtPass out{.implicit = overlapped_bytes(p, r, implicit.most, data) + beside, .fused = kNever, .tiled = kNever};
  BusySms fused;
  WinogradTime tiled;
  if (winograd) {
    const double turing = device.capability == 7.5 ? kernels.fused_turing : 1.0;
    fused = fused_products(p, r, kernels.fused * turing, kernels.fused_fill);
    out.fused =
        overlapped(fused.most, moved(p, r)) + fused_filters(p, r, kernels.fused_filters) + kernels.fused_latency;
    tiled = kernels.searched ? searched_winograd(p, r, kernels)
                             : winograd_time({p.batch, p.height, p.width, p.in_channels, p.out_channels, p.in, p.out,
                                              r.number * device.bandwidth},
                                             r.flops * r.sm, kernels.winograd, device);
    const double starts = kernels.tiled_starts * device.start;
    out.tiled = tiled.time + (starts > 0.0 ? starts : kernels.tiled_latency);
  }
  choose(out, kernels.preferred, implicit, fused, tiled.products);
  return out;
}

SimtPass weight_pass(const Pass& p, const Rates& r, bool winograd, const ConvKernels& kernels, double efficiency) {
  const double places = p.batch * p.height * p.width;
  const auto busiest_of = [&](const auto& tiles) {
    return busiest_split(tiles, p.out_channels / p.groups, p.depth, p.groups, places, r.sm, 64);
  };
  BusySms flops = kernels.one_tile ? busiest_of(kOneTile) : busiest_of(kSplitTiles);
  if (kernels.narrow && p.in_channels / p.groups > 4.0) {
    const BusySms narrow = busiest_of(kNarrowTile);
    if (narrow.most < flops.most) flops = narrow;
  }
  const BusySms implicit = flops * (1.0 / (r.flops * efficiency));
  const double sums = p.of_vectors ? 0.0 : std::min(kernels.sums, places);
  const double beside = (p.filters + sums * p.weight) * r.number + p.latency;
  SimtPass out{.implicit = gradient_with_bytes(p, r, implicit.most) + beside, .fused = kNever, .tiled = kNever};
  BusySms tiled;
  if (winograd && p.out_channels >= kernels.least_tiled_gradient) {
    tiled = busiest_split(kSplitTiles, p.in_channels, p.out_channels, 36.0, tiled_squares(p), r.sm, 8) *
            (1.0 / (r.flops * kernels.tiled * kernels.tiled_gradient));
    out.tiled =
        joined2(tiled.most, tiled_moved(p, r)) + tiled_transforms(p, r, kernels.transforms, kernels.parts) + p.latency;
  }
  choose(out, 1.0, implicit, {}, tiled);
  return out;
}

// A square larger than 1x1 without stride, groups or gaps.
bool is_dense_square(const ConvWork& w) {
  const std::int64_t side = w.kernel_height;
  return side > 1 && w.kernel_width == side && w.stride == 1 && w.groups == 1 &&
         w.in_height + 2 * w.padding - w.out_height == side - 1 && w.in_width + 2 * w.padding - w.out_width == side - 1;
}
bool has_winograd(const ConvWork& w) {
  return w.arithmetic != Arithmetic::kFp64 && w.kernel_height == 3 && is_dense_square(w);
}
// Filters that a tile holds.
bool has_fft(const ConvWork& w) {
  return w.arithmetic != Arithmetic::kFp64 && static_cast<double>(w.kernel_height) <= kFftTile && is_dense_square(w);
}

// cuDNN's kernel for 3x3 with padding and a stride of two takes so many cycles for each number of depth while a tile of
// 128 x 64 is alone on its SM. On Ampere it is no faster for more: a fifth slower than that each. Wider results
// than 128 take the usual one where it has a tile for every SM. From the measured shapes of A30 and RTX 2080 Ti, by
// hand.
constexpr double kLoneAmpere = 213.0, kLoneTuring = 175.0, kCrowded = 1.2;

bool is_strided(const ConvWork& w, const Device& device, bool bare) {
  return (device.capability == 7.5 || device.capability == 8.0) && w.kernel_height == 3 && w.kernel_width == 3 &&
         w.stride == 2 && w.padding == 1 && w.groups == 1 && w.in_channels > 4 && w.arithmetic != Arithmetic::kFp64 &&
         !w.autotuned && !bare;
}

double lone_tile(const Pass& p, const Device& device) {
  return (device.capability < 8.0 ? kLoneTuring : kLoneAmpere) * p.depth / device.clock;
}
// An SM, of so many columns.
double tiles_of(const Pass& p, const Device& device, double columns = 64.0) {
  return ceil_div(p.batch * p.height * p.width, 128.0) * ceil_div(p.out_channels, columns) / device.sm;
}

BusySms at_least_lone(const BusySms& product, const Pass& p, const Device& device) {
  const double lone = lone_tile(p, device);
  return product.most >= lone ? product : BusySms{lone, lone * std::min(1.0, tiles_of(p, device))};
}

BusySms strided(const BusySms& usual, const Pass& p, const Device& device) {
  if (device.capability < 8.0) return at_least_lone(usual, p, device);
  if (p.out_channels > 128.0 && tiles_of(p, device, 128.0) >= 1.0) return usual;
  const double tiles = tiles_of(p, device);
  return BusySms{std::max(1.0, kCrowded * tiles), tiles} * lone_tile(p, device);
}

// Of the implicit products of each pass.
struct Efficiency {
  double forward, data, weight;
};

// FP64 has implicit products alone: networks in it take twice what other kernels would give.
Efficiency fp64_efficiency(const ConvKernels& k) {
  constexpr double kForward = 0.87;  // on networks of GeForce and A100
  return {kForward, k.data, k.weight};
}

Efficiency efficiency_of(const ConvWork& w, const ConvKernels& k) {
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
    scale(k.line, k.line, k.line_weight);
  }
  const bool depthwise = w.in_channels == w.groups && w.groups > 1;
  if (w.in_channels / w.groups <= 4 && !depthwise) {
    scale(k.first_forward, k.first_data, k.first_weight);
  } else if (w.stride > 1) {
    scale(1.0, k.strided, k.strided);
  }
  return out;
}

// Chips that feed not all of their lanes are taken to feed convolutions as they feed products: nobody measured these
// there. With the power limit's share of the clock to the power of `hold`. On the P100 all kernels reach less of the
// peak, as its products do.
constexpr double kP100 = 0.875;
Rates rates_of(const ConvWork& w, const Device& device, const ConvKernels& kernels, double hold) {
  const Arithmetic arithmetic = w.arithmetic == Arithmetic::kFp64 ? Arithmetic::kFp64 : Arithmetic::kFp32;
  const bool doubles = arithmetic == Arithmetic::kFp64;
  const double reached = (doubles ? 1.0 : device.fed) * (device.capability == 6.0 ? kP100 : 1.0);
  const double held = std::pow(device.held_at(arithmetic), doubles ? 1.0 : hold) * reached;
  return {device.sm, device.peak(arithmetic) * held / device.sm,
          static_cast<double>(w.element_bytes) / device.bandwidth,
          (device.capability > 0.0 && device.capability < 7.0) || (kernels.pairs && device.capability == 8.0)};
}

Pass forward_of(const ConvWork& w, const Device& device, bool bare, const ConvKernels& kernels) {
  const auto kernel = static_cast<double>(w.kernel_height * w.kernel_width);
  Pass p{.batch = static_cast<double>(w.batch),
         .height = static_cast<double>(w.out_height),
         .width = static_cast<double>(w.out_width),
         .in_channels = static_cast<double>(w.in_channels),
         .out_channels = static_cast<double>(w.out_channels),
         .groups = static_cast<double>(w.groups),
         .depth = 0,
         .in = 0,
         .out = 0,
         .weight = 0};
  p.depth = p.in_channels / p.groups * kernel;
  p.in = p.batch * static_cast<double>(w.in_height) * static_cast<double>(w.in_width) * p.in_channels;
  p.out = p.batch * p.height * p.width * p.out_channels;
  p.weight = p.out_channels * p.in_channels / p.groups * kernel;
  if (kernel > 1.0) p.filters = kernels.filters * p.weight;
  const bool in_modules = !bare && !w.autotuned && w.arithmetic != Arithmetic::kFp64;
  p.turing_one_by_one = kernel <= 1.0 && w.groups == 1 && device.capability == 7.5 && in_modules;
  p.of_vectors = is_of_vectors(w);
  if (p.turing_one_by_one) p.latency = kTuringLatency;
  if (p.of_vectors && device.start > 0.0) p.latency = device.start;
  return p;
}

// A stride leaves so many of the places without a number.
Pass data_gradient_of(const Pass& p, const ConvWork& w) {
  const auto kernel = static_cast<double>(w.kernel_height * w.kernel_width);
  Pass back = p;
  back.height = static_cast<double>(w.in_height);
  back.width = static_cast<double>(w.in_width);
  std::swap(back.in_channels, back.out_channels);
  std::swap(back.in, back.out);
  back.depth = p.out_channels / p.groups * kernel / places_of_stride(w);
  return back;
}

}  // namespace

SimtPasses simt_passes(const ConvWork& w, const Device& device, bool training, bool bare) {
  return simt_passes(w, device, training, bare, conv_kernels(w, device, bare));
}

SimtPasses simt_passes(const ConvWork& w, const Device& device, bool training, bool bare, const ConvKernels& kernels) {
  const bool winograd = has_winograd(w) && !device.kepler;
  const bool slow_stride = is_strided(w, device, bare);
  const Rates r = rates_of(w, device, kernels, kernels.hold);
  const Efficiency efficiency = efficiency_of(w, kernels);
  const double side = kernels.fft > 0.0 && has_fft(w) ? static_cast<double>(w.kernel_height) : 0.0;
  const Pass p = forward_of(w, device, bare, kernels);
  SimtPasses all;
  BusySms product = product_of(p, r, kernels, efficiency.forward);
  if (slow_stride) product = strided(product, p, device);
  all.forward = pass_of(p, r, winograd, kernels, product, false, device);
  if (side > 0.0) consider_fft(p, r, side, kernels, all.forward);
  if (!training) return all;
  const Pass back = data_gradient_of(p, w);
  product = product_of(back, r, kernels, efficiency.data);
  if (slow_stride) product = at_least_lone(product, back, device);
  all.data = pass_of(back, r, winograd, kernels, product, true, device);
  all.weight = weight_pass(p, rates_of(w, device, kernels, 1.0), winograd, kernels, efficiency.weight);
  if (side <= 0.0) return all;
  consider_fft(back, r, side, kernels, all.data);
  consider_weight_fft(p, r, side, kernels, all.weight);
  return all;
}

}  // namespace joulecast
