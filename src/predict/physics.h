// SPDX-License-Identifier: Apache-2.0
// The physical bound of one operation on one GPU, and the features the trees see beside it.
//
// This is the inner loop of every prediction: plain doubles in SI units (seconds, bytes, flops, hertz, watts).
// Features are raw ratios and sizes, not logarithms: trees do not care, and a logarithm costs more than a node.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "joulecast/gpu.h"
#include "joulecast/workload.h"
#include "predict/work.h"

namespace joulecast {

// One GPU under one setting, as the laws need it.
struct Device {
  double sm = 1, clock = 1, bandwidth = 1, l2 = 1, limit = 1;
  double idle = 0, awake = 0;  // watts: without work, and while it waits for work with its clocks up
  double least = 0;            // watts, of any operation
  double fp64 = 0, fp32 = 1, tf32 = 0, fp16 = 0, bf16 = 0, fp8 = 0,
         fp4 = 0;           // dense peaks; 0: no such units; fp8 is int8 too
  double capability = 0;    // 8.6 for compute capability 8.6; 0 if unknown
  double fp32_matrix = 0;   // FP32 by matrix units (CDNA), which products use; 0: the chip has no such units
  bool kepler = false;      // without Winograd, and slow to stream: laws of their own
  bool cdna = false;        // AMD's chips with matrix units: kernels of other libraries, with laws of their own
  double start = 0;         // seconds between two kernels in a queue in which nothing moves
  bool slow_norms = false;  // batch norm in FP32 cannot ask for as much as the memory gives, in inference
  double fed = 1;           // share of the FP32 peak that an SM's registers and shared memory can feed
  double needed = 1;        // share of the power between waiting and limit that FP32 on all lanes comes to
  // By Arithmetic: the fraction of the peak that large products keep under the power limit.
  std::array<double, kArithmetics> held{1, 1, 1, 1, 1, 1, 1};
  // By Arithmetic, of tensor units: the share of the peak that convolutions reach, relative to TF32 on the A30. Units
  // that are narrow beside the rest of the SM are easier to feed.
  std::array<double, kArithmetics> reach{1, 1, 1, 1, 1, 1, 1};
  // The same of images of halves that lie channels-last, which units that are wide do not starve by as much.
  std::array<double, kArithmetics> reach_last{1, 1, 1, 1, 1, 1, 1};
  // The same of products, by the peak: 1 but for units so narrow that they are never starved.
  std::array<double, kArithmetics> easy{1, 1, 1, 1, 1, 1, 1};
  // 0 where the units do not exist.
  [[nodiscard]] double peak(Arithmetic arithmetic) const {
    const std::array<double, kArithmetics> peaks{fp64, fp32, tf32, fp16, bf16, fp8, fp4};
    return peaks[static_cast<std::size_t>(arithmetic)];
  }
  // Of products of matrices.
  [[nodiscard]] double product_peak(Arithmetic arithmetic) const {
    return arithmetic == Arithmetic::kFp32 && fp32_matrix > 0.0 ? fp32_matrix : peak(arithmetic);
  }
  [[nodiscard]] double reach_at(Arithmetic arithmetic) const { return reach[static_cast<std::size_t>(arithmetic)]; }
  [[nodiscard]] double reach_last_at(Arithmetic arithmetic) const {
    return reach_last[static_cast<std::size_t>(arithmetic)];
  }
  [[nodiscard]] double held_at(Arithmetic arithmetic) const { return held[static_cast<std::size_t>(arithmetic)]; }
};

// Before Volta some of cuDNN's kernels for recurrent layers take three times as long as others of the same size, and
// nothing tells which: their law says roughly what a layer takes.
inline bool is_erratic(const Work& work, const Device& device) {
  return is_recurrent(work) && device.capability > 0.0 && device.capability < 7.0;
}

// A product of one row or column in FP32 or FP64, or a batch of such, which cuBLAS hands to its kernels for vectors;
// rocBLAS multiplies in tiles.
inline bool multiplies_vector(const GemmWork& work, const Device& device) {
  const bool simt = work.arithmetic == Arithmetic::kFp32 || work.arithmetic == Arithmetic::kFp64;
  return simt && (work.rows == 1 || work.columns == 1) && device.capability > 0.0;
}

// Errors: kUnsupported naming the figure the catalogue lacks; kInvalidInput for a power limit not above idle power.
Result<Device> make_device(const Gpu& gpu, const Setting& setting);

// What of an operation runs. Training is forward, backward and the accumulation of gradients; kTrainForward is the
// forward pass of modules in training state.
enum class State : std::uint8_t { kEval, kTrainForward, kTraining };

// Who launches: what a call costs before the GPU works.
enum class Host : std::uint8_t {
  kModern,    // PyTorch 2 on the A30 machine: the default for GPUs nobody measured
  kOlder,     // the RTX 2080 Ti machine
  kCaptured,  // CUDA graphs: cycles of the GPU, no host
  kBare,      // a loop over one function call, no modules (NeuSight)
};

// How operations were run to measure them: as modules of a framework, or a function in a loop, whose kernels, caches
// and host work differ. Models learn from rows of the other kind little.
enum class Bench : std::uint8_t { kModules, kLoops };
inline constexpr std::size_t kBenches = 2;

// Whose kernels: libraries of captured matrix products and attention differ on the same GPU.
enum class Engine : std::uint8_t { kSglang, kVllm, kTensorRtLlm, kPytorch };

// What trees see of it: SGLang, whose kernels call PyTorch's, stands for that.
constexpr double engine_feature(Engine engine) {
  return engine == Engine::kPytorch ? static_cast<double>(Engine::kSglang) : static_cast<double>(engine);
}

struct Situation {
  State state = State::kEval;
  Host host = Host::kModern;
  double host_scale = 1.0;  // of kBare: how slow the machine's processor is
  bool swept = false;       // of kBare: one of thousands that ran one after the other
  Engine engine = Engine::kSglang;
  double weights = 0.0;       // bytes of a network's parameters but tables, which are read between two uses of one
  bool block_scaled = false;  // FP8 with a scale for each block of 128, which other kernels multiply
  [[nodiscard]] Bench bench() const { return host == Host::kBare ? Bench::kLoops : Bench::kModules; }
};

// No group has more features than this.
inline constexpr std::size_t kMaxFeatures = 64;

// Times of the bound's parts. `bound` joins `gpu` and `host`, `gpu` joins `compute` and `memory`.
struct Physics {
  double bound = 0, gpu = 0, host = 0, compute = 0, memory = 0;
  double mean_compute = 0;    // of dense convolutions: `compute` by the mean of all SMs, not by the busiest one
  double peak = 0;            // flops per second of the units it runs on
  double bytes = 0;           // moved, gradient accumulation of the operation benchmark included
  double accumulation = 0;    // of `gpu`: gradients added up instead of set, which a network does not do
  double filling = 0;         // of a training's calls, where known well: `gpu` without a kernel's start (PowerLaw)
  double input_gradient = 0;  // of layers in training: the share their input's gradient has of the rest of `gpu`

