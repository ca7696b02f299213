// SPDX-License-Identifier: Apache-2.0
// What a call costs before the GPU works: Python, the dispatcher, autograd, the launch. A property of runtime and host,
// not of the GPU. Fitted: the fastest small operations of each type in the measurement tables.
#include <algorithm>

#include "predict/law.h"
#include "predict/tensorflow.h"

namespace joulecast {
namespace {

enum Call : std::size_t {
  kConvCall,
  kDepthwiseCall,
  kBatchNormCall,
  kLayerNormCall,
  kLinearCall,
  kProductCall,
  kReluCall,
  kSiluCall,
  kGeluCall,
  kSigmoidCall,
  kBinaryCall,
  kScalarCall,
  kSoftmaxCall,
  kPoolCall,
  kMaxPoolCall,
  kDepthCall,
  kCalls,
};

struct Floor {
  double eval, train_forward, training;  // microseconds
};

constexpr std::array<Floor, kCalls> kModernFloors{{
    {26.5, 26.5, 254},
    {21.5, 21.5, 214},
    {32, 57, 293},
    {22.5, 23, 230},
    {26.5, 27, 294},
    {20, 20, 200},
    {13.6, 7.7, 155},
    {13.4, 7.5, 154},
    {13.5, 8, 155},
    {13, 9.4, 155},
    {14, 10, 155},
    {14, 10, 155},
    {17, 17, 170},
    {17, 14.5, 170},
    {20, 20, 200},
    {5.3, 2.9, 145},
}};
constexpr std::array<Floor, kCalls> kOlderFloors{{
    {75, 75, 385},
    {60, 60, 330},
    {89, 145, 468},
    {64, 64, 340},
    {76.5, 73, 481},
    {60, 60, 330},
    {40.7, 21, 218},
    {40, 21, 218},
    {40, 21, 218},
    {40, 21, 218},
    {40, 21, 218},
    {40, 21, 218},
    {48.6, 36, 247},
    {48.6, 36, 247},
    {55, 50, 300},
    {15.8, 8.4, 206},
}};
constexpr Floor kModernBias{16, 16, 60};
constexpr Floor kOlderBias{37, 37, 85};
// A bare loop over one call (NeuSight), in the order of Call.
constexpr std::array<double, kCalls> kBareFloors{20.5, 20.5, 46, 46, 54, 32, 31, 30, 30, 25, 26, 30, 32.5, 32, 32, 25};

double pick(const Floor& floor, State state) {
  switch (state) {
    case State::kEval:
      return floor.eval;
    case State::kTrainForward:
      return floor.train_forward;
    case State::kTraining:
      return floor.training;
  }
  return floor.eval;
}

Call call_of(const ConvWork& work) {
  return work.groups > 1 && work.groups == work.in_channels ? kDepthwiseCall : kConvCall;
}
Call call_of(const GemmWork& work) {
  return work.weight ? kLinearCall : kProductCall;
}
Call call_of(const AttentionWork&) {
  return kSoftmaxCall;
}

Call call_of(const PointwiseWork& work) {
  switch (work.kind) {
    case PointwiseKind::kRelu:
      return kReluCall;
    case PointwiseKind::kSilu:
      return kSiluCall;
    case PointwiseKind::kGelu:
      return kGeluCall;
    case PointwiseKind::kSigmoid:
    case PointwiseKind::kTanh:
      return kSigmoidCall;
    case PointwiseKind::kAddScalar:
    case PointwiseKind::kMulScalar:
    case PointwiseKind::kDivScalar:
    case PointwiseKind::kPowScalar:
      return kScalarCall;  // wraps the number first
    case PointwiseKind::kStochasticDepth:
      return kDepthCall;
    default:
      return kBinaryCall;
  }
}

Call call_of(const ReductionWork& work) {
  switch (work.kind) {
    case ReductionKind::kSoftmax:
      return kSoftmaxCall;
    case ReductionKind::kLayerNorm:
    case ReductionKind::kGroupNorm:
      return kLayerNormCall;
    case ReductionKind::kBatchNorm:
      return kBatchNormCall;
    case ReductionKind::kMaxPool:
      return kMaxPoolCall;
    default:
      return kPoolCall;
  }
}

// Of a StochasticDepth that drops: it draws and divides.
constexpr Floor kModernDrop{0, 38, 68};
constexpr Floor kOlderDrop{0, 103, 141};

// In TF32 cuDNN launches kernels that copy images to and from channels-last, of 1x1 mostly none. On an A30; networks in
// halves on an A100 and a TITAN V show nothing of it.
constexpr Floor kProductCopies{4, 4, 10};
constexpr Floor kImageCopies{8, 8, 24};

bool launches_copies(const ConvWork& work) {
  return work.arithmetic == Arithmetic::kTf32 && !work.channels_last && call_of(work) == kConvCall;
}

// Microseconds: cuDNN takes a second kernel for deep vectors, whose sums it splits, and on the older machine for 1x1
// with a stride. Seen in FP32 there, on its RTX 2080 Ti, and in TF32 on an A30. In a step of training one shows, and
// earlier.
constexpr double kOlderKernel = 19, kModernKernel = 6;

double second_kernel(const ConvWork& work, State state, bool older) {
  if (work.kernel_height * work.kernel_width != 1) return 0.0;
  const bool vectors = is_of_vectors(work);
  const bool strided = older && work.stride > 1 && work.out_height * work.out_width > 1;
  if (!vectors && !strided) return 0.0;
  const bool seen = work.arithmetic == (older ? Arithmetic::kFp32 : Arithmetic::kTf32);
  if (!seen || work.autotuned || work.groups != 1) return 0.0;
  const bool training = state == State::kTraining;
  const std::int64_t depth = training ? std::max(work.in_channels, work.out_channels) : work.in_channels;
  if (!older) return depth > (training ? 400 : 512) ? kModernKernel : 0.0;
  return strided || depth > (training ? 160 : 256) ? kOlderKernel : 0.0;
}

// A bias is one more kernel for convolutions.
double extra(const ConvWork& work, State state, bool older) {
  const double bias = work.bias != 0 ? pick(older ? kOlderBias : kModernBias, state) : 0.0;
  const double more = bias + second_kernel(work, state, older);
  if (older || !launches_copies(work)) return more;
  return more + pick(work.kernel_height * work.kernel_width == 1 ? kProductCopies : kImageCopies, state);
}
double extra(const PointwiseWork& work, State state, bool older) {
  if (work.kind != PointwiseKind::kStochasticDepth || !work.active) return 0.0;
  return pick(older ? kOlderDrop : kModernDrop, state);
}
template <typename W>
double extra(const W&, State, bool) {
  return 0.0;
}

constexpr double kCapturedCycles = 4600.0;  // start of a captured kernel, in cycles of the GPU

}  // namespace

double host_floor(const Work& work, const Device& device, Situation situation) {
  if (situation.host == Host::kCaptured) return kCapturedCycles / device.clock;
  return std::visit(
      [&](const auto& w) {
        const Call call = call_of(w);
        if (situation.host == Host::kBare) return kBareFloors[call] * situation.host_scale * 1e-6;
        const bool older = situation.host == Host::kOlder;
        const Floor& floor = (older ? kOlderFloors : kModernFloors)[call];
        return (pick(floor, situation.state) + extra(w, situation.state, older)) * 1e-6;
      },
      work);
}

// torch.compile's own kernels are launched by the Python it wrote; libraries are still called through the dispatcher.
// Not fitted: the published networks keep the GPU busy.
static double compiled_call(const Work& work, State state) {
  constexpr double kOwn = 6e-6, kLibrary = 10e-6;
  const auto* pointwise = std::get_if<PointwiseWork>(&work);
  const bool own = pointwise != nullptr && pointwise->kind == PointwiseKind::kFused;
  return (own ? kOwn : kLibrary) * (state == State::kTraining ? 3.0 : 1.0);
}

std::optional<double> network_call(Runtime runtime, const Work& work, State state) {
  if (runtime == Runtime::kPytorchCompiled) return compiled_call(work, state);
  if (runtime == Runtime::kTensorflow) return tensorflow_call(work, state);
  return std::nullopt;
}

}  // namespace joulecast
