// SPDX-License-Identifier: Apache-2.0
// Small laws that several bounds share.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "predict/physics.h"

namespace joulecast {

// std::ceil for 0 <= x: the baseline instruction set has no rounding, and the library call is the dearest part of the
// loops over tiles. From 2^52 on every double is whole, and work of absurd sizes gets there.
inline double ceil_fast(double x) {
  if (x >= 0x1p52) return x;
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  return whole + (whole < x ? 1.0 : 0.0);
}

inline double ceil_div(double a, double b) {
  return ceil_fast(a / b);
}

// (a^p + b^p)^(1/p): the larger of two times, rounded where they meet.
inline double joined(double a, double b, double p) {
  const double larger = std::max(a, b);
  if (larger <= 0.0) return 0.0;
  const double ratio = std::min(a, b) / larger;
  // Far apart the smaller one adds less than a float can show.
  if (ratio < 1e-4 && p >= 2.0) return larger;
  return larger * std::pow(1.0 + std::pow(ratio, p), 1.0 / p);
}
// p = 2^kSquares, as the call and the GPU meet: squares and roots instead of powers.
template <int kSquares>
double joined_by_squares(double a, double b) {
  const double larger = std::max(a, b);
  if (larger <= 0.0) return 0.0;
  double power = std::min(a, b) / larger;
  for (int i = 0; i < kSquares; ++i) power *= power;
  double root = 1.0 + power;
  for (int i = 0; i < kSquares; ++i) root = std::sqrt(root);
  return larger * root;
}
inline double joined2(double a, double b) {
  return joined_by_squares<1>(a, b);
}
inline double joined8(double a, double b) {
  return joined_by_squares<3>(a, b);
}
inline double joined16(double a, double b) {
  return joined_by_squares<4>(a, b);
}

// As floats, to the front of `features`.
template <std::size_t kCount>
void write_features(const double (&values)[kCount], std::span<float> features) {
  for (std::size_t i = 0; i < kCount; ++i) features[i] = static_cast<float>(values[i]);
}

// The largest power of two that divides x, at most `limit`.
inline double power_of_two_in(std::int64_t x, std::int64_t limit) {
  if (x <= 0) return 1.0;
  return static_cast<double>(std::min(x & -x, limit));
}

// How full the last wave of `ctas` on the SMs is: 1 for whole waves.
inline double quantisation(double waves) {
  return waves / ceil_fast(waves);
}

// Of CDNA, fitted on the MI100: the share of the bandwidth that streams reach.
inline constexpr double kCdnaStreamed = 0.8;

// Of the bandwidth, what kernels reach that read two tensors and write one; those that read one reach 0.9 everywhere.
// From A30 and NeuSight's A100s; P100, V100, T4 and RTX 2080 Ti.
inline double two_read(const Device& device) {
  if (device.capability <= 0.0) return 0.9;  // unknown, or another vendor's
  return device.capability >= 8.0 ? 0.875 : 0.925;
}

// Of the time of kernels that wait in a queue, what they take beside their work. Bare loops wait for each call instead.
// Captured kernels have a floor and nothing on top: their tables were fitted so.
inline double started(double kernels, const Device& device, Host who) {
  return who == Host::kCaptured || who == Host::kBare ? 0.0 : kernels * device.start;
}

// The gradient of the input, of so many bytes to move, added to what is there.
inline double accumulation_time(double bytes, const Device& device, Host who) {
  if (bytes <= 0.0) return 0.0;
  const double streams = device.cdna ? kCdnaStreamed : two_read(device);
  return bytes / (streams * device.bandwidth) + started(1.0, device, who);
}

// The share of its time from memory that a pass takes of which what it reads and writes fits into the L2: on an A30 a
// little of 16.6 MB, all of 13 MB. Half is a guess: there the host hides what is faster.
inline double from_l2(double bytes, const Device& device) {
  constexpr double kNone = 0.72, kRange = 0.2, kSaved = 0.5;
  const double share = bytes / device.l2;
  return share >= kNone ? 1.0 : 1.0 - kSaved * std::min(1.0, (kNone - share) / kRange);
}

// Seconds for which a call's bytes keep the memory busy, which power follows. In inference what fits into the L2 is
// there from the call before, and they take the share `cached`; in training gradients lie between. As A30s draw.
inline double memory_busy(double bytes, double cached, bool training, const Device& device) {
  return (training || device.cdna ? 1.0 : cached) * (bytes / device.bandwidth);
}

// Between a framework's calls the GPU waits; captured kernels follow each other, and loops were measured without power.
inline bool waits_for_calls(Host who) {
  return who == Host::kModern || who == Host::kOlder;
}

// A call by itself that moves memory or, in a bare loop, multiplies, from the GPU's and the host's part. A lone kernel
// of CDNA takes 9 us to start and end; behind each other, in a network, they do not. A bare loop waits for each call,
// so of what the call takes the GPU waits for a share before it begins and after it ends: from NeuSight's six GPUs.
inline constexpr double kWaitedShare = 0.45;
inline double call_time(double gpu, double host, const Device& device, Host who, double waited = kWaitedShare) {
  constexpr double kCdnaStart = 14000.0;  // cycles
  if (device.cdna && gpu > 0.0) return joined(gpu + kCdnaStart / device.clock, host, 3.0);
  return joined16(who == Host::kBare ? gpu + waited * host + device.start : gpu, host);
}

// How often each of the 1024 threads of a block of vLLM's norms and gated activations takes a number of its row.
inline double engine_turns(double columns) {
  return std::ceil(columns / 1024.0);
}

// Time to move `bytes` when a working set of `set` bytes partly stays in the L2.
double memory_time(double bytes, double set, const Device& device, double streamed);

// What large products get of the peak: the power limit takes some of it; half-rate tensor units are never starved, and
// GeForce boards clock higher than their boost says. Flops per second.
double sustained_peak(Arithmetic arithmetic, const Device& device);

// Flops or seconds of the busiest SM, and of all by their mean: what the last wave leaves idle draws little power.
struct BusySms {
  double most = std::numeric_limits<double>::infinity(), mean = std::numeric_limits<double>::infinity();

