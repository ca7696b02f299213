// SPDX-License-Identifier: Apache-2.0
// Constants of forward passes fitted by tools/fit/convolutions.py on A30 and RTX 2080 Ti (modules in PyTorch) and on
// convolutions of A100, V100, T4, P4 and P100 (bare loops), whose kernels' names are published. Those of gradients on
// A30 and RTX 2080 Ti, by hand.
#include "predict/conv_simt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "predict/conv_winograd.h"
#include "predict/law.h"

namespace joulecast {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kStreamed = 0.79;    // share of the bandwidth
constexpr double kLatency = 20.4e-6;  // seconds a pass takes beside its products and bytes
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
  double latency = kLatency;       // seconds beside products and bytes, of implicit ones
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
constexpr double kFilter = 9.0 + 36.0;  // numbers moved to transform one
// `filters`: numbers moved for each.
double tiled_transforms(const Pass& p, const Rates& r, double cost, double filters) {
  const double channels = p.in_channels + p.out_channels;
  const double numbers = p.in + p.out + 36.0 * tiled_squares(p) * channels;
  return cost * (numbers + filters * p.in_channels * p.out_channels) * r.number;
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
  bool pairs = false;         // of images on an A30's Ampere, as all have before Volta
  double fused_turing = 1.0;  // relative to `fused`
  WinogradKernels winograd{0.98, 1.10, 1.32};
  // Seconds a pass by Winograd takes beside its products and bytes; of F(4x4) so many starts of a kernel where they are
  // known.
  double fused_latency = kLatency, tiled_latency = kLatency, tiled_starts = 0;
  double preferred = 1.0;  // Winograd runs unless it takes so many times as long as the implicit product
  double tiled = 1.05, transforms = 1.26;
  double tiled_gradient = 0.365;    // of the weights, relative to `tiled`
  double least_tiled_gradient = 0;  // channels of the result
  // Numbers moved, parts of sums over the places: for each 3x3 filter by F(4x4), and for each weight by implicit
  // products, but no more than there are places (32 are the fewest that were measured).
  double parts = kFilter, sums = 0;
  // Forward passes and data gradients by F(4x4, 3x3) follow `tiled` and `transforms` as well, which then stand for
  // whatever is fastest, and not winograd_time().
  bool searched = false;
  double forward = 0.985, data = 0.78, weight = 0.76;  // implicit products of the three passes
  double strided = 1.0;                                // gradients of those with a stride, relative to that
  bool narrow = false;                                 // gradients of the weights have tiles of 32 x 32
  // How much faster than the implicit product other kernels are, for shapes without a law of their own: FFT for squares
  // of 5x5 and more, and the kernels for 1x7 and 7x1.
  double square = 1.5, square_gradient = 1.5, line = 1.5, line_weight = 1.5;
  double one_by_one = 1.0;
  // Layers on an image: their gradients have kernels of their own.
  double first_forward = 1.0, first_data = 4.8, first_weight = 2.5;
  double filters = 0;     // numbers moved for every weight of a larger filter, to transform it
  bool one_tile = false;  // of 128 x 128, for all implicit products
};
constexpr double kFourKernels = kLatency + 20.1e-6;  // of F(4x4), where the time from kernel to kernel is not known
constexpr Kernels kModules{.pairs = true,
                           .fused_turing = 0.775,
                           .fused_latency = 10.3e-6,
                           .tiled_latency = kFourKernels,
                           .tiled_starts = 4,
                           .preferred = 1.2,
                           .tiled_gradient = 0.40,
                           .least_tiled_gradient = 128,
                           .parts = 150,
                           .sums = 60,
                           .weight = 0.95,
                           .strided = 0.82,
                           .narrow = true,
                           .line_weight = 1.25,
                           .first_weight = 2.0};
// Perhaps other versions of cuDNN, or colder clocks.
constexpr Kernels kBareLoops{
    .fused = 0.98, .fused_turing = 0.905, .winograd = {0.975, 1.025, 2.28}, .tiled_latency = kFourKernels};
// Nobody measured FP64 singly.
constexpr Kernels kDoubles{};
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
                             .line_weight = 1.95,
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
                          .line_weight = 0.24,
                          .one_by_one = 0.315,
                          .first_forward = 0.31,
                          .first_data = 1.0,
                          .first_weight = 0.85,
                          .filters = 48.5,
                          .one_tile = true};

