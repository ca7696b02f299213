// SPDX-License-Identifier: Apache-2.0
#include "predict/lower.h"

#include <algorithm>
#include <optional>

#include "predict/lower_attention.h"
#include "predict/lower_rms_norm.h"
#include "predict/lower_views.h"

namespace joulecast {

namespace {

std::int64_t extent(const Shape& shape, std::size_t axis) {
  return axis < shape.size() ? shape[axis] : 1;
}
std::int64_t at(const Extents& list, std::size_t i, std::int64_t absent) {
  return i < list.size() ? list[i] : absent;
}

// PyTorch lets convolutions use TF32 by default and matrix products not (torch.backends, "TensorFloat-32 on Ampere").
Arithmetic arithmetic(ElementType element, Precision precision, bool convolution) {
  switch (element) {
    case ElementType::kFloat64:
      return Arithmetic::kFp64;
    case ElementType::kFloat16:
      return Arithmetic::kFp16;
    case ElementType::kBFloat16:
      return Arithmetic::kBf16;
    case ElementType::kFloat8E4M3:
    case ElementType::kFloat8E5M2:
    case ElementType::kInt8:
    case ElementType::kUInt8:
      return Arithmetic::kFp8;  // INT8 runs at the FP8 rate where both exist
    default:
      break;
  }
  if (precision == Precision::kTf32All || (precision == Precision::kTf32 && convolution)) return Arithmetic::kTf32;
  return Arithmetic::kFp32;
}

std::optional<PointwiseKind> kind_of(BinaryKind kind, bool scalar) {
  switch (kind) {
    case BinaryKind::kAdd:
    case BinaryKind::kSub:
      return scalar ? PointwiseKind::kAddScalar : PointwiseKind::kAdd;
    case BinaryKind::kMul:
      return scalar ? PointwiseKind::kMulScalar : PointwiseKind::kMul;
    case BinaryKind::kDiv:
      return scalar ? PointwiseKind::kDivScalar : PointwiseKind::kDiv;
    case BinaryKind::kPow:
      return scalar ? PointwiseKind::kPowScalar : PointwiseKind::kPow;
    default:
      return std::nullopt;
  }
}

PointwiseKind kind_of(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::kSigmoid:
    case ActivationKind::kHardSigmoid:
    case ActivationKind::kLogSigmoid:
      return PointwiseKind::kSigmoid;
    case ActivationKind::kSilu:
    case ActivationKind::kHardSwish:
    case ActivationKind::kMish:
    case ActivationKind::kQuickGelu:
      return PointwiseKind::kSilu;
    case ActivationKind::kGelu:
    case ActivationKind::kGeluTanh:
      return PointwiseKind::kGelu;
    case ActivationKind::kTanh:
    case ActivationKind::kSoftplus:
    case ActivationKind::kElu:
      return PointwiseKind::kTanh;
    default:
      return PointwiseKind::kRelu;
  }
}

}  // namespace

// Dispatches on the operator; each overload appends what the runtime executes.
struct LowerVisitor : LowerViews {
  using LowerViews::operator();

  // ---- matrix work ----
  // A product whose second factor was quantised to FP4 quantises the first on its way in. Of its gradients nothing is
  // known: in training the graph's type of the first factor decides.
  [[nodiscard]] Arithmetic of_product() const {
    const bool inference = self.options_.mode == Mode::kInference;
    if (inference && context.input(1).element == ElementType::kFloat4) return Arithmetic::kFp4;
    return arithmetic(context.input(0).element, self.options_.precision, false);
  }

  // Before the first place of the first axis of an image: half of what the output asks for, rounded down.
  static std::int64_t same_padding(const Conv& op, std::int64_t in, std::int64_t out, std::int64_t kernel) {
    const std::int64_t span = at(op.dilation, 0, 1) * (kernel - 1) + 1;
    return std::max<std::int64_t>(0, (out - 1) * at(op.stride, 0, 1) + span - in) / 2;
  }

