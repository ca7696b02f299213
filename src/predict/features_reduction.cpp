// SPDX-License-Identifier: Apache-2.0
// Norms, softmax and pooling: traffic, what their kernels cost beside it, and the call.
#include <array>
#include <bit>

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

// Bytes of an SM's first cache that serve batch norm: its size by the CUDA C++ Programming Guide, as above, of which
// the share was found on A30 and RTX 2080 Ti.
double first_cache(double capability) {
  constexpr double kKib = 1024.0, kUsed = 0.6;
  if (capability >= 9.0 && capability < 12.0) return kUsed * 256 * kKib;
  if (capability == 8.0 || capability == 8.7) return kUsed * 192 * kKib;
  if (capability == 7.5) return kUsed * 96 * kKib;
  return capability >= 7.0 ? kUsed * 128 * kKib : 1.0;  // before Volta it does not hold what kernels read
}

// Batch norm in training has a block of 512 threads for each channel. So many run on an SM at once: on an A30 three, by
// the times of 16 to 2688 channels; on Turing no more fit.
double norm_blocks(double capability) {
  return capability == 7.5 ? 2.0 : 3.0;
}

// Images channels-first; in other orders, and in training without places, other kernels walk channels side by side.
bool lies_in_planes(const ReductionWork& w) {
  return w.spatial > 1 && !w.channels_last;
}

// Of a channel, which batch norm in training reads twice, the share that the cache still has the second time.
double held_share(const ReductionWork& w, const Device& device) {
  constexpr double kMost = 0.83;  // of small ones, on both boards
  if (device.capability <= 0.0 || !lies_in_planes(w)) return 0.0;
  const auto channels = static_cast<double>(std::max<std::int64_t>(1, w.channels));
  const double blocks = std::clamp(channels / device.sm, 1.0, norm_blocks(device.capability));
  const double channel = static_cast<double>(w.in_elements * w.element_bytes) / channels;
  const double full = blocks * channel / first_cache(device.capability);
  return kMost / (1.0 + full * full);
}

double gradient_kernels(const ReductionWork& w) {
  if (w.kind != ReductionKind::kReduce) return 1.0;
  return 2.0 - static_cast<double>(w.gradient);
}

// Bytes as PyTorch's kernels move them, for elements of `size` bytes: batch norm in training state reads its input
// twice, and on the way back both its input and the gradient; max pooling carries 64-bit indices.
Traffic traffic_of(const ReductionWork& w, State state, const Device& device) {
  const auto size = static_cast<double>(w.element_bytes);
  const auto in = static_cast<double>(w.in_elements);
  const auto both = in + static_cast<double>(w.out_elements);
  const double accumulation = state == State::kTraining ? 3.0 * size * in : 0.0;
  if (w.kind == ReductionKind::kMaxPool) {
    const double moved = size * both + 8.0 * static_cast<double>(w.out_elements);
    return {moved, moved, accumulation};
  }
  if (w.kind == ReductionKind::kAdaptivePool) return {size * both, size * both, accumulation};
  if (w.kind == ReductionKind::kReduce) return {size * both, gradient_kernels(w) * size * both, accumulation};
  if (is_pool(w.kind)) return {size * both, 2.0 * size * both, accumulation};
  if (w.kind == ReductionKind::kBatchNorm && state != State::kEval) {
    const double again = 1.0 - held_share(w, device);
    return {(2.0 + again) * size * in, (3.0 + 2.0 * again) * size * in, accumulation};
  }
  double reads = 1.0;
  if (is_layer_norm(w.kind) && !w.by_engine && !device.cdna) reads += read_again(w, device);
  return {(reads + 1.0) * size * in, 5.0 * size * in, accumulation};
}

// What kernels cost beside what they move, in cycles of an SM each. From A30 and RTX 2080 Ti.
constexpr double kAverageRow = 34.6;  // the few threads that average a row add up what each read
constexpr double kOlderAverageRow = 24.0, kUnalignedRow = 1.15;  // before Ampere; of rows that are not read in fours
constexpr double kPlacesWarp = 90.0;  // a warp's divisions of 64-bit integers, for 32 places of adaptive pooling
// Pooling of windows, for each number of one: a thread an output (backward an input) works out places and goes through
// its windows number by number. Maxima of 3 x 3 with a stride of two on an A30, four sizes. Averages from networks
// alone: forward by tools/fit/cells.py from four boards, and Inception on an A30 agrees; backward from timm's steps on
// an RTX 3090.
constexpr double kMaximum = 0.44, kMaximumBack = 2.25;
constexpr double kWindowed = 0.5, kWindowedBack = 1.5;
constexpr double kNormPlane = 61.0;     // a block of batch norm in inference: a channel of an image
constexpr double kSoftmaxColumn = 1.0;  // long rows are walked three times by one block, each column in so many cycles,
constexpr double kSoftmaxVector = 0.7;  // or four at once where rows are aligned

