// SPDX-License-Identifier: Apache-2.0
#include "joulecast/graph.h"

#include <fmt/format.h>

namespace joulecast {

ValueId Graph::add_value(Value value) {
  values.push_back(std::move(value));
  return ValueId{static_cast<std::uint32_t>(values.size() - 1)};
}

const Contents* Graph::known(ValueId id) const {
  const Value& v = value(id);
  return v.contents ? &contents[*v.contents] : nullptr;
}

const Contents* TypeTable::known(ValueId id) const {
  const std::uint32_t at = contents_[index(id)];
  return at == kNone ? nullptr : &pool_[at];
}

void TypeTable::set_known(ValueId id, Contents contents) {
  contents_[index(id)] = static_cast<std::uint32_t>(pool_.size());
  pool_.push_back(std::move(contents));
}

namespace {

// Marks what is produced, node by node, and refuses what is read too early or produced twice.
class Validator {
 public:
  explicit Validator(const Graph& graph) : graph_(graph), produced_(graph.values.size(), false) {}

  Result<void> run() {
    JC_RETURN_IF_ERROR(sources());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (auto ok = node(graph_.nodes[i]); !ok) {
        return tl::unexpected(std::move(ok).error().in(fmt::format("node {} '{}'", i, graph_.nodes[i].name)));
      }
    }
    for (const ValueId id : graph_.outputs) JC_RETURN_IF_ERROR(read(id, "output of the graph"));
    for (const Graph& body : graph_.bodies) JC_RETURN_IF_ERROR(validate(body));
    return {};
  }

 private:
  Result<void> sources() {
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      const Value& value = graph_.values[i];
      if (value.kind == ValueKind::kParameter || value.kind == ValueKind::kConstant) produced_[i] = true;
      if (value.contents && *value.contents >= graph_.contents.size()) {
        return invalid(fmt::format("value '{}' refers to contents that do not exist", value.name));
      }
    }
    for (const GraphInput& input : graph_.inputs) JC_RETURN_IF_ERROR(produce(input.value));
    return {};
  }

  Result<void> produce(ValueId id) {
    if (index(id) >= produced_.size()) return invalid(fmt::format("value {} does not exist", index(id)));
    if (produced_[index(id)]) return invalid(fmt::format("value '{}' is produced twice", graph_.value(id).name));
    produced_[index(id)] = true;
    return {};
  }

  Result<void> read(ValueId id, std::string_view what) {
    if (index(id) >= produced_.size()) return invalid(fmt::format("{} does not exist", what));
    if (!produced_[index(id)]) {
      return invalid(fmt::format("{} '{}' is read before it is produced", what, graph_.value(id).name));
    }
    return {};
  }

  Result<void> node(const Node& node) {
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) JC_RETURN_IF_ERROR(read(id, "input"));
    }
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) JC_RETURN_IF_ERROR(produce(id));
    }
    return {};
  }

  const Graph& graph_;
  std::vector<bool> produced_;
};

}  // namespace

Result<void> validate(const Graph& graph) {
  return Validator(graph).run();
}

}  // namespace joulecast