  void operator()(const Conv& op) {
    const TensorType& x = context.input(0);
    const Shape& weight = context.input(1).shape;
    const TensorType& y = context.output();
    const TensorType& from = op.transposed ? y : x;  // a transposed convolution is the data gradient of a plain one
    const TensorType& to = op.transposed ? x : y;
    ConvWork work{.batch = x.shape[0], .in_channels = from.shape[1], .out_channels = to.shape[1], .groups = op.groups};
    const std::size_t last = x.shape.size() - 1;
    for (std::size_t axis = 2; axis <= last; ++axis) {
      const bool width = axis == last && last > 2;
      (width ? work.in_width : work.in_height) *= from.shape[axis];
      (width ? work.out_width : work.out_height) *= to.shape[axis];
      (width ? work.kernel_width : work.kernel_height) *= weight[axis];
    }
    work.stride = at(op.stride, 0, 1);
    work.transposed = op.transposed;
    work.padding =
        op.same_padding ? same_padding(op, from.shape[2], to.shape[2], weight[2]) : at(op.padding_begin, 0, 0);
    work.element_bytes = element_bytes(x);
    work.bias = context.has(2) ? 1 : 0;
    work.arithmetic = arithmetic(x.element, self.options_.precision, true);
    if (storage(0) != Storage::kContiguous && !channels_last()) copied(0);
    // Either of the input and the weights decides (cudnn_conv_suggest_memory_format).
    work.channels_last = channels_last() || self.options_.layout == Layout::kChannelsLast;
    emit(work);
    set_storage(work.channels_last ? Storage::kChannelsLast : Storage::kContiguous);
  }

  void operator()(const Linear& op) {
    contiguous(0);
    const TensorType& x = context.input(0);
    const Shape& weight = context.input(1).shape;
    const TensorType& y = context.output();
    GemmWork work{.columns = op.weight_in_out ? weight[1] : weight[0],
                  .depth = op.weight_in_out ? weight[0] : weight[1]};
    work.rows = x.elements() / std::max<std::int64_t>(1, work.depth);
    work.element_bytes = element_bytes(x);
    work.output_bytes = element_bytes(y);
    work.bias = context.has(2) ? 1 : 0;
    work.arithmetic = of_product();
    emit(work);
  }

  // Products of a batch step over gaps between its matrices and take either order of their axes.
  void factor(std::size_t i) {
    const bool batched = context.input(0).shape.size() == 3 && context.input(1).shape.size() == 3;
    if (!batched || (storage(i) != Storage::kChannelsLast && storage(i) != Storage::kPlacesCut)) contiguous(i);
  }
  void operator()(const MatMul& op) {
    factor(0);
    factor(1);
    const Shape& a = context.input(0).shape;
    const Shape& y = context.output().shape;
    const bool vector = a.size() < 2;
    GemmWork work{.depth = vector ? a.back() : (op.transpose_a ? a[a.size() - 2] : a.back()),
                  .weight = context.is_parameter(1)};
    work.columns = y.empty() ? 1 : y.back();
    work.rows = vector || y.size() < 2 ? 1 : y[y.size() - 2];
    work.batch = context.output().elements() / std::max<std::int64_t>(1, work.rows * work.columns);
    work.element_bytes = element_bytes(context.input(0));
    work.output_bytes = element_bytes(context.output());
    work.arithmetic = of_product();
    emit(work);
  }

  // A mask for each image and head is one of them, expanded.
  [[nodiscard]] std::int64_t mask_bytes(const TensorType& query, std::int64_t keys) const {
    if (!context.has(3)) return 0;
    const std::int64_t most = std::max(query.shape[0], query.shape[1]) * query.shape[2] * keys;
    return std::min(whole(context.input(3).bytes()), most * element_bytes(context.input(3)));
  }

