// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "predict/physics.h"

namespace joulecast {
namespace {

double value_or_zero(const std::optional<FlopsPerSecond>& peak) {
  return peak ? peak->value() : 0.0;
}

// Large products draw so much that the clock falls below boost: phi = (1 + (rho / rho0)^4)^(-a / 4) with
// rho = peak / power limit in TFLOP/s/W. FP32: rho0 0.07, a 1, with 0.45 rho on 4-5 nm chips and 0.95 on Ampere;
// tensor units: rho0 1.8, a 0.45, FP8 at half the rho. Fitted on V100, P100, A100, P4, T4, H100, H200, B200.
double held_fraction(double peak, double limit, double scale, double rho0, double exponent) {
  const double rho = peak / 1e12 / limit * scale / rho0;
  return std::pow(1.0 + rho * rho * rho * rho, -exponent / 4.0);
}

double parse_capability(std::string_view text) {
  double value = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void hold(Device& device) {
  const double fp32_scale = device.capability >= 8.9 ? 0.45 : device.capability >= 8.0 ? 0.95 : 1.0;
  const auto set = [&](Arithmetic arithmetic, double fraction) {
    device.held[static_cast<std::size_t>(arithmetic)] = fraction;
  };
  set(Arithmetic::kFp32, held_fraction(device.fp32, device.limit, fp32_scale, 0.07, 1.0));
  for (const Arithmetic tensor : {Arithmetic::kTf32, Arithmetic::kFp16, Arithmetic::kBf16}) {
    set(tensor, held_fraction(device.peak(tensor), device.limit, 1.0, 1.8, 0.45));
  }
  set(Arithmetic::kFp8, held_fraction(device.fp8, device.limit, 0.5, 1.8, 0.45));
}

// Flops a clock and SM of the A30's TF32 units, where convolutions reach the law's share of the peak. GeForce boards
// add up in FP32 at half the rate (512) and come near it, Hopper's 4096 are out of reach. Exponent fitted on 200
// networks of timm under autocast: RTX 3090 and 4090 against RTX PRO 6000.
constexpr double kA30Tf32 = 82e12 / (56 * 1.44e9);

// Of a Kepler's bandwidth: with error correction, and caches that do not hold what kernels read. Fitted on a K80.
constexpr double kKeplerStreams = 0.62;

// Of the bandwidth of the P100, and of boards whose GDDR holds the codes of error correction between the data: what
// their kernels that only move memory get, relative to those of other GPUs. From P100, P4 and T4; newer boards from an
// A40.
constexpr double kCodedStreams = 0.81;
constexpr double kNewerCodedStreams = 0.91;

// What nvidia-smi lists of such a board is 15/16 of the memory it has, whose gigabytes are of 2^30 bytes.
bool codes_between_data(const Gpu& gpu) {
  constexpr double kBinary = 1.073741824;
  return gpu.memory_type.starts_with("GDDR") && gpu.memory_total &&
         gpu.memory_total->value() < 0.945 * kBinary * gpu.memory.value();
}

void set_reach(Device& device) {
  for (const Arithmetic tensor : {Arithmetic::kTf32, Arithmetic::kFp16, Arithmetic::kBf16, Arithmetic::kFp8}) {
    const double peak = device.peak(tensor);
    if (peak <= 0.0) continue;
    const double width = peak / (device.sm * device.clock);
    device.reach[static_cast<std::size_t>(tensor)] = std::clamp(std::pow(kA30Tf32 / width, 0.65), 0.3, 1.8);
  }
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
  device.idle = gpu.idle_power.value_or(gpu.power_limit * 0.12).value();
  if (!(device.limit > device.idle)) {
    return invalid(fmt::format("GPU '{}': a power limit of {} W is not above its idle power of {} W", gpu.id,
                               device.limit, device.idle));
  }
  const double slower = device.clock / boost->value();  // peaks scale with the clock
  device.fp64 = value_or_zero(gpu.fp64_peak) * slower;
  device.fp32 = gpu.fp32_peak->value() * slower;
  device.tf32 = value_or_zero(gpu.tf32_peak) * slower;
  device.fp16 = value_or_zero(gpu.fp16_peak) * slower;
  device.bf16 = value_or_zero(gpu.bf16_peak) * slower;
  // Integers of 8 bits run at the rate of FP8 where a chip has both; older ones have the integers alone.
  device.fp8 = value_or_zero(gpu.fp8_peak ? gpu.fp8_peak : gpu.int8_peak) * slower;
  device.capability = parse_capability(gpu.compute_capability);
  device.fp32_matrix = value_or_zero(gpu.fp32_tensor_peak) * slower;
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
