// SPDX-License-Identifier: Apache-2.0
// Products of matrices: linear layers and batched products.
#include <cmath>

#include "predict/feature_lists.h"
#include "predict/law.h"
#include "predict/quantised_products.h"

namespace joulecast {

const std::array<std::string_view, 23> kGemmSimtFeatures{
    "tile",       "memory",   "host",       "tile_per_memory", "ideal",         "roof",    "batch",           "rows",
    "columns",    "depth",    "outputs",    "ctas128",         "ctas64",        "fill128", "quantisation128", "p2_rows",
    "p2_columns", "p2_depth", "set_per_l2", "bytes_per_l2",    "weight_per_l2", "state",   "activations"};
const std::array<std::string_view, 24> kGemmTensorFeatures{
    "tile",         "memory",          "host",         "tile_per_memory", "ideal",    "rows",
    "columns",      "depth",           "tile_area",    "split",           "waves",    "quantisation",
    "ctas128",      "quantisation128", "p2_rows",      "p2_columns",      "p2_depth", "set_per_l2",
    "bytes_per_l2", "arithmetic",      "ideal_cycles", "bytes_us",        "bound_us", "engine"};

namespace {

// Trees see the precision as an ordered number.
double code(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kFp64:
    case Arithmetic::kFp32:
      return 0;
    case Arithmetic::kTf32:
      return 1;
    case Arithmetic::kFp16:
    case Arithmetic::kBf16:
      return 2;
    case Arithmetic::kFp8:
      return 3;
    case Arithmetic::kFp4:
      return 4;
  }
  return 0;
}

struct Shape3 {
  double rows, columns, depth, batch;
};

struct Parts {
  double tiled, moved, set;
};

bool is_simt(const GemmWork& work) {
  return work.arithmetic == Arithmetic::kFp32 || work.arithmetic == Arithmetic::kFp64;
}

// Of both factors and the product of a layer. Plain FP32 reads its numbers one by one; of FP8 libraries take nothing
// else than whole vectors, so who calls them fills up. Batches of small products, as attention written out, show no
// such cost in timm's networks (RTX 3090, heads of 197 tokens), nor do layers over 196 tokens. Of AMD nobody measured
// any.
RowStart rows_of(const GemmWork& work, const Device& device) {
  if (is_simt(work) || work.arithmetic == Arithmetic::kFp8 || !work.weight || device.capability <= 0.0)
    return RowStart::kWhole;
  const auto begin_at = [&](std::int64_t vector) {
    return work.depth * work.element_bytes % vector == 0 && work.columns * work.output_bytes % vector == 0;
  };
  if (!begin_at(8)) return RowStart::kOdd;
  return has_asynchronous_products(device) && !begin_at(16) ? RowStart::kHalf : RowStart::kWhole;
}

// Pascal reads the rows of both factors of a linear layer from far apart: deep layers take longer by so much, the more
// rows they have. From P100 and P4, with the constants of tiles.
double deep_rows(const GemmWork& work, const Device& device) {
  const bool pascal = device.capability >= 6.0 && device.capability < 7.0;
  if (!pascal || !work.weight || work.element_bytes != 4) return 1.0;
  const double apart = static_cast<double>(work.depth) * std::pow(static_cast<double>(work.rows) / 1000.0, 0.44);
  if (apart <= 9720.0) return 1.0;
  return 1.0 + (device.capability == 6.0 ? 0.73 : 0.25) * std::log(apart / 9720.0);
}

// Of batched FP32 products: the share of the bandwidth that operands and results reach and how sharply their time meets
// that of the products; what rows of the left factor reach where they are 500 long, how that falls with their length,
// and what of it rows save that begin at whole lines.
struct BatchTraffic {
  double streams, sharpness, apart, longer, aligned;
};

// By tools/fit/batched_products.py, with the constants of tiles. How products of gradients read theirs was not
// measured.
const BatchTraffic& batch_traffic(const Device& device, bool training) {
  static constexpr BatchTraffic kAmpere{0.917, 4.9, 0.371, 0.298, 0.324};
  static constexpr BatchTraffic kVolta{0.885, 2.68, 0.371, 0.298, 0.324};
  static constexpr BatchTraffic kPascal{0.825, 12.1, 0.371, 0.298, 0.324};
  static constexpr BatchTraffic kTuring{0.78, 4.3, 0.42, 0.24, 0.57};
  static constexpr BatchTraffic kOthers{0.78, 18.0, 0.42, 0.24, 0.57};
  const bool turing_or_volta = device.capability >= 7.0 && device.capability < 8.0;
  if (training || device.capability < 5.0) return turing_or_volta ? kTuring : kOthers;
  if (device.capability >= 8.0) return kAmpere;
  if (turing_or_volta) return device.capability == 7.0 ? kVolta : kTuring;
  return kPascal;
}

// How much more of the bandwidth rows of the left factor of a batched product take: a tile reads a few numbers of each
// at a time, and of rows that do not begin at a whole line more than it needs.
double strided_rows(const GemmWork& work, const BatchTraffic& traffic) {
  const double share = std::pow(static_cast<double>(work.depth) / 500.0, traffic.longer) / traffic.apart;
  const double more = std::max(0.0, share - 1.0);
  return more * (1.0 - traffic.aligned * std::log2(power_of_two_in(work.depth, 64)) / 6.0);
}

// By so many times its results' bytes writing a linear layer's takes longer on Pascal, Volta and Turing.
double slow_results(const GemmWork& work, const Device& device) {
  const bool slow = device.capability >= 6.0 && device.capability < 8.0;
  return slow && work.weight && work.batch == 1 && work.arithmetic == Arithmetic::kFp32 ? 0.57 : 0.0;
}

// In NeuSight's sweeps of FP32 products long calls find the GPU hot and slower than in a network, and short ones end
// before the power limit has slowed it down: so much longer they take.
double sweep_clock(double time, const Device& device) {
  constexpr double kShort = 2.5e-3;  // seconds a call
  const bool older = device.capability < 8.0;
  const double kept = (older ? 0.98 : 0.36) / (1.0 + std::pow(time / kShort, 1.5));
  return std::pow(device.held_at(Arithmetic::kFp32), kept - (older ? 0.37 : 0.0));
}

// Share of the bandwidth that operands and results reach, and how sharply their time meets that of the products.
struct Traffic {
  double streams, sharpness;
};

// Of FP32 by tools/fit/fp32_products.py and cdna_products.py, with the constants of tiles.
Traffic traffic_of(const GemmWork& work, const Device& device, bool training) {
  if (is_simt(work) && device.cdna) return {kCdnaStreamed, 1.6};
  if (is_simt(work) && work.batch > 1) {
    const BatchTraffic& batch = batch_traffic(device, training);
    return {batch.streams, batch.sharpness};
  }
  if (is_simt(work)) return {0.84, 1.46};
  return {work.arithmetic == Arithmetic::kFp8 ? 0.75 : 0.83, 1.9};
}

// Bytes that take longer than they are: rows of a batched product's left factor, a layer's results.
double slow_bytes(const GemmWork& work, const Device& device, bool training) {
  const double bytes =
      static_cast<double>(work.element_bytes) * static_cast<double>(work.batch) * static_cast<double>(work.rows);
  if (work.arithmetic != Arithmetic::kFp32 || work.batch == 1 || training || device.cdna)
    return bytes * static_cast<double>(work.columns) * slow_results(work, device);
  return bytes * static_cast<double>(work.depth) * strided_rows(work, batch_traffic(device, training));
}

// Seconds of the kernel that sums up the result's gradient for the bias. Every FP32 layer that was measured had one, so
// there the trees know of it.
double bias_gradient(const GemmWork& work, const Device& device) {
  if (work.bias == 0 || is_simt(work)) return 0.0;
  const auto read = static_cast<double>(work.batch * work.rows * work.columns * work.output_bytes);
  return read / (0.9 * device.bandwidth);
}

// Of so many bytes, the weight's among them once, in training three times. What a network reads between two uses of a
// weight has put it out of the cache.
double moving_time(double bytes, double weight, double set, double streams, const Device& device, Situation situation) {
  if (weight <= 0.0 || situation.weights <= weight) return memory_time(bytes, set, device, streams);
  const double away = weight * (situation.state == State::kTraining ? 3.0 : 1.0);
  return memory_time(bytes - away, set, device, streams) +
         memory_time(away, std::max(set, situation.weights), device, streams);
}

double ctas(const Shape3& s, double tile) {
  return s.batch * ceil_div(s.rows, tile) * ceil_div(s.columns, tile);
}

void append_simt(const GemmWork& work, const Device& device, Situation situation, const Shape3& s, const Physics& p,
                 const Parts& part, std::span<float> features) {
  const double full = ctas(s, 128);
  // A bare loop has no modules and another version of cuBLAS: it is none of the states.
  const double state = situation.host == Host::kBare ? -1.0 : static_cast<double>(situation.state);
  const double values[] = {part.tiled / p.bound,
                           part.moved / p.bound,
                           p.host / p.bound,
                           part.tiled / part.moved,
                           p.compute / p.bound,
                           std::max(p.compute, p.memory) / p.bound,
                           s.batch,
                           s.rows,
                           s.columns,
                           s.depth,
                           s.batch * s.rows * s.columns,
                           full / device.sm,
                           ctas(s, 64) / device.sm,
                           s.batch * s.rows * s.columns / (full * 128 * 128),
                           quantisation(full / device.sm),
                           power_of_two_in(work.rows, 64),
                           power_of_two_in(work.columns, 64),
                           power_of_two_in(work.depth, 64),
                           part.set / device.l2,
                           p.bytes / device.l2,
                           s.batch * s.columns * s.depth * static_cast<double>(work.element_bytes) / device.l2,
                           state,
                           work.weight ? 0.0 : 1.0};
  static_assert(std::size(values) == kGemmSimtFeatures.size());
  write_features(values, features);
}

void append_tensor(const GemmWork& work, const Device& device, const Shape3& s, const Physics& p, const Parts& part,
                   const TileChoice& tile, Situation situation, std::span<float> features) {
  const double full = ctas(s, 128) / device.sm;
  const double ideal = 2.0 * s.batch * s.rows * s.columns * s.depth / p.peak;
  const double values[] = {part.tiled / p.bound,
                           part.moved / p.bound,
                           p.host / p.bound,
                           part.tiled / part.moved,
                           p.compute / p.bound,
                           s.rows,
                           s.columns,
                           s.depth,
                           tile.area,
                           tile.split,
                           tile.waves,
                           quantisation(tile.waves),
                           full,
                           quantisation(full),
                           power_of_two_in(work.rows, 64),
                           power_of_two_in(work.columns, 64),
                           power_of_two_in(work.depth, 64),
                           part.set / device.l2,
                           p.bytes / device.l2,
                           code(work.arithmetic),
                           ideal * device.clock,
                           p.memory * 1e6,
                           p.bound * 1e6,
                           engine_feature(situation.engine) + (situation.block_scaled ? 3.0 : 0.0)};
  static_assert(std::size(values) == kGemmTensorFeatures.size());
  write_features(values, features);
}

// One product by a kernel of the engine's, not cuBLAS'.
Physics quantised(const GemmWork& work, const Device& device, Situation situation, std::span<float> features) {
  const Shape3 s{static_cast<double>(work.batch * work.rows), static_cast<double>(work.columns),
                 static_cast<double>(work.depth), 1.0};
  Physics p;
  p.peak = device.product_peak(work.arithmetic);
  const QuantisedProduct product = quantised_product(s.rows, s.columns, s.depth, work.arithmetic, device, situation);
  const auto in = static_cast<double>(work.element_bytes);
  const auto out = static_cast<double>(work.output_bytes);
  p.bytes = work.arithmetic == Arithmetic::kFp4 ? product.bytes
                                                : in * (s.rows + s.columns) * s.depth + out * s.rows * s.columns;
  p.gpu = joined(product.tile.time, product.moved, 1.9) + product.quantise;
  const bool captured = situation.host == Host::kCaptured;
  p.host = captured ? product.start : host_floor(work, device, situation);
  p.bound = product.beside || !captured ? joined(p.gpu, p.host, 4.0) : p.gpu + p.host;
  p.compute = 2.0 * s.rows * s.columns * s.depth / p.peak;
  p.memory = p.bytes / device.bandwidth;
  append_tensor(work, device, s, p, {product.tile.time, product.moved, product.set}, product.tile, situation, features);
  return p;
}

}  // namespace

