// SPDX-License-Identifier: Apache-2.0
// The wire format of ONNX (onnx.proto3) as light structs of views into the file's bytes.
//
// Views are valid as long as the bytes. Weights are skipped, not read: only the contents of small tensors are decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "import/raw_data.h"
#include "joulecast/result.h"
#include "joulecast/tensor.h"

namespace joulecast::onnx {

// What no real model comes near; a file beyond is refused before it costs memory.
inline constexpr std::size_t kMaxNodes = 250'000;
inline constexpr std::size_t kMaxMessages = 1'000'000;  // tensors, attributes, value descriptions
inline constexpr std::size_t kMaxScalars = 8'000'000;   // names, numbers of lists
inline constexpr int kMaxDepth = 32;                    // of graphs in graphs and functions in functions

struct TensorView {
  std::string_view name;
  TensorType type;
  std::optional<Contents> contents;  // of small integer and tiny floating-point tensors that have their bytes
};

struct DimensionView {
  std::optional<std::int64_t> extent;
  std::string_view symbol;
};

// What a file says about the type of a value.
struct ValueInfoView {
  std::string_view name;
  ElementType element = ElementType::kUnknown;
  bool tensor = false;      // and not a sequence, map or optional
  bool has_shape = false;   // else the rank is unknown too
  bool known_type = false;  // some type is there at all
  std::vector<DimensionView> dimensions;
};

enum class AttributeType : std::uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kType = 13,
  kTypes = 14,
};

struct GraphView;

struct AttributeView {
  std::string_view name;
  std::string_view reference;  // in a function: the function's attribute that stands here
  AttributeType type = AttributeType::kUndefined;
  float number = 0.0F;
  std::int64_t integer = 0;
  std::string_view string;
  std::vector<float> numbers;
  std::vector<std::int64_t> integers;
  std::vector<std::string_view> strings;
  std::vector<TensorView> tensors;
  std::vector<GraphView> graphs;
};

// `size` of nodes and functions: how many messages, names and numbers they hold, subgraphs included.
struct NodeView {
  std::size_t size = 0;
  std::string_view name, op_type, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttributeView> attributes;
};

struct GraphView {
  std::string_view name;
  std::vector<NodeView> nodes;
  std::vector<TensorView> initializers;
  std::vector<ValueInfoView> inputs, outputs, value_info;
};

struct OpsetView {
  std::string_view domain;
  std::int64_t version = 0;
};

struct FunctionView {
  std::size_t size = 0;
  std::string_view domain, name, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttributeView> defaults;
  std::vector<NodeView> nodes;
  std::vector<OpsetView> opsets;
  std::vector<ValueInfoView> value_info;
};

struct ModelView {
  std::int64_t ir_version = 0;
  std::string_view producer;
  std::vector<OpsetView> opsets;
  std::optional<GraphView> graph;
  std::vector<FunctionView> functions;
};

// Errors: kInvalidInput for bytes that are not the wire format of ONNX, for tensors whose dimensions are absurd or do
// not fit their data; kUnsupported beyond the limits above.
Result<ModelView> read_model(std::span<const std::byte> bytes);

// The element type of a TensorProto.DataType; kUnknown for 0 and for what we do not have.
ElementType element_type(std::int64_t data_type);

}  // namespace joulecast::onnx
