// SPDX-License-Identifier: Apache-2.0
// Constants of forward passes fitted by tools/fit/convolutions.py on A30 and RTX 2080 Ti (modules in PyTorch) and on
// convolutions of A100, V100, T4, P4 and P100 (bare loops), whose kernels' names are published. Those of gradients on
// A30 and RTX 2080 Ti, by hand.
#include "predict/conv_kernels.h"

namespace joulecast {
namespace {

constexpr double kFourKernels = kConvLatency + 20.1e-6;  // of F(4x4), where the time from kernel to kernel is not known
constexpr ConvKernels kModules{.pairs = true,
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
constexpr ConvKernels kBareLoops{
    .fused = 0.98, .fused_turing = 0.905, .winograd = {0.975, 1.025, 2.28}, .tiled_latency = kFourKernels};
// Nobody measured FP64 singly.
constexpr ConvKernels kDoubles{};
// The fastest of all algorithms, as TensorFlow finds it by trying them with as much workspace as they ask for. Fitted
// by tools/fit/searched_convolutions.cpp on single layers (cde_conv: GTX 1080 Ti, P100, M60) and networks in training
// (PROFET: T4, V100).
constexpr ConvKernels kAutotuned{.hold = 0.78,
                                 .implicit_fill = 73.0,
                                 .fused_fill = 11.6,
                                 .fused_filters = 11.0,
                                 .fused = 0.94,
                                 .tiled = 1.70,
                                 .transforms = 2.36,
                                 .tiled_gradient = 0.75,
                                 .searched = true,
                                 .forward = 0.90,
                                 .data = 0.87,
                                 .weight = 0.445,
                                 .square = 1.2,
                                 .square_gradient = 3.1,
                                 .line = 1.92,
                                 .line_weight = 2.54,
                                 .one_by_one = 1.06,
                                 .first_forward = 1.2,
                                 .first_weight = 3.2,
                                 .fft = 0.68,
                                 .fft_transforms = 6.2,
                                 .filters = 25.6};
// Kepler has no Winograd and one size of tiles; its kernels transform the filters at great cost, whatever the batch.
// Fitted in the same way on K40 and K80.
constexpr ConvKernels kKepler{.hold = 1.0,
                              .implicit_fill = 0.45,
                              .forward = 0.81,
                              .data = 1.09,
                              .weight = 0.93,
                              .strided = 0.485,
                              .square = 1.2,
                              .square_gradient = 1.95,
                              .line = 0.15,
                              .line_weight = 0.21,
                              .one_by_one = 0.258,
                              .first_forward = 0.70,
                              .first_data = 1.0,
                              .first_weight = 0.316,
                              .filters = 51.4,
                              .one_tile = true};

}  // namespace

const ConvKernels& conv_kernels(const ConvWork& work, const Device& device, bool bare) {
  if (device.kepler) return kKepler;
  if (work.autotuned) return kAutotuned;
  if (work.arithmetic == Arithmetic::kFp64) return kDoubles;
  return bare ? kBareLoops : kModules;
}

}  // namespace joulecast