  // PyTorch has fused kernels for halves and FP32; what the model writes out itself, FP64 and TensorFlow run as
  // products, scaling, mask and softmax of their own.
  void operator()(const Attention& op) {
    const TensorType& q = context.input(0);
    const Shape& k = context.input(1).shape;
    const Arithmetic math = arithmetic(q.element, self.options_.precision, false);
    const bool asked =
        has_fused_attention(op, math == Arithmetic::kFp64, self.options_.attention, self.options_.runtime);
    const bool fused = asked && q.shape.size() == 4;
    const std::int64_t values = context.input(2).shape.back();
    if (fused) {
      emit(AttentionWork{.batch = q.shape[0],
                         .heads = q.shape[1],
                         .kv_heads = k[1],
                         .queries = q.shape[2],
                         // Fewer keys than queries: pooled keys, as of PVT and MViT.
                         .past = op.causal ? std::max<std::int64_t>(0, k[2] - q.shape[2]) : k[2] - q.shape[2],
                         .head = q.shape[3],
                         .element_bytes = element_bytes(q),
                         .kv_bytes = element_bytes(context.input(1)),
                         .window = op.window,
                         .causal = op.causal,
                         .arithmetic = math,
                         .mask_bytes = mask_bytes(q, k[2]),
                         .value_head = values == q.shape[3] ? 0 : values});
    } else {
      apart(op, math, asked);
    }
    set_storage(fused ? Storage::kHeadsInner : Storage::kContiguous);
  }
  void apart(const Attention& op, Arithmetic math, bool asked) {
    AttentionApart kernels(op, context, math, self.options_, out);
    if (asked) {
      const auto turned = [&](std::size_t i) { return storage(i) != Storage::kContiguous; };
      return kernels.fall_back({turned(0), turned(1), turned(2)});
    }
    for (std::size_t i = 0; i < 3; ++i) contiguous(i);
    kernels.by_hand();
  }

  // One product of all steps' inputs; then step by step that of the state, the gates in the same call. cuDNN's layers
  // may use TF32 where its convolutions may.
  void operator()(const Rnn& op) {
    constexpr std::size_t kProjection = 7;
    const Shape& x = context.input(0).shape;
    if (x.size() != 3) return pointwise(PointwiseKind::kOther);
    const std::int64_t gates = gate_count(op.kind);
    const std::int64_t steps = op.batch_first ? x[1] : x[0];
    const std::int64_t batch = op.batch_first ? x[0] : x[1];
    const std::int64_t size = element_bytes(context.input(0));
    if (steps == 0) return;
    GemmWork gemm{.rows = steps * batch,
                  .columns = gates * op.hidden,
                  .depth = x[2],
                  .element_bytes = size,
                  .output_bytes = size,
                  .arithmetic = arithmetic(context.input(0).element, self.options_.precision, true)};
    emit(gemm, op.directions, 1);
    const bool projects = context.has(kProjection);
    gemm.rows = batch;
    gemm.depth = projects ? context.input(kProjection).shape[1] : op.hidden;
    gemm.steps = steps;
    emit(gemm, op.directions, 0);
    if (!projects) return;
    gemm.columns = gemm.depth;
    gemm.depth = op.hidden;
    emit(gemm, op.directions, 0);
  }

  // ---- norms, pooling, reductions ----
  ReductionWork reduction(ReductionKind kind, std::int64_t rows, std::int64_t columns) const {
    const TensorType& x = context.input(0);
    ReductionWork work{.kind = kind, .in_elements = x.elements(), .out_elements = context.output().elements()};
    work.channels = extent(x.shape, 1);
    for (std::size_t i = 2; i < x.shape.size(); ++i) work.spatial *= x.shape[i];
    work.rows = rows;
    work.columns = columns;
    work.element_bytes = element_bytes(x);
    return work;
  }

