// SPDX-License-Identifier: Apache-2.0
// Part of lower.cpp: what all operators have in common, and those that move or only look at values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "predict/lower.h"

namespace joulecast {

struct LowerParts {
  NodeLowering& self;
  const CostContext& context;
  const Cost& cost;
  std::vector<LoweredOperation>& out;

  static std::int64_t whole(Bytes bytes) { return static_cast<std::int64_t>(bytes.value()); }
  void emit(const Work& work, std::int64_t count = 1, std::int64_t calls = 1) { out.push_back({work, count, calls}); }

  // Bytes of input i that are there only once, and come from the cache when they are read again.
  [[nodiscard]] std::int64_t repeated(std::size_t i) const {
    return context.has(i) ? self.repeated_[index(context.node().inputs[i])] : 0;
  }
  [[nodiscard]] std::int64_t repeated() const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < context.node().inputs.size(); ++i) sum += repeated(i);
    return sum;
  }

  void pointwise(PointwiseKind kind, bool active = true) {
    std::size_t first = 0;
    while (first < context.output_count() && !context.has_output(first)) ++first;
    const std::int64_t elements = context.has_output(first) ? context.output(first).elements() : 0;
    emit(PointwiseWork{
        .kind = kind,
        .elements = elements,
        .forward_bytes = std::max<std::int64_t>(0, whole(cost.forward_read) - repeated()) + whole(cost.forward_written),
        .backward_bytes = whole(cost.backward_read + cost.backward_written),
        .active = active,
        .element_bytes = context.has_output(first) ? element_bytes(context.output(first)) : 4});
  }

  [[nodiscard]] Storage storage(std::size_t i) const {
    return context.has(i) ? self.storage_[index(context.node().inputs[i])] : Storage::kContiguous;
  }
  void set_storage(Storage value) {
    for (const ValueId id : context.node().outputs) {
      if (id != kNoValue) self.storage_[index(id)] = value;
    }
  }

  void contiguous(std::size_t i) {
    if (storage(i) != Storage::kContiguous) copied(i);
  }

  // The copy of input i into another order: read once, written once; its gradient is copied back.
  void copied(std::size_t i) {
    const TensorType& type = context.input(i);
    const std::int64_t bytes = 2 * whole(type.bytes());
    emit(PointwiseWork{.kind = PointwiseKind::kCopy,
                       .elements = type.elements(),
                       .forward_bytes = bytes - repeated(i),
                       .backward_bytes = bytes,
                       .element_bytes = element_bytes(type)});
    out.back().copied_input = i;
  }

  void view() { view(storage(0)); }
  void view(Storage lies) {
    set_storage(lies);
    for (const ValueId id : context.node().outputs) {
      if (id != kNoValue) self.repeated_[index(id)] = repeated(0);
    }
  }
  void like(std::size_t i) { set_storage(elementwise(storage(i))); }

  // Kernels of images work in either order, and answer in that of their input.
  [[nodiscard]] bool channels_last() const { return storage(0) == Storage::kChannelsLast; }
  void image() {
    if (storage(0) != Storage::kContiguous && !channels_last()) copied(0);
    set_storage(channels_last() ? Storage::kChannelsLast : Storage::kContiguous);
  }
};

// No kernel, or a copy: the result may be strided, and gradients are put together.
struct LowerViews : LowerParts {
  // Of the first input; it may be counted from behind.
  [[nodiscard]] bool is_first(std::int64_t axis) const {
    return axis == 0 || axis == -static_cast<std::int64_t>(context.input(0).shape.size());
  }
  // Of a value that an eager step of training needs the gradient of.
  [[nodiscard]] bool has_gradient_kernels() const {
    return self.gradients_are_eager() && self.has_gradient_[index(context.node().inputs[0])];
  }
  void gradient(std::int64_t bytes) {
    emit(PointwiseWork{.kind = PointwiseKind::kCopy,
                       .elements = context.input(0).elements(),
                       .forward_bytes = 0,
                       .backward_bytes = bytes,
                       .element_bytes = element_bytes(context.input(0))});
  }
  // The gradient of a part is the whole in zeros, into which the part is copied.
  void gradient_of_part() {
    if (!has_gradient_kernels()) return;
    const std::int64_t all = whole(context.input(0).bytes());
    const std::int64_t part = whole(context.output().bytes());
    if (part == all) return;
    gradient(all + 2 * part);
  }
  // How a part along another axis than the first lies.
  [[nodiscard]] Storage part() const {
    return elementwise(storage(0)) == Storage::kContiguous ? Storage::kGaps : Storage::kStrided;
  }
  // The parts' gradients are written behind each other.
  void gradient_of_parts() {
    if (has_gradient_kernels()) gradient(2 * whole(context.input(0).bytes()));
  }

