// SPDX-License-Identifier: Apache-2.0
// Norms, softmax and pooling: traffic, the latency of rows that one block walks, and the call.
#include "predict/feature_lists.h"
#include "predict/law.h"

namespace joulecast {

const std::array<std::string_view, 22> kReductionFeatures{"memory",
                                                          "host",
                                                          "gpu_per_host",
                                                          "row",
                                                          "kind",
                                                          "in_elements",
                                                          "out_elements",
                                                          "channels",
                                                          "spatial",
                                                          "rows",
                                                          "columns",
                                                          "set_per_l2",
                                                          "bytes_per_l2",
                                                          "window",
                                                          "p2_spatial",
                                                          "p2_columns",
                                                          "rows_per_sm",
                                                          "channels_per_sm",
                                                          "channel_quantisation",
                                                          "state",
                                                          "reduction",
                                                          "per_channel"};

namespace {

bool is_pool(ReductionKind kind) {
  return kind == ReductionKind::kAdaptivePool || kind == ReductionKind::kAveragePool || kind == ReductionKind::kMaxPool;
}

// The kinds without measurements behave like the nearest one with: group norm like layer norm, a plain reduction like
// average pooling.
double code(ReductionKind kind) {
  if (kind == ReductionKind::kGroupNorm) kind = ReductionKind::kLayerNorm;
  if (kind == ReductionKind::kReduce) kind = ReductionKind::kAdaptivePool;
  return static_cast<double>(kind);
}

struct Traffic {
  double forward, backward, accumulation;
};

// Bytes as PyTorch's kernels move them, for elements of `size` bytes: batch norm in training state reads its input
// twice, max pooling carries 64-bit indices and walks them back.
Traffic traffic_of(const ReductionWork& w, State state, double size) {
  const auto in = static_cast<double>(w.in_elements);
  const auto both = in + static_cast<double>(w.out_elements);
  const double accumulation = state == State::kTraining ? 3.0 * size * in : 0.0;
  if (w.kind == ReductionKind::kMaxPool) return {2.25 * size * both, 8.0 * size * both, accumulation};
  if (is_pool(w.kind) || w.kind == ReductionKind::kReduce) return {size * both, 2.0 * size * both, accumulation};
  const bool statistics = w.kind == ReductionKind::kBatchNorm && state != State::kEval;
  return {(statistics ? 3.0 : 2.0) * size * in, 5.0 * size * in, accumulation};
}

// What a row costs on CDNA by itself, in cycles of a compute unit; fitted on the MI100. Softmax leaves its kernel of
// one wavefront a row for one of a block a row where rows are longer than 1024, which reads four columns at once if it
// can.
double cdna_row_cycles(const ReductionWork& w) {
  const auto columns = static_cast<double>(w.columns);
  if (w.kind == ReductionKind::kLayerNorm || w.kind == ReductionKind::kGroupNorm) return 1000.0 + 1.1 * columns;
  if (w.kind != ReductionKind::kSoftmax || w.columns <= 1024) return 0.0;
  return w.columns % 4 == 0 ? 2400.0 + 1.2 * columns : 3000.0 + 2.0 * columns;
}

// A layer norm reads its input twice there.
double cdna_time(const ReductionWork& w, double bytes, bool training, const Device& device) {
  const bool layer = w.kind == ReductionKind::kLayerNorm || w.kind == ReductionKind::kGroupNorm;
  const double row =
      static_cast<double>(w.rows) * cdna_row_cycles(w) * (training ? 3.0 : 1.0) / (device.sm * device.clock);
  const double moved = (layer ? 1.5 : 1.0) * bytes / (kCdnaStreamed * device.bandwidth);
  return std::max(moved, row);
}

}  // namespace

Physics physics_of(const ReductionWork& work, const Device& device, Situation situation, std::span<float> features) {
  const bool training = situation.state == State::kTraining;
  const auto size = static_cast<double>(work.element_bytes);
  const auto in = static_cast<double>(work.in_elements);
  const auto out = static_cast<double>(std::max<std::int64_t>(1, work.out_elements));
  const auto channels = static_cast<double>(std::max<std::int64_t>(1, work.channels));
  const auto rows = static_cast<double>(work.rows);
  const auto columns = static_cast<double>(work.columns);
  const Traffic traffic = traffic_of(work, situation.state, size);
  // One block a channel: fewer channels than SMs leave bandwidth unused.
  const bool by_channel = work.kind == ReductionKind::kBatchNorm && situation.state != State::kEval;
  const double share = by_channel ? std::min(1.0, channels / device.sm) : 1.0;

  Physics p;
  p.accumulation_bytes = traffic.accumulation;
  p.bytes = traffic.forward + (training ? traffic.backward : 0.0) + traffic.accumulation;
  p.memory = p.bytes / device.bandwidth;
  const double moved = ((traffic.forward + (training ? traffic.backward : 0.0)) / share + traffic.accumulation) /
                       (0.9 * device.bandwidth);
  const bool layer = work.kind == ReductionKind::kLayerNorm || work.kind == ReductionKind::kGroupNorm;
  double row = layer ? rows * (300.0 + 0.7 * columns) * (training ? 3.2 : 1.0) / (device.sm * device.clock) : 0.0;
  if (situation.host == Host::kBare) row *= 0.3;  // the newer kernel of PyTorch 2.1
  p.gpu = device.cdna ? cdna_time(work, p.bytes / share, training, device) : std::max(moved, row);
  p.host = host_floor(work, device, situation);
  p.peak = device.fp32;
  p.bound = call_time(p.gpu, p.host, device);

  const double values[] = {moved / p.bound,
                           p.host / p.bound,
                           p.gpu / p.host,
                           row / p.bound,
                           code(work.kind),
                           in,
                           out,
                           channels,
                           static_cast<double>(work.spatial),
                           rows,
                           columns,
                           size * (in + out) / device.l2,
                           p.bytes / device.l2,
                           static_cast<double>(work.window),
                           power_of_two_in(work.spatial, 8),
                           power_of_two_in(work.columns, 64),
                           rows / device.sm,
                           channels / device.sm,
                           quantisation(channels / device.sm),
                           static_cast<double>(situation.state),
                           in / out,
                           in / channels};
  static_assert(std::size(values) == kReductionFeatures.size());
  write_features(values, features);
  return p;
}

}  // namespace joulecast
