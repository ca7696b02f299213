// SPDX-License-Identifier: Apache-2.0
// Norms, softmax and pooling: traffic, what their kernels cost beside it, and the call.
#include <array>

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

bool is_layer_norm(ReductionKind kind) {
  return kind == ReductionKind::kLayerNorm || kind == ReductionKind::kGroupNorm;
}

// Threads that an SM holds at once, by compute capability: CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability".
double resident_threads(double capability) {
  if (capability == 7.5) return 1024.0;
  const bool few = capability >= 12.0 || (capability > 8.0 && capability < 9.0);
  return few ? 1536.0 : 2048.0;
}

// PyTorch's layer norm has a block of 128 threads for each row, which reads it for its mean and reads it again: of
// that second time, the share that comes from memory, for the rows of all blocks that run at once fill the L2. From
// NeuSight's rows of more than a millisecond, where it goes from none at a quarter of the L2 to all at the whole.
double read_again(const ReductionWork& w, const Device& device) {
  constexpr double kThreads = 128.0, kOctaves = 2.0;
  const double blocks = device.sm * resident_threads(device.capability) / kThreads;
  const double held = std::min(static_cast<double>(w.rows), blocks) * static_cast<double>(w.columns * w.element_bytes);
  return std::clamp(1.0 + std::log2(std::max(1.0, held) / device.l2) / kOctaves, 0.0, 1.0);
}

// Bytes as PyTorch's kernels move them, for elements of `size` bytes: batch norm in training state reads its input
// twice, max pooling carries 64-bit indices and walks them back.
Traffic traffic_of(const ReductionWork& w, State state, const Device& device) {
  const auto size = static_cast<double>(w.element_bytes);
  const auto in = static_cast<double>(w.in_elements);
  const auto both = in + static_cast<double>(w.out_elements);
  const double accumulation = state == State::kTraining ? 3.0 * size * in : 0.0;
  if (w.kind == ReductionKind::kMaxPool) return {2.25 * size * both, 8.0 * size * both, accumulation};
  if (w.kind == ReductionKind::kAdaptivePool) return {size * both, size * both, accumulation};
  if (is_pool(w.kind) || w.kind == ReductionKind::kReduce) return {size * both, 2.0 * size * both, accumulation};
  double reads = 1.0;
  if (w.kind == ReductionKind::kBatchNorm && state != State::kEval) reads = 2.0;
  if (is_layer_norm(w.kind) && !w.by_engine && !device.cdna) reads += read_again(w, device);
  return {(reads + 1.0) * size * in, 5.0 * size * in, accumulation};
}

// What kernels cost beside what they move, in cycles of an SM each. From A30 and RTX 2080 Ti.
constexpr double kAverageRow = 40.0;    // the few threads that average a row add up what each read
constexpr double kPlacesWarp = 90.0;    // a warp's divisions of 64-bit integers, for 32 places of adaptive pooling
constexpr double kNormPlane = 80.0;     // a block of batch norm in inference: a channel of an image of several places
constexpr double kSoftmaxColumn = 1.0;  // long rows are walked three times by one block, each column in so many cycles,
constexpr double kSoftmaxVector = 0.7;  // or four at once where rows are aligned
constexpr double kStreams = 0.9;        // of the bandwidth, by kernels that read and write once
constexpr double kSoftmaxStreams = 0.8;
constexpr double kNormStreams = 0.73;  // batch norm in FP32 comes less near; in halves, by timm's networks, it does
constexpr double kNormStreamsTraining = 0.79;  // less so in training, accumulation apart

double planes_of(const ReductionWork& w) {
  return static_cast<double>(w.in_elements) / static_cast<double>(std::max<std::int64_t>(1, w.spatial));
}

// Places on one side of what adaptive pooling makes of an image: it has a block for each image and channel, a warp for
// each 32 places of a row.
double pooled_side(const ReductionWork& w) {
  return std::ceil(std::sqrt(static_cast<double>(w.out_elements) / std::max(1.0, planes_of(w))));
}