// Shares of the bandwidth, from the same two boards.
constexpr double kStreams = 0.9;  // of kernels that read and write once
constexpr double kReads = 0.93;   // that hardly write
constexpr double kSoftmaxStreams = 0.8;
constexpr double kSlowNormStreams = 0.75;  // batch norm in inference, in FP32: see Device::slow_norms
// Batch norm in training: its waves; so many bytes a cycle are the most that a block moves, in halves (from steps of
// timm's networks on an RTX 3090) less.
constexpr double kNormStreams = 0.93, kNormSharpness = 1.5, kNormRate = 8.1, kNormRateHalves = 5.7;
// The RTX 2080 Ti's older library shares channels out among blocks. Channels that do not begin at whole lines of 64
// bytes take it longer, and it streams less on the way forward.
constexpr double kOlderForward = 0.8, kOlderUnaligned = 1.4;

// Of layer norm's call, in bare loops, what the GPU waits for; from NeuSight's six boards.
constexpr double kNormWaitedShare = 0.8;

double planes_of(const ReductionWork& w) {
  return static_cast<double>(w.in_elements) / static_cast<double>(std::max<std::int64_t>(1, w.spatial));
}

// Places on one side of what adaptive pooling makes of an image: it has a block for each image and channel, a warp for
// each 32 places of a row.
double pooled_side(const ReductionWork& w) {
  return std::ceil(std::sqrt(static_cast<double>(w.out_elements) / std::max(1.0, planes_of(w))));
}

bool is_average(const ReductionWork& w) {
  return w.kind == ReductionKind::kAdaptivePool && pooled_side(w) <= 1.0;
}

// Batch norm in training: waves of a block a channel, each limited by the bandwidth and by what its blocks move at
// most.
double norm_time(const ReductionWork& w, double bytes, const Device& device) {
  const auto channels = static_cast<double>(std::max<std::int64_t>(1, w.channels));
  const double slots = norm_blocks(device.capability) * device.sm;
  const double block = bytes / channels / ((w.element_bytes == 2 ? kNormRateHalves : kNormRate) * device.clock);
  const auto wave = [&](double blocks) {
    const double moved = bytes / channels * blocks / (kNormStreams * device.bandwidth);
    return blocks > 0.0 ? joined(block, moved, kNormSharpness) : 0.0;
  };
  const double full = std::floor(channels / slots);
  return full * wave(slots) + wave(channels - full * slots);
}

double older_norm_time(const ReductionWork& w, double forward, double backward, const Device& device) {
  const bool aligned = w.spatial * w.element_bytes % 64 == 0;
  const double moved = forward / (kOlderForward * device.bandwidth) + backward / (kStreams * device.bandwidth);
  return moved * (aligned ? 1.0 : kOlderUnaligned);
}

// How long the bytes of what hardly writes take, as a share of the time from memory: what is read again and again stays
// in the cache if it fits. From averages on an A30, of whose 24 MB all of 17 do and of 24 none.
double from_cache(const ReductionWork& w, const Device& device) {
  constexpr double kAll = 0.77, kNone = 0.85, kSaved = 0.44;
  if (w.out_elements * 16 > w.in_elements) return 1.0;
  const double set = static_cast<double>(w.element_bytes) * static_cast<double>(w.in_elements);
  return 1.0 - kSaved * std::clamp((kNone - set / device.l2) / (kNone - kAll), 0.0, 1.0);
}

// Cycles of an SM for an average of a row of `columns`. A warp takes several rows of fewer than 32 at once.
double average_row_cycles(std::int64_t columns, const Device& device) {
  const double row = device.capability > 0.0 && device.capability < 8.0 ? kOlderAverageRow : kAverageRow;
  const double in_warp = std::min(
      32.0, static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, columns)))));
  return row * (columns % 4 == 0 ? 1.0 : kUnalignedRow) * in_warp / 32.0;
}

double streams_of(const ReductionWork& w, State state, const Device& device) {
  if (w.kind == ReductionKind::kSoftmax) return kSoftmaxStreams;
  if (is_average(w)) return kReads;
  const bool slow = w.kind == ReductionKind::kBatchNorm && state == State::kEval && w.element_bytes > 2;
  return slow && device.slow_norms ? kSlowNormStreams : kStreams;
}

// What its bytes take, gradients that are added up apart.
double moving_time(const ReductionWork& w, const Traffic& traffic, Situation situation, const Device& device) {
  const double backward = situation.state == State::kTraining ? traffic.backward : 0.0;
  if (w.kind == ReductionKind::kBatchNorm && situation.state != State::kEval && lies_in_planes(w)) {
    if (situation.host == Host::kOlder) return older_norm_time(w, traffic.forward, backward, device);
    return norm_time(w, traffic.forward + backward, device);
  }
  const double streams = streams_of(w, situation.state, device);
  const double back = is_average(w) ? kStreams : streams;  // which writes
  return (traffic.forward * from_cache(w, device) / streams + backward / back) / device.bandwidth;
}

// Cycles of an SM for one row of softmax: none where a warp holds the row.
double softmax_row_cycles(double columns, bool aligned) {
  return columns <= 1024.0 ? 0.0 : columns * kSoftmaxColumn * (aligned ? kSoftmaxVector : 1.0);
}

