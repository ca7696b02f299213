// SPDX-License-Identifier: Apache-2.0
// Convolutions: with tensor cores implicit products on the SMs in whole waves of tiles and the copies around them,
// without them the algorithms of conv_simt.h, depthwise kernels at a rate of their own. Constants fitted on measured
// operations of A30 (TF32 and FP32) and RTX 2080 Ti.
#include <algorithm>
#include <array>
#include <limits>

#include "predict/conv_simt.h"
#include "predict/feature_lists.h"
#include "predict/law.h"

namespace joulecast {

const std::array<std::string_view, 30> kConvFeatures{
    "compute",       "memory",      "host",         "host_per_gpu", "forward",       "data_gradient", "weight_gradient",
    "ideal",         "group_out",   "groups",       "group_in",     "kernel_height", "kernel_width",  "stride",
    "out_places",    "p2_group_in", "p2_group_out", "p2_width",     "p2_out_places", "in_per_l2",     "out_per_l2",
    "weight_per_l2", "state",       "tensor",       "bias",         "copies",        "bias_pass",     "implicit",
    "fused",         "tiled"};

namespace {

// Tile shapes and the share of the peak that each reaches; the last one stands in for none, to fill the vector.
constexpr std::size_t kTiles = 8;
constexpr std::array<double, kTiles> kTileRows{128, 128, 64, 256, 64, 128, 256, 256};
constexpr std::array<double, kTiles> kTileColumns{128, 64, 64, 64, 32, 32, 128, 128};
constexpr std::array<double, kTiles> kTileEfficiency{1.0, 0.9, 0.75, 0.95, 0.5, 0.7, 1.05, 1.05};

// std::ceil for 0 <= x < 2^51 in additions only: the compiler makes vectors of it. Exact there; beyond, as near as a
// double is.
inline double ceil_by_adding(double x) {
  const double rounded = (x + 0x1p52) - 0x1p52;
  return rounded < x ? rounded + 1.0 : rounded;
}

// Flops of a tile for each number of depth.
constexpr std::array<double, kTiles> tile_areas(const std::array<double, kTiles>& efficiency) {
  std::array<double, kTiles> out{};
  for (std::size_t i = 0; i < kTiles; ++i) out[i] = 2.0 * kTileRows[i] * kTileColumns[i] / efficiency[i];
  return out;
}
constexpr std::array<double, kTiles> kTileArea = tile_areas(kTileEfficiency);

// Flops of the busiest SM, over the best of tiles and of splits of the depth up to `max_split`. Loops over tiles stand
// inside: they are the inner loop of every prediction. Splits leave the mean of all SMs as it is, but for parts of less
// than 32.
BusySms busiest_sm(double m, double n, double k, double groups, double sm, double max_split) {
  std::array<double, kTiles> count{};
  std::array<double, kTiles> best{};
  for (std::size_t i = 0; i < kTiles; ++i) {
    count[i] = groups * ceil_by_adding(m / kTileRows[i]) * ceil_by_adding(n / kTileColumns[i]);
    best[i] = std::numeric_limits<double>::infinity();
  }
  double part = k;
  for (double split = 1; split <= max_split; split *= 2) {
    const double depth = std::max(part, 32.0);
    for (std::size_t i = 0; i < kTiles; ++i) {
      const double flops = ceil_by_adding(count[i] * split / sm) * kTileArea[i] * depth;
      best[i] = flops < best[i] ? flops : best[i];
    }
    if (part <= 32.0) break;
    part *= 0.5;
  }
  const auto least = std::min_element(best.begin(), best.end());
  const auto at = static_cast<std::size_t>(least - best.begin());
  return {*least, count[at] * kTileArea[at] * std::max(k, 32.0) / sm};
}

// Of TF32's kernels larger than 1x1: tiles of fewer than 64 columns cost as much as those of 64, and filling and
// draining one costs so much more depth. An A30 at its power limit hardly waits for a last wave: by the forward passes
// of 39 of 3x3, of which these constants are 7.5 % off, and those fitted to four fifths 6.9 % on the others
// (tools/fit/tf32_convolutions.py).
constexpr std::array<double, kTiles> kLargeArea = tile_areas({1.0, 0.84, 0.70, 0.84, 0.353, 0.42, 1.05, 1.05});
constexpr double kLargeFill = 100.0, kEvened = 0.8;

BusySms evened_sm(double m, double n, double k, double groups, double sm) {
  std::array<double, kTiles> waves{};
  std::array<double, kTiles> most{};
  const double depth = k + kLargeFill;
  for (std::size_t i = 0; i < kTiles; ++i) {
    waves[i] = groups * ceil_by_adding(m / kTileRows[i]) * ceil_by_adding(n / kTileColumns[i]) / sm;
    const double counted = waves[i] > 1.0 ? waves[i] : 1.0;
    most[i] = kLargeArea[i] * depth * ((1.0 - kEvened) * ceil_by_adding(waves[i]) + kEvened * counted);
  }
  const auto least = std::min_element(most.begin(), most.end());
  const auto at = static_cast<std::size_t>(least - most.begin());
  return {*least, kLargeArea[at] * depth * waves[at]};
}

// The numbers everything below is made of.
struct Sizes {
  double group_in, group_out, kernel, depth, places, in_places, macs, in, out, weight;
  bool simt;             // runs without tensor cores
  bool large;            // see is_large()
  double bytes, cached;  // moved by a pass, and from_l2() of them
};

Sizes sizes_of(const ConvWork& w) {
  Sizes s{};
  s.group_in = static_cast<double>(w.in_channels) / static_cast<double>(w.groups);
  s.group_out = static_cast<double>(w.out_channels) / static_cast<double>(w.groups);
  s.kernel = static_cast<double>(w.kernel_height * w.kernel_width);
  s.depth = s.group_in * s.kernel;
  s.places = static_cast<double>(w.batch) * static_cast<double>(w.out_height * w.out_width);
  s.in_places = static_cast<double>(w.batch) * static_cast<double>(w.in_height * w.in_width);
  s.macs = s.places * static_cast<double>(w.out_channels) * s.depth;
  s.in = s.in_places * static_cast<double>(w.in_channels);
  s.out = s.places * static_cast<double>(w.out_channels);
  s.weight = static_cast<double>(w.out_channels) * s.depth;
  return s;
}

bool is_tensor(const ConvWork& w) {
  return w.arithmetic != Arithmetic::kFp32 && w.arithmetic != Arithmetic::kFp64;
}

// Kernels for groups of few channels exist where these lie side by side, and for halves are worth the copies.
bool is_packed(const ConvWork& w) {
  return w.groups > 1 && (w.channels_last || w.element_bytes == 2);
}

// A layer on an image: so few channels that no kernel fills its tiles with them.
bool is_first(const ConvWork& w, const Sizes& s) {
  return s.group_in <= 4 && !(s.group_in == 1 && w.groups > 1) && !is_packed(w);
}

bool is_one_by_one(const ConvWork& w) {
  return w.kernel_height == 1 && w.kernel_width == 1;
}

// A product of the tensors as they lie in memory. Tensor kernels load four numbers at once: an odd number of places
// would misalign every other channel.
bool is_plain_product(const ConvWork& w) {
  return is_one_by_one(w) && w.stride == 1 && w.out_height * w.out_width % 4 == 0;
}

// TF32's kernels larger than 1x1 as frameworks find them: the best known on tensor cores, with constants of their own.
bool is_large(const ConvWork& w) {
  return w.arithmetic == Arithmetic::kTf32 && !w.autotuned && !is_one_by_one(w);
}

// Share of the peak that each pass reaches.
struct Efficiency {
  double forward, data, weight;
};

// Products of images that lie channels-last, relative to those between copies from and to channels-first. Fitted on
// timm's networks under autocast, RTX 3090 and 4090.
constexpr double kChannelsLastGain = 1.35;
// No kernel reaches more than this of the peak (and others their part of it): GeForce boards clock an eighth above what
// is listed of them. From the same networks: without it a 3090's are 1 to 2 % too fast.
constexpr double kMost = 1.25, kBest = 0.60;
// What kernels of 1x1 reach in halves of what the law has for others, whose depth is several times as long. Fitted on
// the same; steps of training, on which it was not, were as much too fast without it.
constexpr double kHalvesOneByOne = 0.84;

// What gradients reach at most; before that, of halves channels-last on NVIDIA's, as much as other passes. From steps
// of ResNet-50 and ResNeXt-101 that NVIDIA published of an A100 and a V100 (tools/fit/channels_last.py): with the
// shares of TF32's gradients they come out a tenth slower. On boards of GeForce this bound decides, as it did before.
constexpr double kMostBack = 0.94;

Efficiency tensor_efficiency(const ConvWork& w, const Sizes& s, const Device& device) {
  const double few_channels = s.large ? 0.5 : 0.28;  // up to 16 fill no tile
  const bool packed = is_packed(w);
  const bool first = is_first(w, s);
  const bool image_of_halves = first && w.element_bytes == 2;  // whose factor says it all
  const double few_out = s.group_out <= 16 && !packed && !image_of_halves ? few_channels : 1.0;
  const double few_in = s.group_in <= 16 && !first && !packed ? few_channels : 1.0;
  // Halves are copied to channels-last first, whose rows are aligned.
  const bool apart =
      is_one_by_one(w) && !is_plain_product(w) && !is_of_vectors(w) && !w.channels_last && w.element_bytes > 2;
  const double misaligned = apart ? 0.6 : 1.0;
  const double short_depth = is_one_by_one(w) && w.element_bytes == 2 ? kHalvesOneByOne : 1.0;
  const bool halves_last = w.channels_last && w.element_bytes == 2;
  const double lies = halves_last ? device.reach_last_at(w.arithmetic) : device.reach_at(w.arithmetic);
  const double gain = lies * (w.channels_last ? kChannelsLastGain : 1.0) * short_depth;
  const double reach = std::min(gain, kMost / kBest);
  if (s.large) return {kBest * reach * few_out, 0.53 * reach * few_in, 0.44 * reach};
  const double three = w.kernel_height == 3 && w.kernel_width == 3 && w.stride == 1 ? 1.12 : 1.0;
  const double forward = 0.50 * reach * three * (first ? 0.24 : 1.0) * few_out * misaligned;
  if (halves_last && device.capability > 0.0) {
    const double back = std::min(kBest * gain, kMostBack);
    return {forward, back * few_in, back};
  }
  return {forward, 0.45 * reach * few_in, 0.44 * reach};
}

// Seconds; the gradients' passes are 0 where there are none. `products` are without the bytes they move, `time` with
// them, and without tensor cores with what a pass takes beside.
struct Pass {
  double products = 0, time = 0;
  double mean = 0;  // products by the mean of all SMs
};
struct Passes {
  Pass forward, data, weight;
  SimtPass simt;  // of the forward pass, where it runs without tensor cores

