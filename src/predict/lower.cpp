// SPDX-License-Identifier: Apache-2.0
#include "predict/lower.h"

#include <algorithm>
#include <optional>

#include "predict/lower_products.h"
#include "predict/lower_rms_norm.h"

namespace joulecast {

namespace {

std::int64_t extent(const Shape& shape, std::size_t axis) {
  return axis < shape.size() ? shape[axis] : 1;
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
struct LowerVisitor : LowerProducts {
  static constexpr std::int64_t kFloat = 4;
  using LowerProducts::operator();

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
    if (op.by_hand && self.is_eager()) return rms_norm_by_hand(op, context, self.options_.mode, out);
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
    const ReductionWork work = reduction(ReductionKind::kSoftmax, context.input(0).elements() / columns, columns);
    if (op.in_float && work.element_bytes < kFloat) return softmax_in_float(work);
    emit(work);
  }
  // PyTorch has a kernel that reads FP16 and writes FP32; BF16 is copied first. A whole network in halves takes what
  // comes out in them again.
  void softmax_in_float(ReductionWork work) {
    const std::int64_t both = work.element_bytes + kFloat;
    const auto copy = [&] {
      emit(PointwiseWork{.kind = PointwiseKind::kCopy,
                         .elements = work.in_elements,
                         .forward_bytes = both * work.in_elements,
                         .backward_bytes = both * work.in_elements,
                         .element_bytes = kFloat});
    };
    const bool narrow = element_bytes(context.output()) < kFloat;
    if (self.is_eager() && context.input(0).element == ElementType::kBFloat16) copy();
    work.element_bytes = kFloat;
    emit(work);
    if (self.is_eager() && narrow) copy();
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
  void operator()(const Reduce& op) {
    const std::int64_t rows = std::max<std::int64_t>(1, context.output().elements());
    ReductionWork work =
        reduction(ReductionKind::kReduce, rows, std::max<std::int64_t>(1, context.input(0).elements() / rows));
    if (self.options_.mode == Mode::kTraining) {
      const bool written = self.options_.runtime == Runtime::kTensorflow;  // what PyTorch expands
      if (op.kind == ReduceKind::kMean || (op.kind == ReduceKind::kSum && written))
        work.gradient = ReductionGradient::kOneKernel;
      else if (op.kind == ReduceKind::kSum)
        work.gradient = ReductionGradient::kView;
    }
    emit(work);
  }

  // ---- elementwise ----
  // PyTorch has no kernel for x sigmoid(1.702 x): CLIP multiplies, takes the sigmoid and multiplies again.
  void quick_gelu() {
    const std::int64_t elements = context.output().elements(), bytes = whole(context.output().bytes());
    const auto kernel = [&](PointwiseKind kind, std::int64_t forward, std::int64_t backward) {
      emit(PointwiseWork{.kind = kind,
                         .elements = elements,
                         .forward_bytes = forward * bytes,
                         .backward_bytes = backward * bytes,
                         .element_bytes = element_bytes(context.output())});
    };
    kernel(PointwiseKind::kMulScalar, 2, 2);
    kernel(PointwiseKind::kSigmoid, 2, 3);
    kernel(PointwiseKind::kMul, 3, 6);
    if (self.gradients_are_eager() && self.has_gradient(context, 0))
      out.push_back({self.sum_of_gradients(context.output(), index(context.node().inputs[0])), 1});
    like(0);
  }
  void operator()(const Activation& op) {
    if (op.kind == ActivationKind::kQuickGelu && self.is_eager()) return quick_gelu();
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
  // A copy of what is to be filled, and the kernel that fills it; their gradient is filled in the same way.
  void operator()(const Where& op) {
    pointwise(PointwiseKind::kCopy);
    if (!op.filled || !self.is_eager()) return;
    PointwiseWork copy = std::get<PointwiseWork>(out.back().work);
    copy.forward_bytes = copy.backward_bytes = 2 * whole(context.output().bytes());
    emit(copy);
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
