// SPDX-License-Identifier: Apache-2.0
// How an operation or network is run: the words every prediction and every measurement is labelled with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "joulecast/units.h"

namespace joulecast {

// Inference: forward. Training: forward, backward and (for networks) the optimizer's step.
enum class Mode : std::uint8_t { kInference, kTraining };

// kFp32 keeps to true FP32 units everywhere; kTf32 lets convolutions use TF32 where the chip has it (PyTorch's
// default); kTf32All matrix products as well; kNvfp4: BF16, but layers multiply in NVIDIA's FP4, for which kernels
// quantise what goes in; kAmp, kAmpBf16: matrix work in FP16 or BF16 under autocast.
enum class Precision : std::uint8_t { kFp64, kFp32, kTf32, kTf32All, kFp16, kBf16, kFp8, kNvfp4, kAmp, kAmpBf16 };

constexpr bool is_autocast(Precision precision) {
  return precision == Precision::kAmp || precision == Precision::kAmpBf16;
}

// Decides which operators are fused, what a launch costs and how memory is allocated.
enum class Runtime : std::uint8_t {
  kPytorchEager,
  kCudaGraph,        // captured kernels, no host in the way (the aiconfigurator tables)
  kPytorchCompiled,  // torch.compile: chains of elementwise work, norms and reductions in one kernel
  kTensorflow,       // TensorFlow 2, a Keras model in a graph function, without XLA
};

// How images lie in memory: PyTorch's default, or its memory_format=torch.channels_last for network and input.
enum class Layout : std::uint8_t { kChannelsFirst, kChannelsLast };

// How PyTorch runs scaled_dot_product_attention. What has no fused kernel is two products and a softmax.
enum class AttentionKernels : std::uint8_t {
  kProducts,     // before 2.0, where models wrote it out
  kFused,        // 2.0 to 2.4: fused on four axes, in its own precision elsewhere
  kFusedOrFp32,  // since 2.5: fused on four axes, in FP32 elsewhere
  kEngines,      // an inference engine's own, which take all that it has
};

// Whose calls a host's are compared with.
enum class HostProfile : std::uint8_t {
  kModern,  // PyTorch 2 on the EPYC server with the A30 of the Heidelberg tables
  kOlder,   // the RTX 2080 Ti's machine of the same tables: 2 to 3 times as much a call, by its kind
};

// The machine that launches the kernels: processor, Python, driver. Small networks take as long as it does.
struct HostMachine {
  HostProfile profile = HostProfile::kModern;
  double scale = 1.0;  // what a call costs, relative to the profile's machine
};

// What is set on the device. Absent: the device's default.
struct Setting {
  std::optional<Hertz> sm_clock;
  std::optional<Watts> power_limit;
};

// What a runtime makes of FP32 networks: PyTorch lets convolutions use TF32, TensorFlow products as well.
Precision default_precision(Runtime runtime);

std::string_view name(Mode mode);            // "inference", "training"
std::string_view name(Precision precision);  // "fp32", ...
std::string_view name(Runtime runtime);      // "pytorch-eager", "cuda-graph", "pytorch-compiled", "tensorflow"
std::string_view name(Layout layout);        // "channels-first", "channels-last"
std::optional<Mode> parse_mode(std::string_view text);
std::optional<Precision> parse_precision(std::string_view text);
std::optional<Runtime> parse_runtime(std::string_view text);
std::optional<Layout> parse_layout(std::string_view text);
// "modern", "older", a factor on the modern one ("1.8"), or both ("older:1.2"). Factors from 0.01 to 100.
std::optional<HostMachine> parse_host(std::string_view text);
std::string text(const HostMachine& host);  // as parse_host reads it

}  // namespace joulecast
