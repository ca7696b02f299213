// SPDX-License-Identifier: Apache-2.0
#include "import/torch/aten/weight_kind.h"

namespace joulecast::aten {
namespace {

// Statistics of norms are told from weights where a norm reads them; larger tensors are weights that somebody froze,
// and take memory as such.
bool is_table(const TensorType& type, std::string_view name) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  return type.elements() < kMost && !name.ends_with("running_mean") && !name.ends_with("running_var");
}

}  // namespace

// Scalars and integers are constants whatever keeps them, but quantized weights; so are the tables of buffers.
ValueKind weight_kind(const TensorType& type, std::string_view name, bool buffer) {
  const bool quantized = bit_width(type.element) <= 8 && type.element != ElementType::kBool &&
                         type.elements() > static_cast<std::int64_t>(kMaxKnownElements);
  const bool weight = is_floating(type.element) && !type.shape.empty() && !(buffer && is_table(type, name));
  return weight || quantized ? ValueKind::kParameter : ValueKind::kConstant;
}

}  // namespace joulecast::aten