  void reshape() {
    const auto seen = reshaped(storage(0), context.input(0).shape, context.output().shape);
    if (seen) return view(*seen);
    copied(0);
    set_storage(Storage::kContiguous);
  }
  void operator()(const Transpose& op) {
    if (op.contiguous) pointwise(PointwiseKind::kCopy);
    const Storage seen = transposed(storage(0), op.order, context.input(0).shape);
    op.contiguous ? set_storage(Storage::kContiguous) : view(seen);
  }
  // The gradients of what was repeated are summed up.
  void operator()(const Expand&) {
    const bool repeats = context.output().elements() != context.input(0).elements();
    if (!repeats) return view();
    if (self.gradients_are_eager() && self.has_gradient(context, 0))
      gradient(whole(context.output().bytes()) + whole(context.input(0).bytes()));
    set_storage(Storage::kGaps);
    self.repeated_[index(context.node().outputs[0])] =
        whole(context.output().bytes()) - whole(context.input(0).bytes()) + repeated(0);
  }
  void operator()(const Slice&) {
    if (cost.forward_written.value() > 0.0) return pointwise(PointwiseKind::kCopy);
    gradient_of_part();
    set_storage(cut(storage(0), context.input(0).shape, context.output().shape));
  }
  void operator()(const Split& op) {
    gradient_of_parts();
    set_storage(is_first(op.axis) ? storage(0) : part());
  }
  void operator()(const Gather& op) {
    // One fixed index is torch's select, a view: nothing is written.
    if (cost.forward_written.value() > 0.0) return pointwise(PointwiseKind::kCopy);
    gradient_of_part();
    set_storage(is_first(op.axis) && storage(0) == Storage::kContiguous ? Storage::kContiguous : part());
  }
  void operator()(const Squeeze&) { view(); }
  void operator()(const Unsqueeze&) { view(); }
  void operator()(const Cast&) {
    pointwise(PointwiseKind::kCopy);
    like(0);
  }
  // A kernel for each axis, both ways.
  void operator()(const Roll& op) {
    pointwise(PointwiseKind::kCopy);
    if (!self.is_eager()) return;
    out.back().count = out.back().calls = std::max<std::int64_t>(1, static_cast<std::int64_t>(op.axes.size()));
  }
  // To positions that shapes tell, an assignment to a slice: its values are copied. Backward copies the gradient, takes
  // the slice's from it and leaves zeros there.
  void operator()(const Scatter&) {
    if (!self.positions_[index(context.node().inputs[1])]) return pointwise(PointwiseKind::kCopy);
    const TensorType& updates = context.input(2);
    const std::int64_t part = whole(updates.bytes());
    emit(PointwiseWork{.kind = PointwiseKind::kCopy,
                       .elements = updates.elements(),
                       .forward_bytes = 2 * part,
                       .backward_bytes = 2 * whole(context.input(0).bytes()) + 3 * part,
                       .element_bytes = element_bytes(updates)});
    set_storage(storage(0));
  }
  // Parts of short rows that are views of others, as rotary embeddings join them: PyTorch's kernel divides for the
  // place of every element, and neighbours do not lie side by side. Of long rows and whole images timm's networks show
  // no such cost.
  [[nodiscard]] bool joins_cut_rows(const Concat& op) const {
    if (!self.is_eager()) return false;
    const auto rank = static_cast<std::int64_t>(context.output().shape.size());
    constexpr std::int64_t kHead = 128;  // elements of a row
    if ((op.axis != rank - 1 && op.axis != -1) || context.output().shape.back() > kHead) return false;
    for (std::size_t i = 0; i < context.node().inputs.size(); ++i) {
      if (storage(i) == Storage::kStrided || storage(i) == Storage::kGaps) return true;
    }
    return false;
  }
  void operator()(const Concat& op) {
    pointwise(PointwiseKind::kCopy);
    if (self.options_.mode == Mode::kTraining)
      std::get<PointwiseWork>(out.back().work).backward_bytes = self.gradient_bytes(op, context);
    if (joins_cut_rows(op)) std::get<PointwiseWork>(out.back().work).placed = context.output().elements();
    if (channels_last()) set_storage(storage(0));
  }
  void operator()(const Resize& op) {
    pointwise(PointwiseKind::kCopy);
    if (channels_last()) return set_storage(storage(0));
    if (op.kind == ResizeKind::kNearest || !self.is_eager()) return;
    // PyTorch's kernels have a thread for each pixel of the result, which goes over all images and channels.
    const Shape& shape = context.output().shape;
    if (shape.size() > 2) std::get<PointwiseWork>(out.back().work).in_turn = shape[0] * shape[1];
  }
  void operator()(const Pad&) {
    pointwise(PointwiseKind::kCopy);
    if (channels_last()) set_storage(storage(0));
  }
  void operator()(const Reshape&) { reshape(); }
  void operator()(const Flatten&) { reshape(); }
  void operator()(const ShapeOf&) {}
  // Bodies are walked by whoever walks the graph.
  void operator()(const If&) {}
  void operator()(const Loop&) {}
  void operator()(const Scan&) {}
};

}  // namespace joulecast
