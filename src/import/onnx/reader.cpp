// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/reader.h"

#include <fmt/format.h>

#include <string>
#include <type_traits>
#include <utility>

#include "import/onnx/tensor_data.h"
#include "import/protobuf.h"
#include "import/text.h"

namespace joulecast::onnx {
namespace {

using namespace protobuf;

// Reads one model. Members named after the message of onnx.proto that they read.
class Reader {
 public:
  Result<ModelView> model(std::span<const std::byte> bytes) {
    // The one place that third-party exceptions may reach.
    try {
      return read_model(pbf_reader(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    } catch (const protozero::exception& e) {
      return invalid(fmt::format("truncated or corrupted, or no ONNX file ({}){}", e.what(), place()));
    }
  }

 private:
  auto texts(std::uint32_t number, std::vector<std::string_view>& list) {
    return Field{text_field(number), [this, &list](pbf_reader& r) { return append_scalar(list, view(r)); }};
  }
  // `read` gives Result<T> for a message.
  template <typename T, typename Read>
  auto messages(std::uint32_t number, std::vector<T>& list, Read read) {
    return message(number, [this, &list, read](pbf_reader m) { return append(list, Result<T>(read(m))); });
  }
  auto value_infos(std::uint32_t number, std::vector<ValueInfoView>& list) {
    return messages(number, list, [this](pbf_reader m) { return value_info(m); });
  }

  Result<ModelView> read_model(pbf_reader r) {
    ModelView out;
    JC_RETURN_IF_ERROR(read_fields(r, integer(1, out.ir_version), text(2, out.producer),
                                   message(7, [&](pbf_reader m) { return read_main_graph(m, out); }),
                                   messages(8, out.opsets, [&](pbf_reader m) { return opset(m); }),
                                   messages(25, out.functions, [&](pbf_reader m) { return function(m); })));
    return out;
  }

  Result<void> read_main_graph(pbf_reader r, ModelView& out) {
    if (out.graph) return invalid("has more than one graph");
    JC_ASSIGN_OR_RETURN(out.graph, graph(r, 0));
    return {};
  }

  static Result<OpsetView> opset(pbf_reader r) {
    OpsetView out;
    JC_RETURN_IF_ERROR(read_fields(r, text(1, out.domain), integer(2, out.version)));
    return out;
  }

  Result<FunctionView> function(pbf_reader r) {
    FunctionView out;
    const std::size_t before = size_so_far();
    JC_RETURN_IF_ERROR(read_fields(r, text(1, out.name), texts(4, out.inputs), texts(5, out.outputs),
                                   message(7, [&](pbf_reader m) { return append_node(out.nodes, m, 0); }),
                                   messages(9, out.opsets, [&](pbf_reader m) { return opset(m); }),
                                   text(10, out.domain),
                                   messages(11, out.defaults, [&](pbf_reader m) { return attribute(m, 0); }),
                                   value_infos(12, out.value_info), text(13, out.overload)));
    out.size = size_so_far() - before + 1;
    return out;
  }

  Result<GraphView> graph(pbf_reader r, int depth) {
    if (depth > kMaxDepth) return unsupported(fmt::format("graphs are nested more than {} deep{}", kMaxDepth, place()));
    GraphView out;
    JC_RETURN_IF_ERROR(
        read_fields(r, message(1, [&](pbf_reader m) { return append_node(out.nodes, m, depth); }), text(2, out.name),
                    messages(5, out.initializers, [&](pbf_reader m) { return tensor(m); }), value_infos(11, out.inputs),
                    value_infos(12, out.outputs), value_infos(13, out.value_info),
                    messages(15, out.initializers, [&](pbf_reader m) { return sparse_tensor(m); })));
    return out;
  }

  Result<void> append_node(std::vector<NodeView>& list, pbf_reader r, int depth) {
    if (++nodes_ > kMaxNodes) return unsupported(fmt::format("more than {} nodes", kMaxNodes));
    node_name_ = {};
    JC_ASSIGN_OR_RETURN(NodeView one, node(r, depth));
    list.push_back(std::move(one));
    return {};
  }

  Result<NodeView> node(pbf_reader r, int depth) {
    NodeView out;
    const std::size_t before = size_so_far();
    const Field name{text_field(3), [&](pbf_reader& field) -> Result<void> {
                       node_name_ = out.name = view(field);
                       return {};
                     }};
    JC_RETURN_IF_ERROR(read_fields(r, texts(1, out.inputs), texts(2, out.outputs), name, text(4, out.op_type),
                                   messages(5, out.attributes, [&](pbf_reader m) { return attribute(m, depth); }),
                                   text(7, out.domain), text(8, out.overload)));
    out.size = size_so_far() - before + 1;
    return out;
  }

  Result<AttributeView> attribute(pbf_reader r, int depth) {
    AttributeView out;
    Present present;
    while (r.next()) JC_RETURN_IF_ERROR(attribute_field(r, out, present, depth));
    if (out.type == AttributeType::kUndefined) out.type = present.type;
    return out;
  }

  // Files before IR version 2 do not write the type: the last field that holds something tells it.
  struct Present {
    AttributeType type = AttributeType::kUndefined;
  };

  Result<void> attribute_field(pbf_reader& r, AttributeView& out, Present& present, int depth) {
    switch (r.tag_and_type()) {
      case text_field(1):
        out.name = view(r);
        return {};
      case varint_field(20): {
        const std::int64_t type = r.get_int64();
        if (type < 0 || type > static_cast<std::int64_t>(AttributeType::kTypes)) {
          return invalid(fmt::format("attribute '{}' has the unknown type {}{}", printable(out.name), type, place()));
        }
        out.type = static_cast<AttributeType>(type);
        return {};
      }
      case text_field(21):
        out.reference = view(r);
        return {};
      case float_field(2):
        out.number = r.get_float();
        present.type = AttributeType::kFloat;
        return {};
      case varint_field(3):
        out.integer = r.get_int64();
        present.type = AttributeType::kInt;
        return {};
      case text_field(4):
        out.string = view(r);
        present.type = AttributeType::kString;
        return {};
      default:
        return attribute_list(r, out, present, depth);
    }
  }

  Result<void> attribute_list(pbf_reader& r, AttributeView& out, Present& present, int depth) {
    switch (r.tag_and_type()) {
      case text_field(5):
        present.type = AttributeType::kTensor;
        return append(out.tensors, tensor(r.get_message()));
      case text_field(6):
        present.type = AttributeType::kGraph;
        return append(out.graphs, graph(r.get_message(), depth + 1));
      case float_field(7):
        present.type = AttributeType::kFloats;
        return append_scalar(out.numbers, r.get_float());
      case text_field(7):
        present.type = AttributeType::kFloats;
        return append_packed(out.numbers, r.get_packed_float());
      case varint_field(8):
        present.type = AttributeType::kInts;
        return append_scalar(out.integers, r.get_int64());
      case text_field(8):
        present.type = AttributeType::kInts;
        return append_packed(out.integers, r.get_packed_int64());
      case text_field(9):
        present.type = AttributeType::kStrings;
        return append_scalar(out.strings, view(r));
      default:
        r.skip();
        return {};
    }
  }

  Result<ValueInfoView> value_info(pbf_reader r) {
    ValueInfoView out;
    JC_RETURN_IF_ERROR(read_fields(r, text(1, out.name), message(2, [&](pbf_reader m) { return type(m, out); })));
    return out;
  }

  // Whatever is in the message says that there is a type. A sparse tensor (8) has the fields of a tensor (1).
  Result<void> type(pbf_reader r, ValueInfoView& out) {
    out.known_type = out.known_type || r.length() > 0;
    const auto tensor = [&](pbf_reader m) {
      out.tensor = true;
      return tensor_type(m, out);
    };
    return read_fields(r, message(1, tensor), message(8, tensor));
  }

  Result<void> tensor_type(pbf_reader r, ValueInfoView& out) {
    const auto element = [&](pbf_reader& field) -> Result<void> {
      out.element = element_type(field.get_int64());
      return {};
    };
    const auto shape = [&](pbf_reader m) {
      out.has_shape = true;
      return read_fields(m, message(1, [&](pbf_reader d) -> Result<void> {
                           JC_ASSIGN_OR_RETURN(const DimensionView one, dimension(d));
                           return append_scalar(out.dimensions, one);
                         }));
    };
    return read_fields(r, Field{varint_field(1), element}, message(2, shape));
  }

  static Result<DimensionView> dimension(pbf_reader r) {
    DimensionView out;
    JC_RETURN_IF_ERROR(read_fields(r, integer(1, out.extent), text(2, out.symbol)));
    return out;
  }

  // The dense shape is the parameter; values and indices are smaller.
  Result<TensorView> sparse_tensor(pbf_reader r) {
    TensorView out;
    TensorData data;
    const auto values = [&](pbf_reader m) -> Result<void> {
      JC_ASSIGN_OR_RETURN(const TensorView dense, tensor(m));
      out.name = dense.name;
      out.type.element = dense.type.element;
      return {};
    };
    const auto extent = [&](pbf_reader& field) -> Result<void> {
      data.add_dimension(field.get_int64());
      return {};
    };
    const auto extents = [&](pbf_reader& field) -> Result<void> {
      for (const std::int64_t one : field.get_packed_int64()) data.add_dimension(one);
      return {};
    };
    JC_RETURN_IF_ERROR(
        read_fields(r, message(1, values), Field{varint_field(3), extent}, Field{text_field(3), extents}));
    JC_ASSIGN_OR_RETURN(out.type.shape, data.shape(out.name));
    return out;
  }

  Result<TensorView> tensor(pbf_reader r) {
    TensorView out;
    TensorData data;
    while (r.next()) tensor_field(r, out, data);
    out.type.element = element_type(data.data_type);
    JC_ASSIGN_OR_RETURN(out.type.shape, data.shape(out.name));
    JC_ASSIGN_OR_RETURN(out.contents, data.decode(out));
    if (out.contents) scalars_ += out.contents->ints.size() + out.contents->reals.size();
    if (scalars_ > kMaxScalars) return too_large();
    return out;
  }

  static void tensor_field(pbf_reader& r, TensorView& out, TensorData& data) {
    switch (r.tag_and_type()) {
      case varint_field(1):
        return data.add_dimension(r.get_int64());
      case text_field(1):
        for (const std::int64_t extent : r.get_packed_int64()) data.add_dimension(extent);
        return;
      case varint_field(2):
        data.data_type = r.get_int64();
        return;
      case text_field(8):
        out.name = view(r);
        return;
      case text_field(9):
        data.raw = view(r);
        return;
      case varint_field(14):
        data.external = r.get_int64() == 1;
        return;
      default:
        return tensor_data_field(r, data);
    }
  }

  // Packed lists are kept as views and decoded once the dimensions are known to be small; entries written one by one
  // (before protobuf packed them by default) are kept up to the number that may ever be looked at.
  static void tensor_data_field(pbf_reader& r, TensorData& data) {
    switch (r.tag_and_type()) {
      case text_field(4):
        return data.add_packed(TensorData::Packed::kFloat, view(r));
      case text_field(5):
      case text_field(7):
      case text_field(11):
        return data.add_packed(TensorData::Packed::kVarint, view(r));
      case text_field(10):
        return data.add_packed(TensorData::Packed::kDouble, view(r));
      case float_field(4):
        return data.add_real(static_cast<double>(r.get_float()));
      case double_field(10):
        return data.add_real(r.get_double());
      case varint_field(5):
      case varint_field(7):
      case varint_field(11):
        return data.add_integer(r.get_int64());
      default:
        r.skip();
    }
  }

  template <typename T>
  Result<void> append(std::vector<T>& list, Result<T> one) {
    if (!one) return tl::unexpected(std::move(one).error());
    if (++messages_ > kMaxMessages) return too_large();
    list.push_back(std::move(*one));
    return {};
  }

  template <typename T>
  Result<void> append_scalar(std::vector<T>& list, T one) {
    if (++scalars_ > kMaxScalars) return too_large();
    list.push_back(one);
    return {};
  }

  template <typename T, typename Range>
  Result<void> append_packed(std::vector<T>& list, const Range& range) {
    for (const T one : range) JC_RETURN_IF_ERROR(append_scalar(list, one));
    return {};
  }

  [[nodiscard]] std::size_t size_so_far() const { return nodes_ + messages_ + scalars_; }

  [[nodiscard]] tl::unexpected<Error> too_large() const {
    return unsupported(fmt::format("has more entries than any real model{}", place()));
  }

  [[nodiscard]] std::string place() const {
    if (nodes_ == 0) return "";
    if (node_name_.empty()) return fmt::format(" at or after node {}", nodes_ - 1);
    return fmt::format(" at or after node {} '{}'", nodes_ - 1, printable(node_name_));
  }

  std::size_t nodes_ = 0, messages_ = 0, scalars_ = 0;
  std::string_view node_name_;  // of the node read last, for errors
};

}  // namespace

Result<ModelView> read_model(std::span<const std::byte> bytes) {
  return Reader().model(bytes);
}

}  // namespace joulecast::onnx