  // For how long all SMs compute: what idles draws little.
  [[nodiscard]] double computing() const { return mean_compute > 0.0 ? mean_compute : compute; }
};

// The models are apart because their kernels are: each has its own features and its own trees.
enum class Group : std::uint8_t { kConv, kPointwise, kReduction, kGemmSimt, kGemmTensor, kPrefill, kDecode, kGemmFp4 };
inline constexpr std::size_t kGroups = 8;
// "conv", "pointwise", "reduction", "gemm-simt", "gemm-tensor", "prefill", "decode", "gemm-fp4"
std::string_view name(Group group);

std::string_view name(Arithmetic arithmetic);  // "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4"

Group group_of(const Work& work);
// Of matrix work; nothing for the rest.
std::optional<Arithmetic> arithmetic_of(const Work& work);
// The names of the group's features, in the order physics_of() writes them.
std::span<const std::string_view> feature_names(Group group);

// Writes the features of the work's group to the front of `features`. Requires: room for all of them.
Physics physics_of(const ConvWork& work, const Device& device, Situation situation, std::span<float> features);
Physics physics_of(const GemmWork& work, const Device& device, Situation situation, std::span<float> features);
Physics physics_of(const PointwiseWork& work, const Device& device, Situation situation, std::span<float> features);
Physics physics_of(const ReductionWork& work, const Device& device, Situation situation, std::span<float> features);
Physics physics_of(const AttentionWork& work, const Device& device, Situation situation, std::span<float> features);
Physics physics_of(const Work& work, const Device& device, Situation situation, std::span<float> features);

}  // namespace joulecast
