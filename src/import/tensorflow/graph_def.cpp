// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_def.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/text.h"

namespace joulecast::tensorflow {
namespace {

using namespace protobuf;

pbf_reader reader(std::string_view bytes) {
  return pbf_reader(bytes.data(), bytes.size());
}

bool has_tag(const MetaGraphView& graph, std::string_view tag) {
  return std::find(graph.tags.begin(), graph.tags.end(), tag) != graph.tags.end();
}

// Members are named after the message that they read.
class Reader {
 private:
  template <typename T>
  Result<void> append(std::vector<T>& list, T one) {
    if (++entries_ > kMaxEntries) return unsupported("has more entries than any real model" + place());
    list.push_back(std::move(one));
    return {};
  }
  auto texts(std::uint32_t number, std::vector<std::string_view>& list) {
    return Field{text_field(number), [this, &list](pbf_reader& r) { return append(list, view(r)); }};
  }
  auto attributes(std::uint32_t number, std::vector<AttributeView>& list) {
    return message(number, [this, &list](pbf_reader m) -> Result<void> {
      JC_ASSIGN_OR_RETURN(const MapEntry entry, read_map_entry(m));
      return append(list, AttributeView{entry.key, entry.value});
    });
  }
  // `read` gives Result<void> for a message and the element it fills.
  template <typename T, typename Read>
  auto messages(std::uint32_t number, std::vector<T>& list, Read read) {
    return message(number, [this, &list, read](pbf_reader m) -> Result<void> {
      T one;
      JC_RETURN_IF_ERROR(read(m, one));
      return append(list, std::move(one));
    });
  }
  auto nodes(std::uint32_t number, std::vector<NodeView>& list) {
    return messages(number, list, [this](pbf_reader m, NodeView& out) { return node_def(m, out); });
  }
  auto arguments(std::uint32_t number, std::vector<ArgumentView>& list) {
    return messages(number, list, [](pbf_reader m, ArgumentView& out) {
      return read_fields(m, text(1, out.name), integer(3, out.type), text(5, out.number_attribute),
                         text(6, out.type_list_attribute));
    });
  }

  Result<void> function_library(pbf_reader r, std::vector<FunctionView>& list) {
    return read_fields(r, messages(1, list, [this](pbf_reader m, FunctionView& out) { return function_def(m, out); }));
  }

  Result<void> function_def(pbf_reader r, FunctionView& out) {
    const auto signature = [&](pbf_reader m) {
      return read_fields(m, text(1, out.name), arguments(2, out.inputs), arguments(3, out.outputs));
    };
    const auto one_return = [&](pbf_reader m) -> Result<void> {
      JC_ASSIGN_OR_RETURN(const MapEntry entry, read_map_entry(m));
      return append(out.returns, std::pair(entry.key, entry.value));
    };
    const auto of_argument = [&](pbf_reader m) { return argument_attributes(m, out); };
    return read_fields(r, message(1, signature), nodes(3, out.nodes), message(4, one_return),
                       attributes(5, out.attributes), message(7, of_argument));
  }

  Result<void> argument_attributes(pbf_reader r, FunctionView& out) {
    std::uint64_t index = 0;
    std::vector<AttributeView> list;
    const auto value = [&](pbf_reader m) { return read_fields(m, attributes(1, list)); };
    JC_RETURN_IF_ERROR(read_fields(r, integer(1, index), message(2, value)));
    return append(out.input_attributes, std::pair(index, std::move(list)));
  }

  Result<void> meta_graph(pbf_reader r, MetaGraphView& out) {
    return read_fields(r, message(1, [&](pbf_reader m) { return meta_info(m, out); }),
                       message(2, [&](pbf_reader m) { return graph_def(m, out.graph); }),
                       messages(5, out.signatures, [this](pbf_reader m, SignatureView& s) { return signature(m, s); }));
  }

  Result<void> meta_info(pbf_reader r, MetaGraphView& out) {
    return read_fields(r, texts(4, out.tags), text(5, out.version));
  }

