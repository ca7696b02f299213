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

// Copies, dropout and the rest have no measurements of their own: they count as plain unary work.
double code(PointwiseKind kind) {
  const bool measured = kind <= PointwiseKind::kStochasticDepth;
  return static_cast<double>(measured ? kind : PointwiseKind::kTanh);
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
  p.gpu = p.bytes / (0.9 * device.bandwidth);
  p.host = host_floor(work, device, situation);
  p.peak = device.fp32;
  p.bound = joined16(p.gpu, p.host);

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