void choose(SimtPass& out, double preferred, const BusySms& implicit, const BusySms& fused, const BusySms& tiled) {
  const double winograd = std::min(out.fused, out.tiled);
  const bool plain = preferred * out.implicit <= winograd;
  const BusySms& runs = plain ? implicit : out.fused <= out.tiled ? fused : tiled;
  out.time = plain ? out.implicit : winograd;
  out.products = runs.most;
  out.mean = runs.mean;
}

WinogradTime searched_winograd(const Pass& p, const Rates& r, const Kernels& kernels) {
  const double products = tiled_products(p, r, kernels.tiled).most;
  const double time = joined2(products, tiled_moved(p, r)) + tiled_transforms(p, r, kernels.transforms, kFilter);
  return {{products, products}, time};
}

BusySms product_of(const Pass& p, const Rates& r, const Kernels& kernels, double efficiency) {
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
SimtPass pass_of(const Pass& p, const Rates& r, bool winograd, const Kernels& kernels, const BusySms& implicit,
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

SimtPass weight_pass(const Pass& p, const Rates& r, bool winograd, const Kernels& kernels, double efficiency) {
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

// 3x3 without stride or gaps.
bool has_winograd(const ConvWork& w) {
  const bool dense = w.in_height + 2 * w.padding - w.out_height == 2 && w.in_width + 2 * w.padding - w.out_width == 2;
  return w.arithmetic != Arithmetic::kFp64 && w.kernel_height == 3 && w.kernel_width == 3 && w.stride == 1 &&
         w.groups == 1 && dense;
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

const Kernels& kernels_of(const ConvWork& w, const Device& device, bool bare) {
  if (device.kepler) return kKepler;
  if (w.autotuned) return kAutotuned;
  if (w.arithmetic == Arithmetic::kFp64) return kDoubles;
  return bare ? kBareLoops : kModules;
}

// Chips that feed not all of their lanes are taken to feed convolutions as they feed products: nobody measured these
// there. With the power limit's share of the clock to the power of `hold`. On the P100 all kernels reach less of the
// peak, as its products do.
constexpr double kP100 = 0.875;
Rates rates_of(const ConvWork& w, const Device& device, const Kernels& kernels, double hold) {
  const Arithmetic arithmetic = w.arithmetic == Arithmetic::kFp64 ? Arithmetic::kFp64 : Arithmetic::kFp32;
  const bool doubles = arithmetic == Arithmetic::kFp64;
  const double reached = (doubles ? 1.0 : device.fed) * (device.capability == 6.0 ? kP100 : 1.0);
  const double held = std::pow(device.held_at(arithmetic), doubles ? 1.0 : hold) * reached;
  return {device.sm, device.peak(arithmetic) * held / device.sm,
          static_cast<double>(w.element_bytes) / device.bandwidth,
          (device.capability > 0.0 && device.capability < 7.0) || (kernels.pairs && device.capability == 8.0)};
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
  p.turing_one_by_one = kernel <= 1.0 && w.groups == 1 && device.capability == 7.5 && &kernels == &kModules;
  if (p.turing_one_by_one) p.latency = kTuringLatency;
  const Rates r = rates_of(w, device, kernels, kernels.hold);
  const Efficiency efficiency = efficiency_of(w, kernels);
  if (kernel > 1.0) p.filters = kernels.filters * p.weight;
  p.of_vectors = is_of_vectors(w);
  if (p.of_vectors && device.start > 0.0) p.latency = device.start;
  SimtPasses all;
  BusySms product = product_of(p, r, kernels, efficiency.forward);
  if (is_strided(w, device, bare)) product = strided(product, p, device);
  all.forward = pass_of(p, r, winograd, kernels, product, false, device);
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
                  p.filters,
                  p.latency,
                  p.of_vectors,
                  p.turing_one_by_one};
  product = product_of(back, r, kernels, efficiency.data);
  if (is_strided(w, device, bare)) product = at_least_lone(product, back, device);
  all.data = pass_of(back, r, winograd, kernels, product, true, device);
  all.weight = weight_pass(p, rates_of(w, device, kernels, 1.0), winograd, kernels, efficiency.weight);
  return all;
}

}  // namespace joulecast
