// SPDX-License-Identifier: Apache-2.0
// Element types by the numbers of c10::ScalarType, which the code of TorchScript writes. Programs of torch.export have
// numbers of their own.
#pragma once

#include <cstdint>
#include <optional>

#include "joulecast/tensor.h"

namespace joulecast::aten {

// kUnknown for numbers we do not know.
ElementType element_of(std::int64_t number);
std::optional<std::int64_t> scalar_type_of(ElementType element);

}  // namespace joulecast::aten
