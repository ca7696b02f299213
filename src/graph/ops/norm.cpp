// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/norm.h"

#include <algorithm>
#include <array>

namespace joulecast {

Result<void> check_channel_vectors(const InferContext& context, std::size_t first, std::size_t last) {
  constexpr std::array<std::string_view, 5> kNames{"x", "scale", "shift", "mean", "variance"};
  const Shape wanted{context.shape(0)[1]};
  for (std::size_t i = first; i <= last && i < kNames.size(); ++i) {
    JC_RETURN_IF_ERROR(expect_shape(context, i, kNames[i], wanted));
  }
  return {};
}

Cost norm_cost(const CostContext& context, const NormWork& work) {
  Cost cost;
  count_parameters(context, cost);
  if (!context.has_output(0)) return cost;
  const TensorType& x = context.input(0);
  const auto elements = static_cast<double>(x.elements());
  const double scale = context.has(1) ? 1.0 : 0.0;
  const double shift = context.has(2) ? 1.0 : 0.0;
  cost.forward_flops = Flops{elements * (work.forward_steps + scale + shift)};
  cost.backward_flops = Flops{elements * (work.backward_steps + 2.0 * scale + shift)};
  const double statistic = std::max(4.0, bit_width(x.element) / 8.0);
  cost.saved = Bytes{statistic * work.groups * work.statistics_per_group};
  cost.forward_read = input_bytes(context);
  cost.forward_written = output_bytes(context);
  const Bytes scale_bytes = context.has(1) ? context.input(1).bytes() : Bytes{};
  const Bytes shift_bytes = context.has(2) ? context.input(2).bytes() : Bytes{};
  cost.backward_read = 2.0 * x.bytes() + scale_bytes + cost.saved;
  cost.backward_written = x.bytes() + scale_bytes + shift_bytes;
  return cost;
}

Cost mean_variance_cost(const CostContext& context, double groups) {
  return norm_cost(context, {.forward_steps = 6.0, .backward_steps = 10.0, .groups = groups});
}

}  // namespace joulecast