  void operator()(const BatchNorm&) {
    const Shape& x = context.input(0).shape;
    const std::int64_t channels = extent(x, 1);
    ReductionWork work = reduction(ReductionKind::kBatchNorm, channels,
                                   context.input(0).elements() / std::max<std::int64_t>(1, channels));
    work.channels_last = channels_last();
    work.of_rows = x.size() < 3;
    emit(work);
    image();
  }
  void last_axes(ReductionKind kind, std::int64_t axes) {
    const Shape& x = context.input(0).shape;
    std::int64_t columns = 1;
    for (std::size_t i = x.size() - std::min(x.size(), static_cast<std::size_t>(std::max<std::int64_t>(1, axes)));
         i < x.size(); ++i)
      columns *= x[i];
    emit(reduction(kind, context.input(0).elements() / std::max<std::int64_t>(1, columns), columns));
  }
  void operator()(const LayerNorm& op) {
    if (op.channels_first) {  // runs as permute, layer norm, permute: rows are places, columns channels
      if (!channels_last()) copied(0);
      const std::int64_t channels = extent(context.input(0).shape, 1);
      emit(reduction(ReductionKind::kLayerNorm, context.input(0).elements() / std::max<std::int64_t>(1, channels),
                     channels));
      return set_storage(Storage::kChannelsLast);
    }
    contiguous(0);
    last_axes(ReductionKind::kLayerNorm, op.axes);
  }
  void operator()(const RmsNorm& op) {
    if (op.by_hand && self.is_eager()) return rms_norm_by_hand(op, context, out);
    last_axes(ReductionKind::kLayerNorm, op.axes);
  }
  void operator()(const GroupNorm& op) {
    contiguous(0);
    const std::int64_t rows = extent(context.input(0).shape, 0) * std::max<std::int64_t>(1, op.groups);
    emit(reduction(ReductionKind::kGroupNorm, rows, context.input(0).elements() / std::max<std::int64_t>(1, rows)));
  }
  void operator()(const InstanceNorm&) {
    const std::int64_t rows = extent(context.input(0).shape, 0) * extent(context.input(0).shape, 1);
    emit(reduction(ReductionKind::kGroupNorm, rows, context.input(0).elements() / std::max<std::int64_t>(1, rows)));
  }
  void operator()(const Softmax& op) {
    const Shape& x = context.input(0).shape;
    const auto rank = static_cast<std::int64_t>(x.size());
    const std::int64_t axis = op.axis < 0 ? op.axis + rank : op.axis;
    const std::int64_t columns =
        axis >= 0 && axis < rank ? std::max<std::int64_t>(1, x[static_cast<std::size_t>(axis)]) : 1;
    emit(reduction(ReductionKind::kSoftmax, context.input(0).elements() / columns, columns));
  }
  void operator()(const Pool& op) {
    ReductionWork work = reduction(op.kind == PoolKind::kMax ? ReductionKind::kMaxPool : ReductionKind::kAveragePool,
                                   context.output().elements(), 1);
    // What lies beyond the image is never read.
    const Shape& image_shape = context.input(0).shape;
    for (std::size_t i = 0; i < op.kernel.size() && i + 2 < image_shape.size(); ++i)
      work.window *= std::min(op.kernel[i], std::max<std::int64_t>(1, image_shape[i + 2]));
    work.columns = work.window;
    emit(work);
    image();
  }
  void operator()(const AdaptivePool&) {
    ReductionWork work = reduction(ReductionKind::kAdaptivePool, context.output().elements(), 1);
    work.window = std::max<std::int64_t>(1, work.in_elements / std::max<std::int64_t>(1, work.out_elements));
    work.columns = work.window;
    emit(work);
    image();
  }
  void operator()(const Reduce&) {
    const std::int64_t rows = std::max<std::int64_t>(1, context.output().elements());
    emit(reduction(ReductionKind::kReduce, rows, std::max<std::int64_t>(1, context.input(0).elements() / rows)));
  }

