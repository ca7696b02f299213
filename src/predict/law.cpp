// SPDX-License-Identifier: Apache-2.0
#include "predict/law.h"

#include <limits>
#include <span>

namespace joulecast {

double memory_time(double bytes, double set, const Device& device, double streamed) {
  const double fill = set / (0.6 * device.l2);
  const double hit = 1.0 / (1.0 + fill * fill * fill);
  const double memory = device.bandwidth * streamed;
  const double l2 = std::max(device.sm * device.clock * 64.0 * 0.1, memory);
  return bytes * ((1.0 - hit) / memory + hit / l2);
}

namespace {

using Tile = TileShape;
constexpr std::array<Tile, 8> kTensorTiles{
    {{128, 128}, {128, 256}, {256, 128}, {64, 128}, {128, 64}, {64, 64}, {64, 256}, {256, 64}}};
constexpr std::array<Tile, 12> kFp8Tiles{{{128, 128},
                                          {128, 256},
                                          {256, 128},
                                          {64, 128},
                                          {128, 64},
                                          {64, 64},
                                          {64, 256},
                                          {256, 64},
                                          {16, 64},
                                          {16, 128},
                                          {32, 64},
                                          {32, 128}}};
// Those that cuBLAS' kernels for FP32 are named after, as it is called for row-major matrices.
constexpr std::array<Tile, 7> kSimtTiles{{{64, 128}, {32, 128}, {128, 32}, {128, 128}, {64, 64}, {32, 32}, {32, 64}}};
// The P100's for linear layers; other products of it run in those above.
constexpr std::array<Tile, 1> kSmallSimtTiles{{{128, 32}}};
// Batched products have one kernel whatever their shape, but three on Volta and Turing.
constexpr std::array<Tile, 1> kBatchedTiles{{{128, 128}}};
constexpr std::array<Tile, 3> kBatchedTilesTuring{{{64, 128}, {64, 64, 0.8}, {32, 128, 0.8}}};
constexpr std::array<Tile, 3> kBatchedTilesVolta{{{32, 128}, {128, 32}, {64, 64, 1.44}}};
constexpr std::array<Tile, 1> kBatchedTilesPascal{{{64, 128, 0.193}}};

// Macro tiles of rocBLAS' matrix instructions.
constexpr std::array<Tile, 10> kMatrixTiles{
    {{128, 128}, {128, 64}, {64, 128}, {64, 64}, {64, 32}, {32, 64}, {32, 32}, {16, 64}, {64, 16}, {16, 16}}};

constexpr std::array<Tile, 5> kKeplerTiles{{{128, 32}, {64, 64}, {128, 128}, {32, 32}, {16, 64}}};

// Constants of the law, fitted over all GPUs together.
struct TileLaw {
  double efficiency;     // of the peak, for an infinite tile
  double edge;           // loss for small tiles
  double depth_cycles;   // of one step of 32 in depth when too few tiles hide its latency
  double fixed_cycles;   // prologue and epilogue
  double latency_waves;  // waves that hide one step
  double streamed;       // share of the bandwidth that split sums reach
  std::span<const Tile> tiles;
  int max_split;
  double wave_cycles = 0;    // of a wave, in which no products are made: results go out and the next tiles come in,
  double output_cycles = 0;  // and for each output of a tile
  bool alone = false;        // the tile is chosen as if there were no batch
  bool by_number = false;    // chosen_on_volta
  double step = 0;           // of the depth, which is filled up to it; 0: any
  double first_steps = 0;    // of the depth, by which a tile takes longer
  double fills = 4;          // tiles on an SM from which on it does not matter how few warps each of them has;
  double filling = 2;        // with so many fewer it matters in full
};

// Fitted by tools/fit/batched_products.py on five GPUs; FP64's kernels are taken for FP32's. Turing's constants are
// those that once fitted all of them.
const TileLaw& batched_law(const Device& device) {
  const auto with = [](std::span<const Tile> tiles, double efficiency, double output) {
    return TileLaw{efficiency, 5.73, 0, 0, 1, 1.0, tiles, 1, 0, output, false, tiles.size() > 1, 8, 8.41, 3.4, 2.4};
  };
  static const TileLaw ampere = with(kBatchedTiles, 1.202, 0);
  static const TileLaw volta = with(kBatchedTilesVolta, 1.202, 0.075);
  static const TileLaw pascal = with(kBatchedTilesPascal, 1.099, 0.191);
  static const TileLaw turing{1.47, 23, 40, 240, 13, 1.0, kBatchedTilesTuring, 1, 0, 0.152, false, false, 8};
  if (device.capability >= 8.0) return ampere;
  if (device.capability == 7.0) return volta;
  return device.capability > 0.0 && device.capability < 7.0 ? pascal : turing;
}

// The products of convolutions by Winograd, in tiles of their own.
const TileLaw& winograd_law(const Device& device) {
  const auto with = [](double output) {
    return TileLaw{1.47, 23, 40, 240, 13, 1.0, {}, 1, 0, output, false, false, 8};
  };
  static const TileLaw pascal = with(0.33);
  static const TileLaw others = with(0.152);
  return device.capability > 0.0 && device.capability < 7.0 ? pascal : others;
}

const TileLaw& law_for(Arithmetic arithmetic, bool batched, bool layer, const Device& device) {
  // FP32 by matrix units: fitted on the MI100 alone (tools/fit/cdna_products.py), in units that carry over. rocBLAS
  // looks its tiles up by the shape of one product, whatever the batch, so batches of small ones run in small tiles.
  static const TileLaw matrix{0.71, 4.085, 846, 1000, 2.98, 0.75, kMatrixTiles, 1, 0, 0.403, true};
  // Fitted on forward passes of single layers on K40 and K80 (cde_dense): 19 % off; a K80's dense layers in training
  // (PROFET) had no part in it.
  static const TileLaw kepler{0.47, 8.2, 1081, 1000, 1, 0.87, kKeplerTiles, 16};
  // Fitted by tools/fit/fp32_products.py on eight GPUs, the efficiency on the P100 for itself.
  static const TileLaw simt{1.19, 10.5, 45.3, 268, 12.7, 1.0, kSimtTiles, 16, 0, 0.097};
  static const TileLaw p100{1.0, 10.5, 45.3, 268, 12.7, 1.0, kSmallSimtTiles, 16, 0, 0.097};
  // Fitted on captured products in BF16 of six GPUs (tools/fit/products.py); without the A100's or the RTX PRO 6000's
  // the constants move by up to a tenth.
  static const TileLaw tensor{0.88, 2.5, 59, 134, 4, 1.0, kTensorTiles, 16, 1220};
  static const TileLaw asynchronous{0.88, 2.5, 59, 134, 4, 1.0, kTensorTiles, 16, 210};
  static const TileLaw fp8{1.92, 133, 41, 200, 4, 0.75, kFp8Tiles, 1};
  if (arithmetic == Arithmetic::kFp32 && device.cdna) return matrix;
  if (device.kepler) return kepler;
  if (arithmetic == Arithmetic::kFp32 || arithmetic == Arithmetic::kFp64) {
    if (batched) return batched_law(device);
    return device.capability == 6.0 && layer ? p100 : simt;
  }
  if (arithmetic == Arithmetic::kFp8) return fp8;
  return has_asynchronous_products(device) ? asynchronous : tensor;
}

// How much more of the clock products take than convolutions do, before Ampere: an exponent. With the constants of
// tiles.
constexpr double kOlderHold = 1.34;

// Flops a second and SM of halves whose rows do not begin at whole vectors of 16 bytes, as a vocabulary of 50,257 makes
// them: the kernels that take such are of Turing's kind, with narrow loads, on every later chip, and no faster on a
// faster one. A cycle, from heads of 50,254 tokens in HW-GPT-Bench: 480 on an A100, 620 on an A40, 710 on an H100, 290
// on a V100, 200 on an RTX 2080 Ti, 330 on an RTX 3080 (0.65 of its peak); from a product that people report 607 on an
// H100. Numbers of 4 bytes half.
double unaligned_rate(Arithmetic arithmetic, const Device& device) {
  const double flops = (device.capability >= 8.0 ? 600.0 : 290.0) * (arithmetic == Arithmetic::kTf32 ? 0.5 : 1.0);
  return std::min(flops * device.clock, 0.65 * device.peak(arithmetic) / device.sm);
}

// Of Hopper's and the data-centre Blackwell's peak, what instructions of Ampere's kind reach, in which kernels run
// whose rows their copies do not take: 62.9 % on an H800 (Luo et al., "Dissecting the NVIDIA Hopper Architecture
// through Microbenchmarking").
constexpr double kSynchronous = 0.63;

// What Maxwell's products reach of what the law has, from a GTX TITAN X and an M40 in DeepBench.
constexpr double kMaxwell = 0.58;

}  // namespace

double sustained_peak(Arithmetic arithmetic, const Device& device) {
  // The share of CDNA's matrix units in FP32 that the law of tiles has is already that under the power limit.
  if (arithmetic == Arithmetic::kFp32 && device.cdna) return device.fp32_matrix;
  if (arithmetic == Arithmetic::kFp32 && device.capability < 8.0) {
    const bool maxwell = device.capability >= 5.0 && device.capability < 6.0;
    return device.fp32 * std::pow(device.held_at(arithmetic), kOlderHold) * (maxwell ? kMaxwell : 1.0);
  }
  if (arithmetic == Arithmetic::kFp32) return device.fp32 * device.fed * device.held_at(arithmetic);
  return device.peak(arithmetic) * device.held_at(arithmetic) * device.easy[static_cast<std::size_t>(arithmetic)];
}

namespace {

// One tile shape with one split of the depth.
double tiled_time(const TileLaw& law, const Tile& tile, double tiles, double part, double reach, const Device& device) {
  const double waves = ceil_fast(tiles / device.sm);
  const double area = tile.rows * tile.columns;
  if (law.step > 0) part = law.step * ceil_div(part, law.step);
  const double few = tile.few * std::clamp((law.fills - waves) / law.filling, 0.0, 1.0);
  const double work = waves * (1.0 + few) * 2.0 * area * (part + law.first_steps) / reach;
  const double latency = part / 32.0 * law.depth_cycles / device.clock * std::max(1.0, waves / law.latency_waves);
  const double between = law.wave_cycles + law.output_cycles * area;
  return std::max(work, latency) + (law.fixed_cycles + waves * between) / device.clock;
}

// cuBLAS' choice on Volta is not the fastest: from the kernels' names in NeuSight's table, right in 83 % of its shapes.
std::span<const Tile> chosen_on_volta(double batch, double rows, double columns, const Device& device) {
  const auto tiles = [&](const Tile& tile) {
    return batch * ceil_div(rows, tile.rows) * ceil_div(columns, tile.columns);
  };
  const auto& [wide, high, square] = kBatchedTilesVolta;
  const std::span<const Tile> all = kBatchedTilesVolta;
  const double waves = tiles(wide) / device.sm;
  if (waves <= 1.25) return all.first(1);
  return waves > 7.8 && tiles(high) <= tiles(square) ? all.subspan(1, 1) : all.last(1);
}

}  // namespace

TileChoice tile_product(double batch, double rows, double columns, double depth, Arithmetic arithmetic,
                        const Device& device, Factors factors) {
  const TileLaw& law = law_for(arithmetic, batch > 1.0, factors.layer, device);
  double per_sm = sustained_peak(arithmetic, device) / device.sm * law.efficiency;
  if (factors.rows == RowStart::kOdd) per_sm = std::min(per_sm, unaligned_rate(arithmetic, device));
  if (factors.rows == RowStart::kHalf) per_sm *= kSynchronous;
  const double sum_time = 4.0 * batch * rows * columns / (device.bandwidth * law.streamed);
  TileChoice best{.time = std::numeric_limits<double>::infinity()};
  double least = best.time;
  for (const Tile& tile : law.by_number ? chosen_on_volta(batch, rows, columns, device) : law.tiles) {
    const double area = tile.rows * tile.columns;
    const double reach = per_sm / (1.0 + law.edge * (tile.rows + tile.columns) / area);
    const double tiles = ceil_div(rows, tile.rows) * ceil_div(columns, tile.columns);
    for (int split = 1; split <= law.max_split; split *= 2) {
      const double part = depth / split;
      if (split > 1 && part < 32.0) break;
      double time = tiled_time(law, tile, batch * tiles * split, part, reach, device);
      if (split > 1) time += split * sum_time + 3.1e-6;  // partial sums are written, read, and a second kernel starts
      const double judged = law.alone ? tiled_time(law, tile, tiles, part, reach, device) : time;
      if (judged >= least) continue;
      least = judged;
      best = {time, area, static_cast<double>(split), batch * tiles * split / device.sm};
    }
  }
  return best;
}

BusySms winograd_products(double batch, double rows, double columns, double depth, std::span<const TileShape> tiles,
                          double rate, const Device& device) {
  const TileLaw& law = winograd_law(device);
  BusySms best;
  for (const Tile& tile : tiles) {
    const double area = tile.rows * tile.columns;
    const double reach = rate / device.sm * law.efficiency / (1.0 + law.edge * (tile.rows + tile.columns) / area);
    const double count = batch * ceil_div(rows, tile.rows) * ceil_div(columns, tile.columns);
    const double time = tiled_time(law, tile, count, depth, reach, device);
    const double waves = count / device.sm;
    if (time < best.most) best = {time, time * waves / std::max(ceil_fast(waves), 1.0)};
  }
  return best;
}

}  // namespace joulecast