  auto tensor_infos(std::uint32_t number, std::vector<TensorInfoView>& list) {
    return messages(number, list, [](pbf_reader entry, TensorInfoView& out) {
      const auto value = [&](pbf_reader m) {
        return read_fields(m, text(1, out.tensor), integer(2, out.type), text(3, out.shape));
      };
      return read_fields(entry, text(1, out.key), message(2, value));
    });
  }

  // An entry of the map of signatures.
  Result<void> signature(pbf_reader r, SignatureView& out) {
    const auto value = [&](pbf_reader m) {
      return read_fields(m, tensor_infos(1, out.inputs), tensor_infos(2, out.outputs));
    };
    return read_fields(r, text(1, out.key), message(2, value));
  }

 public:
  Result<void> node_def(pbf_reader r, NodeView& out) {
    if (++nodes_ > kMaxNodes) return unsupported(fmt::format("more than {} nodes", kMaxNodes));
    const Field name{text_field(1), [&](pbf_reader& field) -> Result<void> {
                       node_name_ = out.name = view(field);
                       return {};
                     }};
    return read_fields(r, name, text(2, out.op), texts(3, out.inputs), attributes(5, out.attributes));
  }

  Result<void> graph_def(pbf_reader r, GraphView& out) {
    return read_fields(r, nodes(1, out.nodes),
                       message(2, [&](pbf_reader m) { return function_library(m, out.functions); }));
  }

  Result<void> saved_model(pbf_reader r, MetaGraphView& out) {
    std::vector<std::string_view> candidates;
    const auto found = [&](pbf_reader& field) { return append(candidates, view(field)); };
    JC_RETURN_IF_ERROR(read_fields(r, Field{text_field(2), found}));
    if (candidates.empty()) return invalid("has no meta graph: not a SavedModel, or truncated");
    std::size_t chosen = 0;
    for (std::size_t i = candidates.size(); i-- > 0;) {
      MetaGraphView tagged;
      JC_RETURN_IF_ERROR(
          read_fields(reader(candidates[i]), message(1, [&](pbf_reader m) { return meta_info(m, tagged); })));
      if (has_tag(tagged, "serve")) chosen = i;
    }
    return meta_graph(reader(candidates[chosen]), out);
  }

  // Where reading was when it failed.
  [[nodiscard]] std::string place() const {
    if (nodes_ == 0) return "";
    return fmt::format(" at or after node {} '{}'", nodes_ - 1, printable(node_name_));
  }

 private:
  std::size_t nodes_ = 0, entries_ = 0;
  std::string_view node_name_;  // of the node read last, for errors
};

// The one place that third-party exceptions may reach while structure is read.
template <typename View, typename Read>
Result<View> guarded(std::string_view what, Read read) {
  Reader reader;
  View out;
  try {
    JC_RETURN_IF_ERROR(read(reader, out));
  } catch (const protozero::exception& e) {
    return invalid(fmt::format("truncated or corrupted, or no {} ({}){}", what, e.what(), reader.place()));
  }
  return out;
}

}  // namespace

Result<MapEntry> read_map_entry(pbf_reader r) {
  MapEntry out;
  JC_RETURN_IF_ERROR(read_fields(r, text(1, out.key), text(2, out.value)));
  return out;
}

Result<GraphView> read_graph_def(std::string_view bytes) {
  return guarded<GraphView>("GraphDef", [&](Reader& r, GraphView& out) { return r.graph_def(reader(bytes), out); });
}

Result<NodeView> read_node_def(std::string_view bytes) {
  return guarded<NodeView>("NodeDef", [&](Reader& r, NodeView& out) { return r.node_def(reader(bytes), out); });
}

Result<MetaGraphView> read_saved_model(std::string_view bytes) {
  return guarded<MetaGraphView>("SavedModel",
                                [&](Reader& r, MetaGraphView& out) { return r.saved_model(reader(bytes), out); });
}

}  // namespace joulecast::tensorflow