  // ---- elementwise ----
  void operator()(const Activation& op) {
    const std::size_t before = out.size();
    pointwise(kind_of(op.kind));
    // Networks build ReLU and SiLU in place; in inference nothing needs the input again.
    const bool in_place = self.options_.mode == Mode::kInference &&
                          (op.kind == ActivationKind::kRelu || op.kind == ActivationKind::kRelu6 ||
                           op.kind == ActivationKind::kSilu || op.kind == ActivationKind::kHardSwish);
    std::get<PointwiseWork>(out[before].work).in_place = in_place ? 1 : 0;
    like(0);
  }
  // PyTorch cubes by multiplying; other powers (but the square) are a function.
  [[nodiscard]] bool is_cube(const Binary& op) const {
    if (op.kind != BinaryKind::kPow || context.input(1).elements() != 1) return false;
    const Contents* exponent = context.types().known(context.node().inputs[1]);
    return exponent != nullptr && exponent->reals == std::vector<double>{3.0};
  }
  void cube(const Binary& op) {
    pointwise(PointwiseKind::kMulScalar);
    std::get<PointwiseWork>(out.back().work).backward_bytes = self.gradient_bytes(op, context);
    like(0);
  }
  void operator()(const Unary& op) {
    pointwise(PointwiseKind::kTanh);
    if (self.gradients_are_eager())
      std::get<PointwiseWork>(out.back().work).backward_bytes = self.gradient_bytes(op, context);
    like(0);
  }
  void operator()(const Binary& op) {
    if (is_cube(op)) return cube(op);
    const bool scalar = context.input(0).elements() == 1 || context.input(1).elements() == 1;
    const auto kind = kind_of(op.kind, scalar);
    pointwise(kind.value_or(PointwiseKind::kOther));
    if (kind) std::get<PointwiseWork>(out.back().work).backward_bytes = self.gradient_bytes(op, context);
    like(context.input(0).elements() == context.output().elements() ? 0 : 1);
  }
  void operator()(const Dropout& op) {
    if (self.options_.mode != Mode::kTraining || op.probability <= 0.0) return view();
    dropped(PointwiseKind::kDropout, 1);
    like(0);
  }
  void operator()(const StochasticDepth& op) {
    if (self.options_.mode == Mode::kTraining && op.probability > 0.0) {
      dropped(PointwiseKind::kStochasticDepth, 0);
      return like(0);
    }
    pointwise(PointwiseKind::kStochasticDepth, false);
    view();
  }
  // Forward in training reads and writes the tensor, and writes a mask of so many bytes an element.
  void dropped(PointwiseKind kind, std::int64_t mask) {
    pointwise(kind);
    const TensorType& x = context.input(0);
    std::get<PointwiseWork>(out.back().work).forward_bytes = 2 * whole(x.bytes()) + mask * x.elements();
  }

  void operator()(const Opaque&) {
    pointwise(PointwiseKind::kOther);
    out.back().opaque = true;
  }
  template <typename Op>
  void operator()(const Op&) {
    pointwise(PointwiseKind::kCopy);
  }
};

namespace {

// Integer arithmetic on shapes, and whatever else follows from shapes and constants alone, never reaches the GPU.
bool on_host(const CostContext& context) {
  if (std::holds_alternative<ShapeOf>(context.node().op)) return true;
  for (const ValueId id : context.node().outputs) {
    if (id != kNoValue && context.types().known(id) == nullptr) return false;
  }
  return true;
}

}  // namespace

bool NodeLowering::makes_positions(const Node& node) const {
  return !node.outputs.empty() && std::all_of(node.outputs.begin(), node.outputs.end(),
                                              [&](ValueId id) { return id == kNoValue || positions_[index(id)]; });
}

void NodeLowering::lower(const CostContext& context, const Cost& cost, std::vector<LoweredOperation>& out) {
  if (on_host(context)) return;
  pass_gradients(context, out);
  if (!context.is_read()) return;
  std::visit(LowerVisitor{{{*this, context, cost, out}}}, context.node().op);
}

}  // namespace joulecast
