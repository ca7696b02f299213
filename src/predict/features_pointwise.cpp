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

// Seconds to move a pass' bytes, of one tensor that is read or of two.
double pass_time(double bytes, bool two, const Device& device) {
  if (bytes <= 0.0) return 0.0;
  return bytes * from_l2(bytes, device) / ((two ? two_read(device) : 0.9) * device.bandwidth);
}

// Copies read one tensor forward and backward; the gradients of all else read what comes back and what was kept.
double plain_time(const PointwiseWork& work, double forward, double backward, const Device& device) {
  const bool two = work.kind >= PointwiseKind::kAdd && work.kind <= PointwiseKind::kPow;
  const double eager = pass_time(forward, two, device) + pass_time(backward, work.kind != PointwiseKind::kCopy, device);
  if (work.kind != PointwiseKind::kFused) return eager;
  // What a fused kernel reads was written just before: the part that fits is still in the L2.
  return std::min(eager, memory_time(forward + backward, forward, device, 0.9));
}

// Without accumulation. A formula of several kernels starts as one; what a StochasticDepth draws is small.
double own_time(const PointwiseWork& work, double forward, double backward, const Device& device, Host host) {
  const double bytes = forward + backward;
  const double kernels = (forward > 0.0 ? 1.0 : 0.0) + (backward > 0.0 ? 1.0 : 0.0);
  const double placed = static_cast<double>(work.placed) * place_cycles(device) / (device.sm * device.clock);
  const double moved = device.cdna           ? cdna_time(work, bytes, device)
                       : work.gated_rows > 0 ? gated_time(work, bytes / (0.9 * device.bandwidth), device)
                                             : plain_time(work, forward, backward, device);
  return std::max({moved, placed, kTurn * static_cast<double>(work.in_turn)}) + started(kernels, device, host);
}

}  // namespace

Physics physics_of(const PointwiseWork& work, const Device& device, Situation situation, std::span<float> features) {
  const bool training = situation.state == State::kTraining;
  const bool depth = work.kind == PointwiseKind::kStochasticDepth;
  const bool idle = depth && (!work.active || situation.state == State::kEval);  // no kernel at all
  const bool binary = work.kind >= PointwiseKind::kAdd && work.kind <= PointwiseKind::kPow;
  const auto elements = static_cast<double>(work.elements);
  const double forward = idle ? 0.0 : static_cast<double>(work.forward_bytes);
  const double backward = idle || !training ? 0.0 : static_cast<double>(work.backward_bytes);
  const double added_up = training ? 3.0 * static_cast<double>(work.element_bytes) * elements : 0.0;
  Physics p;
  p.accumulation = accumulation_time(added_up, device, situation.host);
  p.bytes = forward + backward + added_up;
  p.memory = memory_busy(p.bytes, from_l2(p.bytes, device), training, device);
  p.gpu = own_time(work, forward, backward, device, situation.host) + p.accumulation;
  if (training && waits_for_calls(situation.host)) p.filling = p.gpu - device.start;
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
