// SPDX-License-Identifier: Apache-2.0
// For tests: writes small ONNX files.
//
//   const std::string file = model({.nodes = {node("Relu", {"x"}, {"y"})}, .inputs = {value("x", {2, 3})},
//                                   .outputs = {value("y")}});
#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace joulecast::onnx::test {

using protozero::pbf_writer;

// TensorProto.DataType
inline constexpr int kFloat = 1, kInt8 = 3, kInt64 = 7, kBool = 9;

// A message of onnx.proto, encoded.
struct Encoded {
  std::string bytes;
};

using Extent = std::variant<int, std::string>;

inline Encoded value(const std::string& name, const std::vector<Extent>& extents, int element = kFloat) {
  Encoded out;
  pbf_writer info(out.bytes);
  info.add_string(1, name);
  pbf_writer type(info, 2);
  pbf_writer tensor(type, 1);
  tensor.add_int32(1, element);
  pbf_writer shape(tensor, 2);
  for (const Extent& extent : extents) {
    pbf_writer dimension(shape, 1);
    if (const int* number = std::get_if<int>(&extent)) dimension.add_int64(1, *number);
    if (const auto* symbol = std::get_if<std::string>(&extent)) dimension.add_string(2, *symbol);
  }
  return out;
}
// Nothing but a name.
inline Encoded value(const std::string& name) {
  Encoded out;
  pbf_writer(out.bytes).add_string(1, name);
  return out;
}

inline Encoded tensor(const std::string& name, const std::vector<std::int64_t>& extents, int element = kFloat,
                      const std::string& raw = "") {
  Encoded out;
  pbf_writer w(out.bytes);
  for (const std::int64_t extent : extents) w.add_int64(1, extent);
  w.add_int32(2, element);
  w.add_string(8, name);
  if (!raw.empty()) w.add_string(9, raw);
  return out;
}
inline Encoded ints_tensor(const std::string& name, const std::vector<std::int64_t>& values) {
  Encoded out;
  pbf_writer w(out.bytes);
  w.add_int64(1, static_cast<std::int64_t>(values.size()));
  w.add_int32(2, kInt64);
  w.add_packed_int64(7, values.begin(), values.end());
  w.add_string(8, name);
  return out;
}

inline Encoded integer(const std::string& name, std::int64_t value) {
  Encoded out;
  pbf_writer w(out.bytes);
  w.add_string(1, name);
  w.add_int64(3, value);
  w.add_int32(20, 2);
  return out;
}
inline Encoded number(const std::string& name, float value) {
  Encoded out;
  pbf_writer w(out.bytes);
  w.add_string(1, name);
  w.add_float(2, value);
  w.add_int32(20, 1);
  return out;
}
inline Encoded string(const std::string& name, const std::string& value) {
  Encoded out;
  pbf_writer w(out.bytes);
  w.add_string(1, name);
  w.add_string(4, value);
  w.add_int32(20, 3);
  return out;
}
inline Encoded integers(const std::string& name, const std::vector<std::int64_t>& values) {
  Encoded out;
  pbf_writer w(out.bytes);
  w.add_string(1, name);
  for (const std::int64_t value : values) w.add_int64(8, value);
  w.add_int32(20, 7);
  return out;
}
inline Encoded numbers(const std::string& name, const std::vector<float>& values) {
  Encoded out;
  pbf_writer w(out.bytes);
  w.add_string(1, name);
  for (const float value : values) w.add_float(7, value);
  w.add_int32(20, 6);
  return out;
}
inline Encoded tensor_attribute(const std::string& name, const Encoded& tensor) {
  Encoded out;
  pbf_writer w(out.bytes);
  w.add_string(1, name);
  w.add_message(5, tensor.bytes);
  w.add_int32(20, 4);
  return out;
}
inline Encoded graph_attribute(const std::string& name, const Encoded& graph) {
  Encoded out;
  pbf_writer w(out.bytes);
  w.add_string(1, name);
  w.add_message(6, graph.bytes);
  w.add_int32(20, 5);
  return out;
}
// Stands for the attribute `of` of the function that the node is in.
inline Encoded reference(const std::string& name, const std::string& of, int type) {
  Encoded out;
  pbf_writer w(out.bytes);
  w.add_string(1, name);
  w.add_string(21, of);
  w.add_int32(20, type);
  return out;
}

inline Encoded node(const std::string& op, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, const std::vector<Encoded>& attributes = {},
                    const std::string& domain = "") {
  Encoded out;
  pbf_writer w(out.bytes);
  for (const std::string& input : inputs) w.add_string(1, input);
  for (const std::string& output : outputs) w.add_string(2, output);
  w.add_string(3, outputs.empty() ? op : "make_" + outputs[0]);
  w.add_string(4, op);
  for (const Encoded& attribute : attributes) w.add_message(5, attribute.bytes);
  if (!domain.empty()) w.add_string(7, domain);
  return out;
}

struct GraphParts {
  std::vector<Encoded> nodes = {}, inputs = {}, outputs = {}, initializers = {}, value_info = {};
};
inline Encoded graph(const GraphParts& parts) {
  Encoded out;
  pbf_writer w(out.bytes);
  for (const Encoded& one : parts.nodes) w.add_message(1, one.bytes);
  w.add_string(2, "g");
  for (const Encoded& one : parts.initializers) w.add_message(5, one.bytes);
  for (const Encoded& one : parts.inputs) w.add_message(11, one.bytes);
  for (const Encoded& one : parts.outputs) w.add_message(12, one.bytes);
  for (const Encoded& one : parts.value_info) w.add_message(13, one.bytes);
  return out;
}

inline Encoded opset(const std::string& domain, std::int64_t version) {
  Encoded out;
  pbf_writer w(out.bytes);
  if (!domain.empty()) w.add_string(1, domain);
  w.add_int64(2, version);
  return out;
}

struct FunctionParts {
  std::string domain, name;
  std::vector<std::string> inputs, outputs;
  std::vector<Encoded> nodes;
};
inline Encoded function(const FunctionParts& parts) {
  Encoded out;
  pbf_writer w(out.bytes);
  w.add_string(1, parts.name);
  for (const std::string& input : parts.inputs) w.add_string(4, input);
  for (const std::string& output : parts.outputs) w.add_string(5, output);
  for (const Encoded& one : parts.nodes) w.add_message(7, one.bytes);
  w.add_message(9, opset("", 18).bytes);
  w.add_string(10, parts.domain);
  return out;
}

struct ModelParts {
  std::int64_t opset_version = 18;
  std::string producer = "test";
  std::vector<Encoded> functions = {};
};
inline std::string model(const GraphParts& parts, const ModelParts& more = {}) {
  std::string out;
  pbf_writer w(out);
  w.add_int64(1, 8);
  w.add_string(2, more.producer);
  w.add_message(7, graph(parts).bytes);
  w.add_message(8, opset("", more.opset_version).bytes);
  for (const Encoded& one : more.functions) w.add_message(25, one.bytes);
  return out;
}

}  // namespace joulecast::onnx::test