// How much longer layer norm takes where an SM holds fewer of its blocks at once, which wait for memory; from A30 and
// RTX 2080 Ti.
double few_blocks(const Device& device) {
  return device.capability > 0.0 ? std::pow(2048.0 / resident_threads(device.capability), 0.4) : 1.0;
}

// Numbers in all windows of a pooling together.
double windows_of(const ReductionWork& w) {
  return static_cast<double>(w.out_elements) * static_cast<double>(w.window);
}

// Seconds for what a kernel does beside moving, on all SMs.
double busy_time(const ReductionWork& w, Situation situation, const Device& device) {
  const double together = device.sm * device.clock;  // cycles of an SM in a second
  const bool training = situation.state == State::kTraining;
  const auto rows = static_cast<double>(w.rows);
  const auto columns = static_cast<double>(w.columns);
  switch (w.kind) {
    case ReductionKind::kLayerNorm:
    case ReductionKind::kGroupNorm:  // the newer kernel of PyTorch 2.1 in bare loops
      return rows * (270.0 + 0.69 * columns) * (training ? 2.95 : 1.0) *
             (situation.host == Host::kBare ? 0.3 : few_blocks(device)) / together;
    case ReductionKind::kBatchNorm:
      return situation.state == State::kEval && !w.channels_last && !w.of_rows ? planes_of(w) * kNormPlane / together
                                                                               : 0.0;
    case ReductionKind::kSoftmax:
      // The gradient of long rows was measured nowhere: it counts as the same again.
      return rows * softmax_row_cycles(columns, w.columns % 4 == 0) * (training ? 2.0 : 1.0) / together;
    case ReductionKind::kAdaptivePool: {
      const double side = pooled_side(w);
      if (side <= 1.0) return rows * average_row_cycles(w.spatial, device) / together;
      return planes_of(w) * side * std::ceil(side / 32.0) * kPlacesWarp * (training ? 2.0 : 1.0) / together;
    }
    case ReductionKind::kMaxPool:
      return windows_of(w) * (kMaximum + (training ? kMaximumBack : 0.0)) / together;
    case ReductionKind::kAveragePool:
      return windows_of(w) * (kWindowed + (training ? kWindowedBack : 0.0)) / together;
    default:
      return 0.0;
  }
}

// How moving and the rest share the time.
double shared_time(const ReductionWork& w, double moved, double busy) {
  if (is_average(w)) return moved + busy;
  const bool smooth = w.kind == ReductionKind::kSoftmax || w.kind == ReductionKind::kBatchNorm;
  return smooth ? joined2(moved, busy) : joined_by_squares<2>(moved, busy);
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

// A layer norm reads its input twice there. Windows were measured nowhere: they cost what they do elsewhere.
double cdna_time(const ReductionWork& w, double bytes, double busy, bool training, const Device& device) {
  const bool layer = is_layer_norm(w.kind);
  const double row =
      static_cast<double>(w.rows) * cdna_row_cycles(w) * (training ? 3.0 : 1.0) / (device.sm * device.clock);
  const double moved = (layer ? 1.5 : 1.0) * bytes / (kCdnaStreamed * device.bandwidth);
  return std::max({moved, row, is_pool(w.kind) ? busy : 0.0});
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

// Without accumulation: `bytes`, which take the time `moved`, and the kernel's cycles. One kernel a pass.
double kernel_time(const ReductionWork& w, double bytes, double moved, double busy, Situation situation,
                   const Device& device) {
  const bool training = situation.state == State::kTraining;
  if (w.in_elements <= 0) return 0.0;
  if (w.by_engine) return engine_time(w, bytes, device);
  if (device.cdna) return cdna_time(w, bytes, busy, training, device);
  return shared_time(w, moved, busy) +
         started(training ? 1.0 + std::min(1.0, gradient_kernels(w)) : 1.0, device, situation.host);
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
  const double own = (work.by_engine ? kEngineReads : 1.0) * traffic.forward + (training ? traffic.backward : 0.0);
  const double moved = moving_time(work, traffic, situation, device);
  const bool layer = is_layer_norm(work.kind);

  Physics p;
  p.accumulation = accumulation_time(traffic.accumulation, device, situation.host);
  p.bytes = own + traffic.accumulation;
  const double cached = is_average(work) ? from_cache(work, device) : from_l2(p.bytes, device);
  p.memory = memory_busy(p.bytes, cached, training || work.by_engine, device);
  p.compute = busy_time(work, situation, device);
  p.gpu = kernel_time(work, own, moved, p.compute, situation, device) + p.accumulation;
  if (training && waits_for_calls(situation.host)) p.filling = p.gpu - device.start;
  p.host = host_floor(work, device, situation);
  p.peak = device.fp32;
  p.bound = call_time(p.gpu, p.host, device, situation.host, layer ? kNormWaitedShare : kWaitedShare);

  const double values[] = {(moved + p.accumulation) / p.bound,
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