  [[nodiscard]] BusySms operator*(double by) const { return {most * by, mean * by}; }
};

// Best time of a tiled product over tile shapes and splits of its depth, with what was chosen.
struct TileChoice {
  double time = 0, area = 0, split = 1, waves = 0;
};
// Hopper's and the data-centre Blackwell's matrix instructions run beside the loads and stores of other warps; those of
// Ampere, Ada and the other Blackwell do not.
inline bool has_asynchronous_products(const Device& device) {
  return device.capability >= 9.0 && device.capability < 12.0;
}

// Where the rows of both factors and of the product of a layer begin.
enum class RowStart : std::uint8_t {
  kWhole,  // at whole vectors of 16 bytes, or of 8 where instructions of Ampere's kind do
  kHalf,   // at 8 bytes, which Hopper's copies do not take
  kOdd,    // anywhere
};
struct Factors {
  bool layer = false;  // the second factor is a weight, which lies by columns
  RowStart rows = RowStart::kWhole;
};
TileChoice tile_product(double batch, double rows, double columns, double depth, Arithmetic arithmetic,
                        const Device& device, Factors factors = {});

// A kernel's tile of the result.
struct TileShape {
  double rows, columns;
  double few = 0;  // how much longer it takes alone on an SM, of few warps
};
// Of a convolution by Winograd: `batch` products in the best of `tiles`, at `rate` (flops per second) for tiles without
// end.
BusySms winograd_products(double batch, double rows, double columns, double depth, std::span<const TileShape> tiles,
                          double rate, const Device& device);

// `law(work, features)`, whose trees see images as all that were measured lay, channels-first: what they find holds for
// the other law as well.
template <typename W, typename Law>
Physics seen_channels_first(const W& work, std::span<float> features, const Law& law) {
  if (!work.channels_last) return law(work, features);
  W measured = work;
  measured.channels_last = false;
  law(measured, features);
  std::array<float, kMaxFeatures> unused{};
  return law(work, std::span<float>(unused));
}

// Of all steps of a recurrent layer; features are those of one step's product.
Physics recurrent(const GemmWork& work, const Device& device, Situation situation, std::span<float> features);

// What a call costs on the host, before the GPU works (seconds).
double host_floor(const Work& work, const Device& device, Situation situation);

// The same within a network of a runtime that does not call as the operation benchmark does.
std::optional<double> network_call(Runtime runtime, const Work& work, State state);

}  // namespace joulecast
