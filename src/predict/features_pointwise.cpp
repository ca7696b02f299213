// SPDX-License-Identifier: Apache-2.0
// Elementwise work: the larger of its traffic and the call.
#include "predict/feature_lists.h"
#include "predict/law.h"

namespace joulecast {

const std::array<std::string_view, 14> kPointwiseFeatures{
    "memory",     "host",         "memory_per_host",  "kind",
    "binary",     "active",       "stochastic_depth", "elements",
    "set_per_l2", "bytes_per_l2", "p2_elements",      "elements_per_thread",
    "state",      "in_place"};

namespace {

// Between two values that a thread makes in turn: a read of memory that nothing hides. What timm's EfficientFormerV2,
// which enlarges 7 x 7 pixels, takes beyond its other work: 0.28 us on the RTX 3090, 0.24 on the 4090, 0.38 on the RTX
// PRO 6000.
constexpr double kTurn = 0.3e-6;

// SM cycles to work out the place of an element: six integer divisions, two for each axis but the innermost, for which
// an SM has 64 lanes; Pascal multiplies integers in several steps. From decoders of HW-GPT-Bench, whose rotary
// embeddings join slices: 3.8 on an A100, 4 to 5 on A40, RTX A6000, RTX 3080 and V100, 3 to 4 on an H100, 9 on a P100.
double place_cycles(const Device& device) {
  return device.capability > 0.0 && device.capability < 7.0 ? 8.0 : 4.0;
}

// vLLM's silu(a) * b: a block of 1024 threads goes through a row number by number, which takes an SM cycles; where few
// rows leave SMs idle, a row's own turns count. Fitted by tools/fit/vidur.py on vidur's A40, A100 and H100 together; by
// two of them the third is 9 to 16 % off.
double gated_time(const PointwiseWork& work, double moved, const Device& device) {
  constexpr double kRow = 442, kNumber = 0.735, kSharpness = 2.42, kTurnCycles = 1200;
  const auto rows = static_cast<double>(work.gated_rows);
  const auto numbers = static_cast<double>(work.elements);
  const double cycles = (kRow * rows + kNumber * numbers) / device.sm;
  const double row = kTurnCycles * engine_turns(numbers / rows);
  return std::max(joined(moved, cycles / device.clock, kSharpness), row / device.clock);
}

// Copies, dropout and the rest have no measurements of their own: they count as plain unary work.
double code(PointwiseKind kind) {
  const bool measured = kind <= PointwiseKind::kStochasticDepth;
  return static_cast<double>(measured ? kind : PointwiseKind::kTanh);
}

// On CDNA: the share of the bandwidth is that of its memory, and pow is arithmetic. Fitted on the MI100.
double cdna_time(const PointwiseWork& work, double bytes, const Device& device) {
  const bool pow = work.kind == PointwiseKind::kPow || work.kind == PointwiseKind::kPowScalar;
  const double arithmetic = pow ? 2.7 * static_cast<double>(work.elements) / (device.sm * device.clock) : 0.0;
  return std::max(bytes / (kCdnaStreamed * device.bandwidth), arithmetic);
}

}  // namespace

Physics physics_of(const PointwiseWork& work, const Device& device, Situation situation, std::span<float> features) {
  const bool training = situation.state == State::kTraining;
  const bool depth = work.kind == PointwiseKind::kStochasticDepth;
  const bool idle = depth && (!work.active || situation.state == State::kEval);  // no kernel at all
  const bool binary = work.kind >= PointwiseKind::kAdd && work.kind <= PointwiseKind::kPow;
  const auto elements = static_cast<double>(work.elements);
  Physics p;
  p.accumulation_bytes = training ? 12.0 * elements : 0.0;
  p.bytes = (idle ? 0.0 : static_cast<double>(work.forward_bytes + (training ? work.backward_bytes : 0))) +
            p.accumulation_bytes;
  p.memory = p.bytes / device.bandwidth;
  // What a fused kernel reads was written just before: the part that fits is still in the L2.
  const double plain = work.kind == PointwiseKind::kFused
                           ? memory_time(p.bytes, static_cast<double>(work.forward_bytes), device, 0.9)
                           : p.bytes / (0.9 * device.bandwidth);
  const double placed = static_cast<double>(work.placed) * place_cycles(device) / (device.sm * device.clock);
  const double moved = work.gated_rows > 0 ? gated_time(work, plain, device) : plain;
  p.gpu = std::max(
      {device.cdna ? cdna_time(work, p.bytes, device) : moved, placed, kTurn * static_cast<double>(work.in_turn)});
  p.host = host_floor(work, device, situation);
  p.peak = device.fp32;
  p.bound = call_time(p.gpu, p.host, device, situation.host);

  const auto set = static_cast<double>(work.forward_bytes);
  const double values[] = {p.gpu / p.bound,
                           p.host / p.bound,
                           p.gpu / p.host,
                           code(work.kind),
                           binary ? 1.0 : 0.0,
                           depth && work.active ? 1.0 : 0.0,
                           depth ? 1.0 : 0.0,
                           elements,
                           set / device.l2,
                           p.bytes / device.l2,
                           power_of_two_in(work.elements, 16),
                           elements / (device.sm * 2048.0),
                           static_cast<double>(situation.state),
                           static_cast<double>(work.in_place)};
  static_assert(std::size(values) == kPointwiseFeatures.size());
  write_features(values, features);
  return p;
}

}  // namespace joulecast
