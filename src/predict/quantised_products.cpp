// SPDX-License-Identifier: Apache-2.0
// Constants fitted by tools/fit/quantised_products.py.
#include "predict/quantised_products.h"

namespace joulecast {
namespace {

struct QuantisedKernel {
  double rows, columns;  // of a tile
  double start;          // cycles
  double product;        // over the peak's time for a tile
  double wave;           // cycles of a wave in which no products are made
  double step;           // cycles of 128 in depth, at least
  double quantised;      // over reading the left factor in halves and writing it quantised
  double streamed;       // share of the bandwidth
  double row = 0;        // cycles of an SM for quantising a row, at least
};

// SGLang's, for few rows and for many.
constexpr double kFewRows = 256;
constexpr QuantisedKernel kHopperFew{64, 64, 8730, 0.938, 1740, 230, 1.86, 0.746};
constexpr QuantisedKernel kHopper{128, 128, 11600, 1.38, 175, 200, 1.35, 0.599};
constexpr QuantisedKernel kBlackwellFew{128, 64, 9530, 1.11, 1300, 172, 2.49, 0.815};
constexpr QuantisedKernel kBlackwell{128, 128, 11800, 1.33, 26.9, 200, 1.31, 0.421};
// Where matrix instructions are not asynchronous: the RTX PRO 6000's.
constexpr QuantisedKernel kSynchronous{128, 128, 10500, 0.978, 2540, 200, 1.09, 1.05};
// TensorRT-LLM's, which looks for the largest number first and then divides by it, in kernels of their own; and
// DeepGEMM's there, with a scale for each block.
constexpr QuantisedKernel kTensorRt{64, 64, 27400, 1.16, 10.3, 90.4, 3.02, 0.593};
constexpr QuantisedKernel kDeepGemm{128, 64, 15900, 0.62, 10.3, 219, 4.03, 0.444};
// vLLM's with a scale for each block: Python launches them one by one. 57 us on the H200's machine, 152 on the B200's.
constexpr QuantisedKernel kVllmBlocks{64, 64, 0, 0.72, 10, 211, 1.3, 1.0};
constexpr double kVllmHost = 90e-6;

// NVFP4, on a B200 alone: vLLM's for few rows and for many, and TensorRT-LLM's.
constexpr QuantisedKernel kVllmFp4Few{128, 128, 12000, 0.668, 1370, 84, 1.2, 0.621, 335};
constexpr QuantisedKernel kVllmFp4{128, 128, 11200, 1.11, 608, 84, 1.35, 0.773, 238};
constexpr QuantisedKernel kTensorRtFp4{128, 256, 9910, 0.979, 1290, 84, 2.07, 0.503, 239};

QuantisedKernel fp8_kernel(double rows, const Device& device, Situation situation) {
  if (situation.block_scaled) return situation.engine == Engine::kTensorRtLlm ? kDeepGemm : kVllmBlocks;
  if (situation.engine == Engine::kTensorRtLlm) return kTensorRt;
  const bool few = rows <= kFewRows;
  if (device.capability >= 12.0 || device.capability < 9.0) return kSynchronous;
  if (device.capability >= 10.0) return few ? kBlackwellFew : kBlackwell;
  return few ? kHopperFew : kHopper;
}

// Of SGLang nothing is known: vLLM's.
QuantisedKernel fp4_kernel(double rows, Situation situation) {
  if (situation.engine == Engine::kTensorRtLlm) return kTensorRtFp4;
  return rows <= kFewRows ? kVllmFp4Few : kVllmFp4;
}

}  // namespace

QuantisedProduct quantised_product(double rows, double columns, double depth, Arithmetic arithmetic,
                                   const Device& device, Situation situation) {
  const bool fp4 = arithmetic == Arithmetic::kFp4;
  const QuantisedKernel kernel = fp4 ? fp4_kernel(rows, situation) : fp8_kernel(rows, device, situation);
  const double rate = sustained_peak(arithmetic, device) / device.sm / device.clock;
  const double steps = ceil_div(depth, 128.0);
  const double area = kernel.rows * kernel.columns;
  const double each = std::max(2.0 * area * 128.0 * steps / rate * kernel.product, steps * kernel.step);
  QuantisedProduct out;
  out.tile.area = area;
  out.tile.waves = ceil_div(rows, kernel.rows) * ceil_div(columns, kernel.columns) / device.sm;
  out.tile.time = ceil_fast(out.tile.waves) * (each + kernel.wave) / device.clock;
  const double size = fp4 ? kFp4Bytes : 1.0;
  out.bytes = size * (rows * depth + columns * depth) + 2.0 * rows * columns;
  out.set = out.bytes + (fp4 ? 0.0 : 4.0 * columns * depth);
  out.moved = memory_time(out.bytes, out.set, device, kernel.streamed);
  out.quantise = std::max(kernel.quantised * (2.0 + size) * rows * depth / device.bandwidth,
                          ceil_div(rows, device.sm) * kernel.row / device.clock);
  out.beside = !fp4 && situation.block_scaled && situation.engine != Engine::kTensorRtLlm;
  out.start = out.beside ? kVllmHost : kernel.start / device.clock;
  return out;
}

}  // namespace joulecast