// Of the SMs' time, where each channel has a block: fewer channels than SMs leave bandwidth unused, and so, in part,
// does a last wave that is not full.
double busy_share(double channels, double sm) {
  if (channels < sm) return channels / sm;
  return 1.0 / (1.0 + 0.57 * (std::ceil(channels / sm) * sm / channels - 1.0));
}

// The share of the SMs that batch norm's statistics keep busy. The RTX 2080 Ti's older library shares channels out.
double norm_share(const ReductionWork& w, const Device& device, Situation situation) {
  const bool by_channel =
      w.kind == ReductionKind::kBatchNorm && situation.state != State::kEval && situation.host != Host::kOlder;
  return by_channel ? busy_share(static_cast<double>(std::max<std::int64_t>(1, w.channels)), device.sm) : 1.0;
}

// How long an average's bytes take, as a share of the time from memory: what is read again and again, and hardly
// written, stays in the cache if it fits.
double from_cache(const ReductionWork& w, const Device& device) {
  if (w.out_elements * 16 > w.in_elements) return 1.0;
  const double set = static_cast<double>(w.element_bytes) * static_cast<double>(w.in_elements);
  return std::clamp(set / device.l2, 0.7, 1.0);
}

double streams_of(const ReductionWork& w, State state) {
  if (w.kind == ReductionKind::kSoftmax) return kSoftmaxStreams;
  if (w.kind != ReductionKind::kBatchNorm) return kStreams;
  if (state == State::kEval && w.element_bytes == 2) return kStreams;
  return state == State::kTraining ? kNormStreamsTraining : kNormStreams;
}

// Cycles of an SM for one row of softmax: none where a warp holds the row.
double softmax_row_cycles(double columns, bool aligned) {
  return columns <= 1024.0 ? 0.0 : columns * kSoftmaxColumn * (aligned ? kSoftmaxVector : 1.0);
}

// Seconds of an SM for what a kernel does beside moving, on all of them: `together` a second.
double busy_time(const ReductionWork& w, Situation situation, double together) {
  const bool training = situation.state == State::kTraining;
  const auto rows = static_cast<double>(w.rows);
  const auto columns = static_cast<double>(w.columns);
  switch (w.kind) {
    case ReductionKind::kLayerNorm:
    case ReductionKind::kGroupNorm:  // the newer kernel of PyTorch 2.1 in bare loops
      return rows * (300.0 + 0.7 * columns) * (training ? 3.2 : 1.0) * (situation.host == Host::kBare ? 0.3 : 1.0) /
             together;
    case ReductionKind::kBatchNorm:
      return situation.state == State::kEval && w.spatial > 1 && !w.channels_last ? planes_of(w) * kNormPlane / together
                                                                                  : 0.0;
    case ReductionKind::kSoftmax:
      // The gradient of long rows was measured nowhere: it counts as the same again.
      return rows * softmax_row_cycles(columns, w.columns % 4 == 0) * (training ? 2.0 : 1.0) / together;
    case ReductionKind::kAdaptivePool: {
      const double side = pooled_side(w);
      if (side <= 1.0) return rows * kAverageRow / together;
      return planes_of(w) * side * std::ceil(side / 32.0) * kPlacesWarp * (training ? 2.0 : 1.0) / together;
    }
    default:
      return 0.0;
  }
}

// How moving and the rest share the time.
double shared_time(const ReductionWork& w, double moved, double busy) {
  if (w.kind == ReductionKind::kAdaptivePool && pooled_side(w) <= 1.0) return moved + busy;
  return w.kind == ReductionKind::kSoftmax ? joined2(moved, busy) : joined_by_squares<2>(moved, busy);
}

// What a row costs on CDNA by itself, in cycles of a compute unit; fitted on the MI100. Softmax leaves its kernel of
// one wavefront a row for one of a block a row where rows are longer than 1024, which reads four columns at once if it
// can.
double cdna_row_cycles(const ReductionWork& w) {
  const auto columns = static_cast<double>(w.columns);
  if (is_layer_norm(w.kind)) return 1000.0 + 1.1 * columns;
  if (w.kind != ReductionKind::kSoftmax || w.columns <= 1024) return 0.0;
  return w.columns % 4 == 0 ? 2400.0 + 1.2 * columns : 3000.0 + 2.0 * columns;
}

