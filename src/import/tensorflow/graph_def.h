// SPDX-License-Identifier: Apache-2.0
// The wire format of TensorFlow's GraphDef and SavedModel as light structs of views into the file's bytes.
//
// Views are valid as long as the bytes. Attributes, and with them weights, are decoded when they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "import/protobuf.h"
#include "joulecast/result.h"

namespace joulecast::tensorflow {

// What no real model comes near; a file beyond is refused before it costs memory.
inline constexpr std::size_t kMaxNodes = 250'000;
inline constexpr std::size_t kMaxEntries = 4'000'000;  // names, attributes, arguments

struct AttributeView {
  std::string_view name, value;  // value: an AttrValue
};

struct NodeView {
  std::string_view name, op;
  std::vector<std::string_view> inputs;  // "name", "name:1", "^name"; in functions "name:output:0"
  std::vector<AttributeView> attributes;
  bool opaque = false;  // kept under its own name, whatever we know of that name
};

// An argument of an operator or function. One may stand for several tensors.
struct ArgumentView {
  std::string_view name;
  std::int64_t type = 0;
  std::string_view number_attribute, type_list_attribute;
};

struct FunctionView {
  std::string_view name;
  std::vector<ArgumentView> inputs, outputs;
  std::vector<NodeView> nodes;
  std::vector<std::pair<std::string_view, std::string_view>> returns;  // output argument -> tensor
  std::vector<AttributeView> attributes;
  std::vector<std::pair<std::uint64_t, std::vector<AttributeView>>> input_attributes;  // by index of the input
};

struct OperatorEntry;

struct GraphView {
  std::vector<NodeView> nodes;
  std::vector<FunctionView> functions;
  // Operators beyond those of TensorFlow, of files that are read as its graphs; nullptr for an unknown name.
  const OperatorEntry* (*more_operators)(std::string_view name) = nullptr;
};

// What a signature says of a tensor by the name that users know.
struct TensorInfoView {
  std::string_view key, tensor;
  std::int64_t type = 0;
  std::string_view shape;  // a TensorShapeProto
};

struct SignatureView {
  std::string_view key;
  std::vector<TensorInfoView> inputs, outputs;
};

struct MetaGraphView {
  std::vector<std::string_view> tags;
  std::string_view version;  // of TensorFlow
  GraphView graph;
  std::vector<SignatureView> signatures;
};

// Errors: kInvalidInput for bytes that are not the wire format, kUnsupported beyond the limits above.
Result<GraphView> read_graph_def(std::string_view bytes);
Result<NodeView> read_node_def(std::string_view bytes);
// Only the meta graph that is meant for inference is kept: the one tagged "serve", else the first.
Result<MetaGraphView> read_saved_model(std::string_view bytes);

// Field 1 of a map's entry is the key, field 2 the value.
struct MapEntry {
  std::string_view key, value;
};
Result<MapEntry> read_map_entry(protobuf::pbf_reader r);

}  // namespace joulecast::tensorflow
