// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "predict/board_power.h"
#include "predict/physics.h"

namespace joulecast {
namespace {

double value_or_zero(const std::optional<FlopsPerSecond>& peak) {
  return peak ? peak->value() : 0.0;
}

// Work that keeps all units busy draws so much that the clock falls below boost: phi = (1 + (rho / rho0)^4)^(-1 / 4),
// where rho is the rate at boost clock for each watt of the power limit, in TFLOP/s: one whose limit is far too low for
// its boost clock keeps rho0 a watt, whichever it is. It is a matter of how chips are made, and of how they multiply.
double held_fraction(double peak, double limit, double rho0) {
  const double rho = peak / 1e12 / limit / rho0;
  return 1.0 / std::sqrt(std::sqrt(1.0 + rho * rho * rho * rho));
}

// From P100, V100, P4, T4 and A100; from Samsung's 8 nm and TSMC's 4 nm on from square products on 22 boards
// (tools/fit/power_limit.py).
double fp32_rho0(double capability) {
  if (capability >= 8.9) return 0.15;
  if (capability >= 8.6) return 0.093;
  return capability >= 8.0 ? 0.0737 : 0.07;
}

// Of halves, from the same square products. TF32 takes twice the energy, FP8 half, FP4 0.43 (from a B200 alone). Of
// other vendors nothing was measured under a limit: a guess.
double tensor_rho0(double capability) {
  if (capability >= 12.0) return 1.05;
  if (capability >= 10.0) return 2.4;
  if (capability >= 9.0) return 2.0;
  if (capability >= 8.9) return 1.05;
  if (capability >= 8.0) return 1.3;
  return capability > 0.0 ? 0.55 : 1.8;
}

// Of the peak in FP32, what kernels reach that feed an SM of 128 lanes from registers and shared memory made for 64: of
// GA10x, Hopper, Ada and the other Blackwell. The data-centre Blackwell can issue two multiplications at once. From
// square products on boards among them whose limit is high; of the data-centre Blackwell on one B200.
double fed_lanes(double capability) {
  if (capability >= 10.0 && capability < 12.0) return 0.89;
  return capability >= 8.6 ? 0.77 : 1.0;
}

// A chip whose limit is generous does not come to it: FP32 on all lanes at boost clock draws `kDrawn` times what the
// law of clocks has for the limit at which it would slow down. From decoders of HW-GPT-Bench on a P100, 0.78 of whose
// limit they draw where they come to 0.96 to 0.98 of a V100's, A40's and RTX 3080's. Of Maxwell and before nothing is
// known.
double needed_share(double peak, double limit, double capability) {
  constexpr double kDrawn = 1.43;
  if (capability < 6.0) return 1.0;
  return std::min(1.0, kDrawn * peak / 1e12 / limit / fp32_rho0(capability));
}

double parse_capability(std::string_view text) {
  double value = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void hold(Device& device) {
  const auto set = [&](Arithmetic arithmetic, double peak, double rho0) {
    device.held[static_cast<std::size_t>(arithmetic)] = held_fraction(peak, device.limit, rho0);
  };
  device.fed = fed_lanes(device.capability);
  set(Arithmetic::kFp32, device.fp32 * device.fed, fp32_rho0(device.capability));
  device.needed = needed_share(device.fp32 * device.fed, device.limit, device.capability);
  const double rho0 = tensor_rho0(device.capability);
  set(Arithmetic::kTf32, device.tf32, rho0 / 2.0);
  set(Arithmetic::kFp16, device.fp16, rho0);
  set(Arithmetic::kBf16, device.bf16, rho0);
  set(Arithmetic::kFp8, device.fp8, rho0 * 2.0);
  set(Arithmetic::kFp4, device.fp4, rho0 / 0.43);
}

// Flops a clock and SM of the A30's TF32 units, where convolutions reach the law's share of the peak, and what they
// keep of their clock there. GeForce boards add up in FP32 at half the rate (512) and come near it, Hopper's 4096 are
// out of reach. Exponent fitted on 230 networks of timm under autocast: RTX 3090 and 4090 against an RTX PRO 6000 of
// 300 W.
constexpr double kA30Tf32 = 82e12 / (56 * 1.44e9);
constexpr double kA30Held = 0.929148;
// What the tensor units of Volta and Turing, which wait for what they load, reach of that. From torchvision's networks
// in halves on a TITAN V and RTX 2080 Ti.
constexpr double kWithoutAsynchronousLoads = 0.8;
// The same of images of halves that lie channels-last, whose rows their loads take whole. With the power of the width
// in set_reach() from what NVIDIA published of an A100, V100 and T4 (tools/fit/channels_last.py).
constexpr double kWithoutAsynchronousLoadsLast = 0.9;

// As many halves as take the room of one number.
double halves_of(Arithmetic tensor) {
  return tensor == Arithmetic::kTf32 ? 2.0 : tensor == Arithmetic::kFp8 ? 0.5 : 1.0;
}

// Of a Kepler's bandwidth: with error correction, and caches that do not hold what kernels read. Fitted on a K80.
constexpr double kKeplerStreams = 0.62;

// Of the bandwidth of the P100, and of boards whose GDDR holds the codes of error correction between the data: what
// their kernels that only move memory get, relative to those of other GPUs. From P100, P4 and T4; newer boards from an
// A40.
constexpr double kCodedStreams = 0.81;
constexpr double kNewerCodedStreams = 0.91;

// From one kernel's last bytes to the next one's first at full bandwidth, for kernels that wait in a queue. ReLU's time
// on an A30 is 4.0 us and its bytes at 0.9 of the bandwidth, to 0.1 %; on an RTX 2080 Ti 1.4 us; GELU's half a
// microsecond to one more on both. What makes the difference is not known. The kind of memory stands for it, as in
// NeuSight's loops A100 and V100 differ from T4 and P4, and decoders of HW-GPT-Bench on V100, A100 and P100 gain by it;
// those on an H100 lose, so Hopper and later count with the others.
double kernel_start(const Gpu& gpu, double capability) {
  return gpu.memory_type.starts_with("HBM") && capability < 9.0 ? 4.0e-6 : 1.4e-6;
}

// Bytes a cycle and SM that kernels with a number a thread cannot ask for: between those of an A30 (11.6), whose batch
// norm they slow down, and of an RTX 2080 Ti (5.9) and TITAN V (5.6), by whose networks they do not.
bool has_much_bandwidth(const Gpu& gpu, Hertz boost) {
  return gpu.memory_bandwidth.value() / (gpu.sm_count * boost.value()) > 9.0;
}

// What nvidia-smi lists of such a board is 15/16 of the memory it has, whose gigabytes are of 2^30 bytes.
bool codes_between_data(const Gpu& gpu) {
  constexpr double kBinary = 1.073741824;
  return gpu.memory_type.starts_with("GDDR") && gpu.memory_total &&
         gpu.memory_total->value() < 0.945 * kBinary * gpu.memory.value();
}

// What a GPU draws while it waits for work, its clocks up, is far above what it does idle: of the default limit an A30
// 0.20, an H200 0.18 and a B200 0.24 (the least of thousands of small kernels), boards whose memory is GDDR more: an
// A40 0.28 to 0.30, an RTX 2080 Ti 0.26 in training, where it sleeps between calls, 0.40 else. A quarter lies below all
// that was measured, and what is learnt counts from there.
double awake_power(const Gpu& gpu, double idle, double limit) {
  constexpr double kStacked = 0.2, kGddr = 0.25, kMost = 0.8;
  const double share = gpu.memory_type.starts_with("GDDR") ? kGddr : kStacked;
  return std::max(idle, std::min(share * gpu.power_limit.value(), kMost * limit));
}

// Of what boards are taken to wait at, the least that thousands of small kernels draw: on an H200.
constexpr double kLeast = 0.9;

void set_reach(Device& device) {
  for (const Arithmetic tensor : {Arithmetic::kTf32, Arithmetic::kFp16, Arithmetic::kBf16, Arithmetic::kFp8}) {
    const double peak = device.peak(tensor);
    if (peak <= 0.0) continue;
    const auto at = static_cast<std::size_t>(tensor);
    const double width = peak / (device.sm * device.clock);
    const double root = std::sqrt(kA30Tf32 / width);
    const double narrow = std::clamp(root * std::sqrt(root), 0.3, 1.8);  // to the power 3/4
    const double narrower = kA30Tf32 / (width * halves_of(tensor));
    if (narrower > 1.0) device.easy[at] = std::min(std::pow(narrower, 0.39), 1.42);  // else 1, without a slow pow
    const double held = device.held[at] / kA30Held;
    device.reach[at] = device.reach_last[at] = narrow * held;
    if (device.capability <= 0.0) continue;
    if (narrow < 1.0) device.reach_last[at] = std::sqrt(narrow) * held;  // to the power 3/8
    if (device.capability >= 8.0) continue;
    device.reach[at] *= kWithoutAsynchronousLoads;
    device.reach_last[at] *= kWithoutAsynchronousLoadsLast;
  }
}

// They scale with the clock. Requires: the GPU has an FP32 peak.
void set_peaks(Device& device, const Gpu& gpu, double slower) {
  device.fp64 = value_or_zero(gpu.fp64_peak) * slower;
  device.fp32 = gpu.fp32_peak->value() * slower;
  device.fp32_matrix = value_or_zero(gpu.fp32_tensor_peak) * slower;
  device.tf32 = value_or_zero(gpu.tf32_peak) * slower;
  device.fp16 = value_or_zero(gpu.fp16_peak) * slower;
  device.bf16 = value_or_zero(gpu.bf16_peak) * slower;
  // Integers of 8 bits run at the rate of FP8 where a chip has both; older ones have the integers alone.
  device.fp8 = value_or_zero(gpu.fp8_peak ? gpu.fp8_peak : gpu.int8_peak) * slower;
  device.fp4 = value_or_zero(gpu.fp4_peak) * slower;
}

}  // namespace

Result<Device> make_device(const Gpu& gpu, const Setting& setting) {
  const auto lacks = [&](std::string_view figure) {
    return unsupported(fmt::format("GPU '{}': the catalogue has no {}, which every prediction needs", gpu.id, figure));
  };
  const std::optional<Hertz> boost = gpu.boost_clock ? gpu.boost_clock : gpu.base_clock;
  if (!boost) return lacks("boost_clock_mhz");
  if (!gpu.fp32_peak) return lacks("fp32_tflops");
  if (!gpu.l2_cache) return lacks("l2_cache_mib");
  Device device;
  device.sm = gpu.sm_count;
  device.clock = setting.sm_clock.value_or(*boost).value();
  device.bandwidth = gpu.memory_bandwidth.value();
  device.l2 = gpu.l2_cache->value();
  device.limit = setting.power_limit.value_or(gpu.power_limit).value();
  device.idle = idle_power(gpu).value();
  if (!(device.limit > device.idle)) {
    return invalid(fmt::format("GPU '{}': a power limit of {} W is not above its idle power of {} W", gpu.id,
                               device.limit, device.idle));
  }
  device.awake = awake_power(gpu, device.idle, device.limit);
  device.least = std::max(device.idle, kLeast * device.awake);
  set_peaks(device, gpu, device.clock / boost->value());
  device.capability = parse_capability(gpu.compute_capability);
  device.start = gpu.vendor == "NVIDIA" ? kernel_start(gpu, device.capability) : 0.0;
  device.slow_norms = gpu.vendor == "NVIDIA" && has_much_bandwidth(gpu, *boost);
  device.cdna = gpu.vendor == "AMD" && device.fp32_matrix > 0.0;
  device.kepler = gpu.vendor == "NVIDIA" && device.capability > 0.0 && device.capability < 5.0;
  if (device.kepler) {
    device.bandwidth *= kKeplerStreams;
  } else if (device.capability == 6.0 || codes_between_data(gpu)) {
    device.bandwidth *= device.capability >= 8.0 ? kNewerCodedStreams : kCodedStreams;
  }
  hold(device);
  set_reach(device);
  return device;
}

}  // namespace joulecast