  [[nodiscard]] double products() const { return forward.products + data.products + weight.products; }
  [[nodiscard]] double mean() const { return forward.mean + data.mean + weight.mean; }
  [[nodiscard]] double time() const { return forward.time + data.time + weight.time; }
};

// Layers on an image take the same time on an A30 whether TF32 is allowed or not: they run the same kernels, it seems.
// That layers whose output is an image do so too is a guess; tiles that a few channels fill cost more than they gain.
bool runs_simt(const ConvWork& w, const Sizes& s) {
  const bool last = w.groups == 1 && s.group_out <= 4 && !is_of_vectors(w);
  return !is_tensor(w) || (w.arithmetic == Arithmetic::kTf32 && (is_first(w, s) || last));
}

Passes simt(const ConvWork& w, const Device& device, Situation situation, bool training) {
  const SimtPasses found = simt_passes(w, device, training, situation.host == Host::kBare);
  const auto pass = [](const SimtPass& p) { return Pass{p.products, p.time, p.mean}; };
  Passes out{.forward = pass(found.forward), .data = {}, .weight = {}, .simt = found.forward};
  if (training) out.data = pass(found.data), out.weight = pass(found.weight);
  return out;
}

Passes tensor(const ConvWork& w, const Sizes& s, const Device& device, bool training) {
  const Efficiency e = tensor_efficiency(w, s, device);
  const auto groups = static_cast<double>(w.groups);
  const double per_sm = device.peak(w.arithmetic) / device.sm;
  const double moved = s.bytes * s.cached / device.bandwidth * 0.9;
  // They load asynchronously and overlap well.
  const auto pass = [&](const BusySms& busy, double efficiency) {
    const double products = busy.most / (per_sm * efficiency);
    return Pass{products, joined2(products, moved), busy.mean / (per_sm * efficiency)};
  };
  // Of vectors few tiles would do, so their depth is split: what an A30 draws for deep ones says so.
  const double split = is_of_vectors(w) ? 8.0 : 1.0;
  const auto flops = [&](double m, double n, double k) {
    return s.large ? evened_sm(m, n, k, groups, device.sm) : busiest_sm(m, n, k, groups, device.sm, split);
  };
  Passes out;
  out.forward = pass(flops(s.places, s.group_out, s.depth), e.forward);
  if (!training) return out;
  out.data = pass(flops(s.in_places, s.group_in, s.group_out * s.kernel / places_of_stride(w)), e.data);
  out.weight = pass(busiest_sm(s.group_out, s.depth, s.places, groups, device.sm, 64), e.weight);
  return out;
}

// cuDNN's depthwise kernels for halves that lie channels-last, relative to the law: fast ones for 3x3, 5x5 and 7x7, a
// slow one for the rest. From timm's networks on three GPUs (9x9: ConvMixer), channels-last and compiled.
double channels_last_depthwise(const ConvWork& w) {
  if (!w.channels_last || w.element_bytes != 2) return 1.0;
  const bool square = w.kernel_height == w.kernel_width;
  if (square && w.kernel_height == 7) return 0.28;
  return square && w.kernel_height <= 5 ? 0.6 : 4.2;
}

// PyTorch takes its own depthwise kernels for FP32 that lies channels-first, and always cuDNN's channels-last, whose
// gradients are slow, without TF32 very slow as soon as the images leave the L2. From steps of ConvNeXt (7x7) on A30
// (224 and 384 pixels) and RTX 2080 Ti: nobody measured them singly, and how sharply it goes is a guess. 3x3 and 5x5
// are as fast as channels-first, for PyTorch's compiler takes that layout of them to be the faster one.
double channels_last_gradients(const ConvWork& w, const Device& device) {
  constexpr double kSlow = 2.0, kVerySlow = 5.5;
  const bool slow = w.channels_last && w.element_bytes == 4 && std::max(w.kernel_height, w.kernel_width) > 5;
  if (!slow || device.capability <= 0.0) return 1.0;  // cuDNN is NVIDIA's
  const double images = 4.0 * static_cast<double>(w.batch) * static_cast<double>(w.in_channels) *
                        static_cast<double>(w.in_height * w.in_width);
  if (w.arithmetic == Arithmetic::kTf32) return kSlow;
  return kSlow + (kVerySlow - kSlow) * std::clamp(2.0 * (images / device.l2 - 1.0), 0.0, 1.0);
}

// What the power limit leaves of the clock, relative to the A30: depthwise kernels multiply on the lanes of FP32. Seen
// on an RTX PRO 6000 of 300 W in timm's networks; that boards of 70 W feel it as products do is a guess.
double depthwise_clock(const Device& device) {
  constexpr double kA30 = 0.9;
  if (device.capability <= 0.0) return 1.0;  // of AMD's nothing was measured under a limit
  return std::min(1.0, device.held_at(Arithmetic::kFp32) / kA30);
}

// Picoseconds a multiply-accumulate on an A30; other GPUs by the mean of their clock and bandwidth ratios.
double depthwise_compute(const ConvWork& w, const Sizes& s, const Device& device, bool training) {
  const double clock = device.clock * depthwise_clock(device);
  const double scale = std::sqrt(56 * 1.44e9 / (device.sm * clock) * 933e9 / device.bandwidth);
  const bool small = s.kernel <= 9;
  const double picoseconds = training ? (small ? 17.0 : 12.0) : (small ? 3.2 : 2.1);
  const double strided = w.stride > 1 ? (training ? 2.25 : 1.15) : 1.0;
  const double narrow = static_cast<double>(w.element_bytes) / 4.0;  // halves take half the time
  return s.macs * 1e-12 * scale * picoseconds * strided * narrow *
         (training ? channels_last_gradients(w, device) : channels_last_depthwise(w));
}

// TensorFlow's own kernels, which move what they read several times. The gradient of the filters is summed atomically,
// in few places: a sum takes a quarter of a cycle whatever the number of SMs, but for images that fit into a block.
// From MobileNetV2's steps in PROFET on T4, V100 and K80.
double tensorflow_depthwise(const ConvWork& w, const Sizes& s, const Device& device, bool training) {
  const double moved = (s.in + s.out) * static_cast<double>(w.element_bytes) / device.bandwidth;
  if (!training) return 1.8 * moved;
  const bool in_block = w.in_height <= 32 && w.in_width <= 32;
  return (1.8 + 4.5) * moved + s.macs * (in_block ? 0.05 : 0.28) / device.clock;
}

// What runs beside the products, in seconds: kernels that copy the tensors from NCHW to NHWC and back, which tensor
// kernels want, and the one that adds a bias, which reads and writes the output.
struct Beside {
  double copies = 0, gradient_copies = 0, bias = 0;
};

// Of the numbers in, out and of the filters, how many copies are made.
struct Copies {
  double in, out, weight = 0;
};

Copies forward_copies(const ConvWork& w, const Sizes& s) {
  if (s.large) return {2.25, 0.60, 1.1};
  if (!is_one_by_one(w)) return {1.15, 0.60};
  if (is_plain_product(w)) return {0.10, 0.10};
  return w.stride > 1 ? Copies{0.42, 0.93} : Copies{0.28, 0.47};
}
Copies gradient_copies(const ConvWork& w) {
  if (!is_one_by_one(w)) return {1.15, 0.60};
  return is_plain_product(w) ? Copies{0.10, 0.10} : Copies{0.65, 0.95};
}

// Numbers that the layer makes.
double made(const ConvWork& w, const Sizes& s) {
  return w.transposed ? s.in : s.out;
}

Beside beside(const ConvWork& w, const Sizes& s, const Device& device, bool training) {
  const double second_per_element = static_cast<double>(w.element_bytes) / device.bandwidth;
  Beside out;
  if (w.bias != 0) out.bias = 2.2 * made(w, s) * second_per_element;
  if (s.simt || w.channels_last) return out;
  const auto time = [&](const Copies& c) {
    return (c.in * s.in + c.out * s.out + c.weight * s.weight) * second_per_element * s.cached;
  };
  out.copies = time(forward_copies(w, s));
  if (training) out.gradient_copies = 4.6 * time(gradient_copies(w));
  return out;
}

// Seconds a pass on tensor cores takes beside its products and bytes. Of vectors seen on an A30 alone.
double latency(const ConvWork& w, const Sizes& s, const Device& device) {
  if (s.simt) return 0.0;  // its passes have their own
  if (is_of_vectors(w) && device.start > 0.0) return device.start;
  if (w.channels_last) return 10e-6;  // no copies: timm's networks on an RTX 4090 are nearer by it than by 22.8
  return s.large ? 14e-6 : 22.8e-6;
}

// Gradients that are added up, not set, relative to their bytes at full bandwidth.
constexpr double kAddedUp = 1.1;

// Small images in TF32 on an A30 take no less than this a pass, whatever their products: copies there and back, and of
// the filters, are kernels that wait for each other. Of halves nobody measured it.
double least_pass(const ConvWork& w, const Sizes& s, const Device& device, Host who) {
  constexpr double kStarts = 11.0;
  const bool copied = s.large && !s.simt && !w.channels_last;
  return copied ? started(kStarts, device, who) : 0.0;
}

double dense_time(const ConvWork& w, const Sizes& s, const Passes& pass, const Beside& more, const Device& device,
                  Situation situation) {
  const bool training = situation.state == State::kTraining;
  const double second_per_element = static_cast<double>(w.element_bytes) / device.bandwidth;
  const double least = least_pass(w, s, device, situation.host) * (training ? 3.0 : 1.0);
  double time = pass.time() + more.copies + more.bias + latency(w, s, device);
  if (!training) return std::max(time, least);
  time = std::max(time + 2.0 * latency(w, s, device), least);
  time += more.gradient_copies;                              // both gradients' operands and results
  if (w.bias != 0) time += made(w, s) * second_per_element;  // its gradient is a sum over the output's
  if (w.autotuned) return time;
  return time + kAddedUp * 3.0 * (s.in + s.weight) * second_per_element;
}

// What of a training step's time makes the gradient of the input: its pass, and half of both gradients' copies.
double input_gradient(const ConvWork& w, const Sizes& s, const Passes& pass, const Beside& more, const Device& device) {
  return pass.data.time + 0.5 * more.gradient_copies + latency(w, s, device);
}

void append_features(const ConvWork& work, const Device& device, Situation situation, const Sizes& s,
                     const Passes& pass, const Beside& more, const Physics& p, std::span<float> features) {
  const auto size = static_cast<double>(work.element_bytes);
  const double ideal = 2.0 * s.macs * (situation.state == State::kTraining ? 3.0 : 1.0) / p.peak;
  const std::int64_t places = work.out_height * work.out_width;
  const auto of_bound = [&](double time) { return s.simt && std::isfinite(time) ? time / p.bound : 0.0; };
  const double values[] = {p.compute / p.bound,
                           p.bytes / device.bandwidth / p.bound,
                           p.host / p.bound,
                           p.host / p.gpu,
                           pass.forward.products / p.bound,
                           pass.data.products / p.bound,
                           pass.weight.products / p.bound,
                           ideal / p.bound,
                           s.group_out,
                           static_cast<double>(work.groups),
                           s.group_in,
                           static_cast<double>(work.kernel_height),
                           static_cast<double>(work.kernel_width),
                           static_cast<double>(work.stride),
                           static_cast<double>(places),
                           power_of_two_in(work.in_channels / work.groups, 64),
                           power_of_two_in(work.out_channels / work.groups, 64),
                           power_of_two_in(work.in_width, 8),
                           power_of_two_in(places, 16),
                           size * s.in / device.l2,
                           size * s.out / device.l2,
                           size * s.weight / device.l2,
                           situation.host == Host::kBare ? -1.0 : static_cast<double>(situation.state),
                           is_tensor(work) ? 1.0 : 0.0,
                           static_cast<double>(work.bias),
                           more.copies / p.bound,
                           more.bias / p.bound,
                           of_bound(pass.simt.implicit),
                           of_bound(pass.simt.fused),
                           of_bound(pass.simt.tiled)};
  static_assert(std::size(values) == kConvFeatures.size());
  write_features(values, features);
}

struct Timed {
  Passes pass;
  Beside more;
  Physics physics;
};

Timed timed(const ConvWork& work, const Sizes& s, const Device& device, Situation situation) {
  const bool training = situation.state == State::kTraining;
  const auto size = static_cast<double>(work.element_bytes);
  Timed out{.pass = s.simt ? simt(work, device, situation, training) : tensor(work, s, device, training),
            .more = beside(work, s, device, training),
            .physics = {}};
  Physics& p = out.physics;
  p.peak = device.peak(work.arithmetic);
  const double added_up = training && !work.autotuned ? 3.0 * size * (s.in + s.weight) : 0.0;
  p.accumulation = kAddedUp * added_up / device.bandwidth;
  p.bytes = s.bytes * (training ? 3.0 : 1.0) + added_up;
  p.memory = memory_busy(p.bytes, s.cached, training, device);
  p.host = host_floor(work, device, situation);
  if (s.group_in == 1 && work.groups > 1) {  // depthwise
    p.compute =
        work.autotuned ? tensorflow_depthwise(work, s, device, training) : depthwise_compute(work, s, device, training);
    p.gpu = std::max(p.compute, p.bytes / device.bandwidth * 1.1) + 3e-6;
    if (training) p.input_gradient = 0.5;  // nobody measured the passes apart
  } else {
    p.compute = out.pass.products();
    p.mean_compute = out.pass.mean();
    p.gpu = dense_time(work, s, out.pass, out.more, device, situation);
    if (training) p.input_gradient = input_gradient(work, s, out.pass, out.more, device) / (p.gpu - p.accumulation);
  }
  // A bare benchmark does more than call: what it does beside takes GPU time (see host.cpp).
  p.bound = situation.host == Host::kBare ? p.gpu + p.host : joined8(p.gpu, p.host);
  return out;
}

Physics with_features(const ConvWork& work, const Device& device, Situation situation, std::span<float> features) {
  Sizes s = sizes_of(work);
  s.simt = runs_simt(work, s);
  s.large = is_large(work);
  s.bytes = (s.in + s.out + s.weight) * static_cast<double>(work.element_bytes);
  s.cached = from_l2(s.bytes, device);
  const Timed found = timed(work, s, device, situation);
  append_features(work, device, situation, s, found.pass, found.more, found.physics, features);
  return found.physics;
}

}  // namespace

Physics physics_of(const ConvWork& work, const Device& device, Situation situation, std::span<float> features) {
  return seen_channels_first(work, features, [&](const ConvWork& w, std::span<float> out) {
    return with_features(w, device, situation, out);
  });
}

}  // namespace joulecast
