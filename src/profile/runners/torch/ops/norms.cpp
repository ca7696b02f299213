// SPDX-License-Identifier: Apache-2.0
// Normalisations.
#include "operators.h"

namespace joulecast::runner {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kMomentum = 0.1;

Kernel batch_norm(const StepContext& context) {
  return [x = context.in(0), scale = context.optional_in(1), shift = context.optional_in(2),
          mean = context.optional_in(3), variance = context.optional_in(4), y = context.out(),
          training = context.training()](Slots& slots) {
    slots[y] =
        at::batch_norm(slots[x], optional_slot(slots, scale), optional_slot(slots, shift), optional_slot(slots, mean),
                       optional_slot(slots, variance), training, kMomentum, kEpsilon, true);
  };
}

std::vector<std::int64_t> last_extents(const StepContext& context) {
  const std::vector<std::int64_t>& shape = context.input(0).shape;
  const std::int64_t axes = context.fields().integer("axes", 1);
  if (axes < 1 || axes > context.rank(0)) refuse(context, "over more axes than there are");
  return {shape.end() - axes, shape.end()};
}

// torchvision's LayerNorm2d: over the channels of images, through the order with channels last.
Kernel layer_norm_of_images(const StepContext& context) {
  return [x = context.in(0), scale = context.optional_in(1), shift = context.optional_in(2), y = context.out(),
          extents = std::vector<std::int64_t>{context.input(0).shape[1]}](Slots& slots) {
    const at::Tensor turned = slots[x].movedim(1, -1);
    slots[y] = at::layer_norm(turned, extents, optional_slot(slots, scale), optional_slot(slots, shift), kEpsilon)
                   .movedim(-1, 1);
  };
}

Kernel layer_norm(const StepContext& context) {
  if (context.fields().flag("channels_first")) return layer_norm_of_images(context);
  return [x = context.in(0), scale = context.optional_in(1), shift = context.optional_in(2), y = context.out(),
          extents = last_extents(context)](Slots& slots) {
    slots[y] = at::layer_norm(slots[x], extents, optional_slot(slots, scale), optional_slot(slots, shift), kEpsilon);
  };
}

Kernel rms_norm(const StepContext& context) {
  return [x = context.in(0), scale = context.optional_in(1), y = context.out(),
          extents = last_extents(context)](Slots& slots) {
    const at::Tensor& s = optional_slot(slots, scale);
    slots[y] = at::rms_norm(slots[x], extents, s.defined() ? std::optional<at::Tensor>(s) : std::nullopt, kEpsilon);
  };
}

Kernel group_norm(const StepContext& context) {
  return [x = context.in(0), scale = context.optional_in(1), shift = context.optional_in(2), y = context.out(),
          groups = context.fields().integer("groups", 1)](Slots& slots) {
    slots[y] = at::group_norm(slots[x], groups, optional_slot(slots, scale), optional_slot(slots, shift), kEpsilon);
  };
}

Kernel instance_norm(const StepContext& context) {
  return [x = context.in(0), scale = context.optional_in(1), shift = context.optional_in(2),
          y = context.out()](Slots& slots) {
    slots[y] = at::instance_norm(slots[x], optional_slot(slots, scale), optional_slot(slots, shift), {}, {}, true,
                                 kMomentum, kEpsilon, true);
  };
}

}  // namespace

std::vector<OperatorEntry> norm_operators() {
  return {{"batch_norm", batch_norm},
          {"layer_norm", layer_norm},
          {"rms_norm", rms_norm},
          {"group_norm", group_norm},
          {"instance_norm", instance_norm}};
}

}  // namespace joulecast::runner
