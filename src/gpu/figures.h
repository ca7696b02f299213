// SPDX-License-Identifier: Apache-2.0
// The figures of a GPU file, each said once: key, unit, plausible range and the member it fills. The reader, the
// embedder and every output go through this list.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "joulecast/gpu.h"

namespace joulecast {

inline constexpr std::string_view kGpuSchema = "joulecast.gpu/1";

// A figure that every file must have: nothing can be predicted without.
enum class Need : std::uint8_t { kOptional, kRequired };

struct FigureSpec {
  std::string_view key;    // ends in the unit
  std::string_view label;  // for people
  std::string_view unit;   // for people; empty for counts and text
  double scale = 1.0;      // one of the file's units in SI base units
  // Plausible range in the file's unit. Wide: it catches slips of a factor of 1000, not a wrong data sheet.
  double least = 0.0, greatest = 0.0;
  Need need = Need::kOptional;
};

inline constexpr double kMib = 1024.0 * 1024.0;

// Calls v(spec, member) for every figure, in the order in which files and tables list them.
template <typename V>
constexpr void for_each_figure(V&& v) {
  constexpr Need must = Need::kRequired;
  v(FigureSpec{"compute_capability", "compute capability", ""}, &Gpu::compute_capability);
  v(FigureSpec{"gfx_target", "gfx target", ""}, &Gpu::gfx_target);
  v(FigureSpec{"sm_count", "multiprocessors", "", 1, 1, 1000, must}, &Gpu::sm_count);
  v(FigureSpec{"cuda_core_count", "fp32 lanes", "", 1, 64, 100'000}, &Gpu::cuda_core_count);
  v(FigureSpec{"base_clock_mhz", "base clock", "MHz", 1e6, 100, 4000}, &Gpu::base_clock);
  v(FigureSpec{"boost_clock_mhz", "boost clock", "MHz", 1e6, 300, 4000, must}, &Gpu::boost_clock);
  v(FigureSpec{"tensor_clock_mhz", "tensor clock", "MHz", 1e6, 300, 4000}, &Gpu::tensor_clock);
  v(FigureSpec{"memory_clock_mhz", "memory clock", "MHz", 1e6, 300, 20'000}, &Gpu::memory_clock);
  v(FigureSpec{"memory_gb", "memory", "GB", 1e9, 1, 1000, must}, &Gpu::memory);
  v(FigureSpec{"memory_total_mib", "memory, nvidia-smi", "MiB", kMib, 900, 1'000'000}, &Gpu::memory_total);
  v(FigureSpec{"memory_visible_mib", "memory, CUDA", "MiB", kMib, 900, 1'000'000}, &Gpu::memory_visible);
  v(FigureSpec{"memory_type", "memory type", ""}, &Gpu::memory_type);
  v(FigureSpec{"memory_bandwidth_gb_per_s", "memory bandwidth", "GB/s", 1e9, 10, 50'000, must}, &Gpu::memory_bandwidth);
  v(FigureSpec{"l2_cache_mib", "L2 cache", "MiB", kMib, 0.1, 1000}, &Gpu::l2_cache);
  v(FigureSpec{"shared_memory_per_sm_kib", "shared memory per SM", "KiB", 1024, 16, 1024}, &Gpu::shared_memory_per_sm);
  v(FigureSpec{"power_limit_w", "power limit", "W", 1, 5, 3000, must}, &Gpu::power_limit);
  v(FigureSpec{"min_power_limit_w", "lowest power limit", "W", 1, 1, 3000}, &Gpu::min_power_limit);
  v(FigureSpec{"max_power_limit_w", "highest power limit", "W", 1, 5, 3000}, &Gpu::max_power_limit);
  v(FigureSpec{"idle_power_w", "idle power", "W", 1, 0.5, 500}, &Gpu::idle_power);
  v(FigureSpec{"fp64_tflops", "fp64", "TFLOP/s", 1e12, 0.001, 1000}, &Gpu::fp64_peak);
  v(FigureSpec{"fp64_tensor_tflops", "fp64, tensor cores", "TFLOP/s", 1e12, 1, 1000}, &Gpu::fp64_tensor_peak);
  v(FigureSpec{"fp32_tflops", "fp32", "TFLOP/s", 1e12, 0.1, 1000, must}, &Gpu::fp32_peak);
  v(FigureSpec{"fp32_tensor_tflops", "fp32, matrix cores", "TFLOP/s", 1e12, 1, 1000}, &Gpu::fp32_tensor_peak);
  v(FigureSpec{"tf32_tflops", "tf32", "TFLOP/s", 1e12, 1, 10'000}, &Gpu::tf32_peak);
  v(FigureSpec{"fp16_tflops", "fp16", "TFLOP/s", 1e12, 0.1, 20'000}, &Gpu::fp16_peak);
  v(FigureSpec{"bf16_tflops", "bf16", "TFLOP/s", 1e12, 1, 20'000}, &Gpu::bf16_peak);
  v(FigureSpec{"fp8_tflops", "fp8", "TFLOP/s", 1e12, 10, 40'000}, &Gpu::fp8_peak);
  v(FigureSpec{"fp4_tflops", "fp4", "TFLOP/s", 1e12, 100, 80'000}, &Gpu::fp4_peak);
  v(FigureSpec{"int8_tops", "int8", "TOP/s", 1e12, 1, 40'000}, &Gpu::int8_peak);
  v(FigureSpec{"nvlink_gb_per_s", "NVLink", "GB/s", 1e9, 20, 10'000}, &Gpu::nvlink_bandwidth);
  v(FigureSpec{"infinity_fabric_gb_per_s", "Infinity Fabric", "GB/s", 1e9, 20, 10'000},
    &Gpu::infinity_fabric_bandwidth);
  v(FigureSpec{"pcie_generation", "PCIe generation", "", 1, 1, 8}, &Gpu::pcie_generation);
  v(FigureSpec{"release_year", "released", "", 1, 2007, 2040}, &Gpu::release_year);
}

template <typename T>
struct FigureTraits {  // int, Quantity
  using Plain = T;
};
template <typename T>
struct FigureTraits<std::optional<T>> {
  using Plain = T;
};

template <typename T>
inline constexpr bool kIsText = std::is_same_v<T, std::string_view>;

// The figure in SI base units; nothing where it is unknown. Not for text.
template <typename T>
constexpr std::optional<double> figure_value(const T& figure) {
  using Plain = typename FigureTraits<T>::Plain;
  const auto plain = [](const Plain& value) {
    if constexpr (std::is_same_v<Plain, int>) {
      return static_cast<double>(value);
    } else {
      return value.value();
    }
  };
  if constexpr (std::is_same_v<T, Plain>) {
    return plain(figure);
  } else {
    return figure ? std::optional<double>(plain(*figure)) : std::nullopt;
  }
}

}  // namespace joulecast
