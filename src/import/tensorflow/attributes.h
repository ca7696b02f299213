// SPDX-License-Identifier: Apache-2.0
// The values of attributes: numbers, types, shapes, tensors, names of functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "joulecast/result.h"
#include "joulecast/tensor.h"

namespace joulecast::tensorflow {

// As far as a file tells; -1 for an extent that it does not.
struct PartialShape {
  bool known_rank = false;
  Shape extents;
};

struct TensorValue {
  TensorType type;
  std::optional<Contents> contents;  // of small integer and tiny floating-point tensors that have their bytes
};

struct AttributeValue {
  enum class Kind : std::uint8_t { kNone, kString, kInt, kFloat, kBool, kType, kShape, kTensor, kFunction, kList };
  Kind kind = Kind::kNone;
  std::string_view string;  // or the name of a function, or the bytes of a tensor
  std::int64_t integer = 0;
  double number = 0.0;
  PartialShape shape;
  // Lists.
  std::vector<std::int64_t> integers;  // types and truth values too
  std::vector<std::string_view> strings;
  std::vector<PartialShape> shapes;
};

// Errors of all: kInvalidInput for bytes that are not the wire format and for absurd shapes, kUnsupported for more than
// kMaxRank axes.
Result<AttributeValue> read_attribute(std::string_view bytes);
Result<PartialShape> read_shape(std::string_view bytes);  // a TensorShapeProto
Result<TensorValue> read_tensor(std::string_view bytes);  // a TensorProto; large contents are skipped

// The element type of a DataType of TensorFlow; kUnknown for 0 and for what we do not have, resources among it.
ElementType element_type(std::int64_t data_type);
inline constexpr std::int64_t kResourceType = 20;
inline constexpr std::int64_t kVariantType = 21;

}  // namespace joulecast::tensorflow
