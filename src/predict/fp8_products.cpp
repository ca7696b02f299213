// SPDX-License-Identifier: Apache-2.0
// Constants fitted by tools/fit/fp8_products.py.
#include "predict/fp8_products.h"

namespace joulecast {
namespace {

struct Fp8Kernel {
  double rows, columns;  // of a tile
  double start;          // cycles
  double product;        // over the peak's time for a tile
  double wave;           // cycles of a wave in which no products are made
  double step;           // cycles of 128 in depth, at least
  double quantised;      // over reading the left factor in halves and writing it in FP8
  double streamed;       // share of the bandwidth
};

// SGLang's, for few rows and for many.
constexpr double kFewRows = 256;
constexpr Fp8Kernel kHopperFew{64, 64, 8730, 0.938, 1740, 230, 1.86, 0.746};
constexpr Fp8Kernel kHopper{128, 128, 11600, 1.38, 175, 200, 1.35, 0.599};
constexpr Fp8Kernel kBlackwellFew{128, 64, 9530, 1.11, 1300, 172, 2.49, 0.815};
constexpr Fp8Kernel kBlackwell{128, 128, 11800, 1.33, 26.9, 200, 1.31, 0.421};
// Where matrix instructions are not asynchronous: the RTX PRO 6000's.
constexpr Fp8Kernel kSynchronous{128, 128, 10500, 0.978, 2540, 200, 1.09, 1.05};
// TensorRT-LLM's, which looks for the largest number first and then divides by it, in kernels of their own; and
// DeepGEMM's there, with a scale for each block.
constexpr Fp8Kernel kTensorRt{64, 64, 27400, 1.16, 10.3, 90.4, 3.02, 0.593};
constexpr Fp8Kernel kDeepGemm{128, 64, 15900, 0.62, 10.3, 219, 4.03, 0.444};
// vLLM's with a scale for each block: Python launches them one by one. 57 us on the H200's machine, 152 on the B200's.
constexpr Fp8Kernel kVllmBlocks{64, 64, 0, 0.72, 10, 211, 1.3, 1.0};
constexpr double kVllmHost = 90e-6;

Fp8Kernel kernel_of(double rows, const Device& device, Situation situation) {
  if (situation.block_scaled) return situation.engine == Engine::kTensorRtLlm ? kDeepGemm : kVllmBlocks;
  if (situation.engine == Engine::kTensorRtLlm) return kTensorRt;
  const bool few = rows <= kFewRows;
  if (device.capability >= 12.0 || device.capability < 9.0) return kSynchronous;
  if (device.capability >= 10.0) return few ? kBlackwellFew : kBlackwell;
  return few ? kHopperFew : kHopper;
}

}  // namespace

Fp8Product fp8_product(double rows, double columns, double depth, const Device& device, Situation situation) {
  const Fp8Kernel kernel = kernel_of(rows, device, situation);
  const double rate = sustained_peak(Arithmetic::kFp8, device) / device.sm / device.clock;
  const double steps = ceil_div(depth, 128.0);
  const double area = kernel.rows * kernel.columns;
  const double each = std::max(2.0 * area * 128.0 * steps / rate * kernel.product, steps * kernel.step);
  Fp8Product out;
  out.tile.area = area;
  out.tile.waves = ceil_div(rows, kernel.rows) * ceil_div(columns, kernel.columns) / device.sm;
  out.tile.time = ceil_fast(out.tile.waves) * (each + kernel.wave) / device.clock;
  const double bytes = rows * depth + columns * depth + 2.0 * rows * columns;
  out.set = bytes + 4.0 * columns * depth;
  out.moved = memory_time(bytes, out.set, device, kernel.streamed);
  out.quantise = kernel.quantised * 3.0 * rows * depth / device.bandwidth;
  out.beside = situation.block_scaled && situation.engine != Engine::kTensorRtLlm;
  out.start = out.beside ? kVllmHost : kernel.start / device.clock;
  return out;
}

}  // namespace joulecast
