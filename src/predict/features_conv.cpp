// SPDX-License-Identifier: Apache-2.0
// Convolutions: implicit products on the SMs in whole waves of tiles, Winograd and FFT where cuDNN has them, depthwise
// kernels at a rate of their own. Constants fitted on measured operations of A30 (TF32 and FP32) and RTX 2080 Ti.
#include <algorithm>
#include <array>
#include <limits>

#include "predict/feature_lists.h"
#include "predict/law.h"

namespace joulecast {

const std::array<std::string_view, 27> kConvFeatures{
    "compute",       "memory",      "host",         "host_per_gpu", "forward",       "data_gradient", "weight_gradient",
    "ideal",         "group_out",   "groups",       "group_in",     "kernel_height", "kernel_width",  "stride",
    "out_places",    "p2_group_in", "p2_group_out", "p2_width",     "p2_out_places", "in_per_l2",     "out_per_l2",
    "weight_per_l2", "state",       "tensor",       "bias",         "copies",        "bias_pass"};

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

// Flops of the busiest SM, over the best of tiles and of splits of the depth up to `max_split`. Loops over tiles stand
// inside: they are the inner loop of every prediction.
double busiest_sm(double m, double n, double k, double groups, double sm, double max_split) {
  std::array<double, kTiles> tiles{};
  std::array<double, kTiles> best{};
  for (std::size_t i = 0; i < kTiles; ++i) {
    tiles[i] = groups * ceil_by_adding(m / kTileRows[i]) * ceil_by_adding(n / kTileColumns[i]);
    best[i] = std::numeric_limits<double>::infinity();
  }
  double part = k;
  for (double split = 1; split <= max_split; split *= 2) {
    const double depth = std::max(part, 32.0);
    for (std::size_t i = 0; i < kTiles; ++i) {
      const double area = 2.0 * kTileRows[i] * kTileColumns[i] / kTileEfficiency[i];
      const double flops = ceil_by_adding(tiles[i] / sm) * area * depth;
      best[i] = flops < best[i] ? flops : best[i];
      tiles[i] *= 2.0;
    }
    if (part <= 32.0) break;
    part *= 0.5;
  }
  return *std::min_element(best.begin(), best.end());
}

// The numbers everything below is made of.
struct Sizes {
  double group_in, group_out, kernel, depth, places, in_places, macs, in, out, weight;
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

// A layer on an image: so few channels that no kernel fills its tiles with them.
bool is_first(const ConvWork& w, const Sizes& s) {
  return s.group_in <= 4 && !(s.group_in == 1 && w.groups > 1);
}

bool is_one_by_one(const ConvWork& w) {
  return w.kernel_height == 1 && w.kernel_width == 1;
}

// A product of the tensors as they lie in memory. Tensor kernels load four numbers at once: an odd number of places
// would misalign every other channel.
bool is_plain_product(const ConvWork& w) {
  return is_one_by_one(w) && w.stride == 1 && w.out_height * w.out_width % 4 == 0;
}

// Share of the peak that each pass reaches.
struct Efficiency {
  double forward, data, weight;
};

Efficiency tensor_efficiency(const ConvWork& w, const Sizes& s, const Device& device) {
  constexpr double kFewChannels = 0.28;  // up to 16 fill no tile
  const bool first = is_first(w, s);
  const double few_out = s.group_out <= 16 ? kFewChannels : 1.0;
  const double few_in = s.group_in <= 16 && !first ? kFewChannels : 1.0;
  const double misaligned = is_one_by_one(w) && !is_plain_product(w) ? 0.6 : 1.0;
  const double reach = device.reach_at(w.arithmetic);
  return {0.50 * reach * (first ? 0.24 : 1.0) * few_out * misaligned, 0.45 * reach * few_in, 0.44 * reach};
}

Efficiency simt_efficiency(const ConvWork& w, const Sizes& s) {
  const std::int64_t longest = std::max(w.kernel_height, w.kernel_width);
  const std::int64_t shortest = std::min(w.kernel_height, w.kernel_width);
  // Only FP32 has the fast algorithms: FP64 networks on GeForce cards take twice what they would give.
  const bool fast = w.arithmetic == Arithmetic::kFp32;
  const bool winograd = fast && longest == 3 && shortest == 3 && w.stride == 1 && w.groups == 1 &&
                        w.in_channels >= 16 && w.in_height >= 7;
  const bool aligned = w.in_channels / w.groups % 8 == 0 && w.out_channels / w.groups % 8 == 0;
  const double fft = fast && shortest >= 5 && shortest == longest && w.stride == 1 ? 2.0 : 1.0;
  const double line = fast && longest >= 5 && shortest == 1 ? 1.6 : 1.0;  // 1x7 and 7x1
  const double forward = winograd ? (aligned ? 2.05 : 1.25) : 1.0;
  const double data = winograd ? (aligned ? 2.05 : 1.4) : 1.0;
  const double early = is_first(w, s) ? 3.9 : 1.0;
  return {0.87 * forward * fft * line, 0.78 * data * fft * line * early, 0.72 * fft * early};
}

struct Passes {
  double forward = 0, data = 0, weight = 0;
};

// The gradients' passes are 0 where there are none.
Passes dense_passes(const ConvWork& w, const Sizes& s, const Device& device, double peak, bool training) {
  const Efficiency e = is_tensor(w) ? tensor_efficiency(w, s, device) : simt_efficiency(w, s);
  const auto groups = static_cast<double>(w.groups);
  const auto stride = static_cast<double>(w.stride);
  const double per_sm = peak / device.sm;
  Passes out;
  out.forward = busiest_sm(s.places, s.group_out, s.depth, groups, device.sm, 1) / (per_sm * e.forward);
  if (!training) return out;
  out.data = busiest_sm(s.in_places, s.group_in, s.group_out * s.kernel / (stride * stride), groups, device.sm, 1) /
             (per_sm * e.data);
  out.weight = busiest_sm(s.group_out, s.depth, s.places, groups, device.sm, 64) / (per_sm * e.weight);
  return out;
}

// Picoseconds a multiply-accumulate on an A30; other GPUs by the mean of their clock and bandwidth ratios.
double depthwise_compute(const ConvWork& w, const Sizes& s, const Device& device, bool training) {
  const double scale = std::sqrt(56 * 1.44e9 / (device.sm * device.clock) * 933e9 / device.bandwidth);
  const bool small = s.kernel <= 9;
  const double picoseconds = training ? (small ? 17.0 : 12.0) : (small ? 3.2 : 2.1);
  const double strided = w.stride > 1 ? (training ? 2.25 : 1.15) : 1.0;
  const double narrow = static_cast<double>(w.element_bytes) / 4.0;  // halves take half the time
  return s.macs * 1e-12 * scale * picoseconds * strided * narrow;
}

// What runs beside the products of the forward pass, in seconds: kernels that copy the tensors from NCHW to NHWC and
// back, which tensor kernels want, and the one that adds a bias, which reads and writes the output.
struct Beside {
  double copies = 0, bias = 0;
};

Beside beside(const ConvWork& w, const Sizes& s, const Device& device) {
  const double second_per_element = static_cast<double>(w.element_bytes) / device.bandwidth;
  Beside out;
  if (w.bias != 0) out.bias = 2.2 * s.out * second_per_element;
  if (!is_tensor(w)) return out;
  const double in = is_plain_product(w) ? 0.10 : is_one_by_one(w) ? 0.65 : 1.15;
  const double back = is_plain_product(w) ? 0.10 : is_one_by_one(w) ? 0.95 : 0.60;
  out.copies = (in * s.in + back * s.out) * second_per_element;
  return out;
}

// joined() with p = 4/3, in roots instead of powers: tiles compute while others load, but not all of the time.
double overlapped(double a, double b) {
  const double larger = std::max(a, b);
  if (larger <= 0.0) return 0.0;
  const double ratio = std::min(a, b) / larger;
  const double root = std::sqrt(1.0 + ratio * std::cbrt(ratio));
  return larger * root * std::sqrt(root);
}

double dense_time(const ConvWork& w, const Sizes& s, const Passes& pass, const Beside& more, const Device& device,
                  bool training) {
  const double second_per_element = static_cast<double>(w.element_bytes) / device.bandwidth;
  const bool tensor = is_tensor(w);
  const double moved = (s.in + s.out + s.weight) * second_per_element * 0.9;
  const double latency = tensor ? 22.8e-6 : 20.4e-6;
  // Tensor kernels load asynchronously and overlap better.
  const auto with_traffic = [&](double products) {
    return tensor ? joined2(products, moved) : overlapped(products, moved);
  };
  double time = with_traffic(pass.forward) + more.copies + more.bias + latency;
  if (!training) return time;
  time += with_traffic(pass.data) + with_traffic(pass.weight) + 2.0 * latency;
  time += 4.6 * more.copies;                                         // both gradients' operands and results
  if (w.bias != 0) time += s.out * second_per_element;               // its gradient is a sum over the output's
  return time + 3.0 * (s.in + s.weight) * second_per_element * 1.1;  // gradients added up, not set
}

void append_features(const ConvWork& work, const Device& device, Situation situation, const Sizes& s,
                     const Passes& pass, const Beside& more, const Physics& p, std::span<float> features) {
  const auto size = static_cast<double>(work.element_bytes);
  const double ideal = 2.0 * s.macs * (situation.state == State::kTraining ? 3.0 : 1.0) / p.peak;
  const std::int64_t places = work.out_height * work.out_width;
  const double values[] = {p.compute / p.bound,
                           p.memory / p.bound,
                           p.host / p.bound,
                           p.host / p.gpu,
                           pass.forward / p.bound,
                           pass.data / p.bound,
                           pass.weight / p.bound,
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
                           static_cast<double>(situation.state),
                           is_tensor(work) ? 1.0 : 0.0,
                           static_cast<double>(work.bias),
                           more.copies / p.bound,
                           more.bias / p.bound};
  static_assert(std::size(values) == kConvFeatures.size());
  write_features(values, features);
}

}  // namespace

Physics physics_of(const ConvWork& work, const Device& device, Situation situation, std::span<float> features) {
  const bool training = situation.state == State::kTraining;
  const Sizes s = sizes_of(work);
  const auto size = static_cast<double>(work.element_bytes);
  Physics p;
  p.peak = device.peak(work.arithmetic);
  const Passes pass = dense_passes(work, s, device, p.peak, training);
  p.accumulation_bytes = training ? 3.0 * size * (s.in + s.weight) : 0.0;
  p.bytes = size * (s.in + s.out + s.weight) * (training ? 3.0 : 1.0) + p.accumulation_bytes;
  p.memory = p.bytes / device.bandwidth;
  p.host = host_floor(work, device, situation);
  const Beside more = beside(work, s, device);
  if (s.group_in == 1 && work.groups > 1) {  // depthwise
    p.compute = depthwise_compute(work, s, device, training);
    p.gpu = std::max(p.compute, p.memory * 1.1) + 3e-6;
  } else {
    p.compute = pass.forward + (training ? pass.data + pass.weight : 0.0);
    p.gpu = dense_time(work, s, pass, more, device, training);
  }
  p.bound = joined8(p.gpu, p.host);
  append_features(work, device, situation, s, pass, more, p, features);
  return p;
}

}  // namespace joulecast