Physics physics_of(const GemmWork& work, const Device& device, Situation situation, std::span<float> features) {
  const bool training = situation.state == State::kTraining;
  const bool captured = situation.host == Host::kCaptured;
  const bool simt = is_simt(work);
  const bool by_engine = work.arithmetic == Arithmetic::kFp8 && captured && situation.engine != Engine::kPytorch &&
                         !training && work.batch == 1;
  if (work.steps > 0) return recurrent(work, device, situation, features);
  if (by_engine || work.arithmetic == Arithmetic::kFp4) return quantised(work, device, situation, features);
  const auto b = static_cast<double>(work.batch);
  const auto m = static_cast<double>(work.rows);
  const auto n = static_cast<double>(work.columns);
  const auto k = static_cast<double>(work.depth);
  const auto in = static_cast<double>(work.element_bytes);
  const auto out = static_cast<double>(work.output_bytes);
  const double peak = device.product_peak(work.arithmetic);

  const Factors factors{.layer = work.weight, .rows = rows_of(work, device)};
  const TileChoice tile = tile_product(b, m, n, k, work.arithmetic, device, factors);
  const bool vector = multiplies_vector(work, device);
  const double by_vector = started(1.0, device, situation.host) + 2.0 * b * m * n * k / peak;
  double tiled = vector ? by_vector : tile.time * deep_rows(work, device);
  const bool bare = situation.host == Host::kBare && !device.cdna;
  if (situation.swept && work.arithmetic == Arithmetic::kFp32 && !device.cdna) tiled *= sweep_clock(tiled, device);
  Physics p;
  if (training) {  // gradients of the input [m, k] and of the weight [n, k]
    const bool row = vector && work.rows == 1, column = vector && work.columns == 1;
    const double of_input = row ? by_vector : tile_product(b, m, k, n, work.arithmetic, device, factors).time;
    tiled += of_input + (column ? by_vector : tile_product(b, n, k, m, work.arithmetic, device, factors).time);
    p.input_gradient = of_input / tiled;
  }
  // Of batched products that add to their gradients nobody measured any.
  const double added_up = training && work.weight && work.batch == 1 ? 3.0 * in * (m * k + n * k) : 0.0;
  p.accumulation = added_up / (0.9 * device.bandwidth);
  p.bytes = b * (in * m * k + in * n * k + out * m * n) * (training ? 3.0 : 1.0) + added_up;
  // Captured benchmarks cycle through five copies of the weight.
  const double set = b * (in * m * k + out * m * n + (captured ? 5.0 : 1.0) * in * n * k);
  const Traffic traffic = traffic_of(work, device, training);
  const double weight = work.weight ? b * in * n * k : 0.0;
  const double moved =
      moving_time(p.bytes + slow_bytes(work, device, training), weight, set, traffic.streams, device, situation);
  p.gpu = joined(tiled, moved, traffic.sharpness) + (training ? bias_gradient(work, device) : 0.0);
  p.host = host_floor(work, device, situation);
  const double waited = work.weight ? 0.64 : 0.56;  // by a bare loop
  p.bound = captured ? p.gpu + p.host
            : bare   ? call_time(p.gpu, p.host, device, Host::kBare, waited)
                     : joined(p.gpu, p.host, 4.0);
  p.compute = 2.0 * b * m * n * k * (training ? 3.0 : 1.0) / peak;
  p.memory = p.bytes / device.bandwidth;

  p.peak = peak;
  const Shape3 shape{m, n, k, b};
  if (simt) {
    append_simt(work, device, situation, shape, p, {tiled, moved, set}, features);
  } else {
    append_tensor(work, device, shape, p, {tiled, moved, set}, tile, situation, features);
  }
  return p;
}

}  // namespace joulecast