// A layer norm reads its input twice there.
double cdna_time(const ReductionWork& w, double bytes, bool training, const Device& device) {
  const bool layer = is_layer_norm(w.kind);
  const double row =
      static_cast<double>(w.rows) * cdna_row_cycles(w) * (training ? 3.0 : 1.0) / (device.sm * device.clock);
  const double moved = (layer ? 1.5 : 1.0) * bytes / (kCdnaStreamed * device.bandwidth);
  return std::max(moved, row);
}

// vLLM's RMS norm: a block walks its row twice, a number at a time, and what it reads the second time comes from memory
// again; where few rows leave SMs idle, a row's own turns count. Fitted by tools/fit/vidur.py on vidur's A40, A100 and
// H100, and as well by two of them.
constexpr double kEngineReads = 1.5;     // of the bytes read once and written once
constexpr double kEngineNumber = 0.857;  // cycles of an SM
constexpr double kEngineTurn = 1430;     // cycles of both walks' turns

double engine_time(const ReductionWork& w, double bytes, const Device& device) {
  const double cycles = kEngineNumber * static_cast<double>(w.in_elements) / device.sm;
  const double row = kEngineTurn * engine_turns(static_cast<double>(w.columns));
  return std::max(bytes / (kStreams * device.bandwidth), std::max(cycles, row) / device.clock);
}

double kernel_time(const ReductionWork& w, const Physics& p, double moved, double norm, State state,
                   const Device& device) {
  if (w.by_engine) return engine_time(w, p.bytes, device);
  if (device.cdna) return cdna_time(w, p.bytes / norm, state == State::kTraining, device);
  return shared_time(w, moved, p.compute);
}

Physics with_features(const ReductionWork& work, const Device& device, Situation situation, std::span<float> features) {
  const bool training = situation.state == State::kTraining;
  const auto size = static_cast<double>(work.element_bytes);
  const auto in = static_cast<double>(work.in_elements);
  const auto out = static_cast<double>(std::max<std::int64_t>(1, work.out_elements));
  const auto channels = static_cast<double>(std::max<std::int64_t>(1, work.channels));
  const auto rows = static_cast<double>(work.rows);
  const auto columns = static_cast<double>(work.columns);
  const Traffic traffic = traffic_of(work, situation.state, device);
  const double norm = norm_share(work, device, situation);
  const double own = (traffic.forward * from_cache(work, device) + (training ? traffic.backward : 0.0)) / norm;
  const double moved = own / (streams_of(work, situation.state) * device.bandwidth) +
                       traffic.accumulation / (kStreams * device.bandwidth);
  const bool layer = is_layer_norm(work.kind);

  Physics p;
  p.accumulation_bytes = traffic.accumulation;
  p.bytes = (work.by_engine ? kEngineReads : 1.0) * traffic.forward + (training ? traffic.backward : 0.0) +
            traffic.accumulation;
  p.memory = p.bytes / device.bandwidth;
  p.compute = busy_time(work, situation, device.sm * device.clock);
  p.gpu = kernel_time(work, p, moved, norm, situation.state, device);
  p.host = host_floor(work, device, situation);
  p.peak = device.fp32;
  p.bound = call_time(p.gpu, p.host, device, situation.host);

  const double values[] = {moved / p.bound,
                           p.host / p.bound,
                           p.gpu / p.host,
                           layer ? p.compute / p.bound : 0.0,
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

}  // namespace

Physics physics_of(const ReductionWork& work, const Device& device, Situation situation, std::span<float> features) {
  return seen_channels_first(work, features, [&](const ReductionWork& w, std::span<float> out) {
    return with_features(w, device, situation, out);
  });
}

}  // namespace joulecast
