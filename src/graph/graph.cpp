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
  // Many nodes with many known elements each would take memory out of all proportion to the file.
  constexpr std::size_t kMaxTotal = std::size_t{1} << 24;
  const std::size_t count = contents.ints.size() + contents.reals.size();
  if (known_elements_ + count > kMaxTotal) return;
  known_elements_ += count;
  contents_[index(id)] = static_cast<std::uint32_t>(pool_.size());
  pool_.push_back(std::move(contents));
}

void TypeTable::replace(ElementType from, ElementType to) {
  for (TensorType& type : types_) {
    if (type.element == from) type.element = to;
  }
  for (TypeTable& body : bodies_) body.replace(from, to);
}

namespace {

// Marks what is produced, node by node, and refuses what is read too early or produced twice.
class Validator {
 public:
  Validator(const Graph& graph, std::size_t depth)
      : graph_(graph), depth_(depth), produced_(graph.values.size(), false), body_used_(graph.bodies.size(), false) {}

  Result<void> run() {
    if (depth_ > kMaxBodyDepth) return invalid(fmt::format("bodies are nested more than {} deep", kMaxBodyDepth));
    JC_RETURN_IF_ERROR(sources());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (auto ok = node(graph_.nodes[i]); !ok) {
        return tl::unexpected(std::move(ok).error().in(fmt::format("node {} '{}'", i, graph_.nodes[i].name)));
      }
    }
    for (const ValueId id : graph_.outputs) JC_RETURN_IF_ERROR(read(id, "output of the graph"));
    for (std::size_t i = 0; i < graph_.bodies.size(); ++i) {
      if (auto ok = Validator(graph_.bodies[i], depth_ + 1).run(); !ok) {
        return tl::unexpected(std::move(ok).error().in(fmt::format("body {}", i)));
      }
    }
    return {};
  }

 private:
  Result<void> sources() {
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      const Value& value = graph_.values[i];
      const bool source = value.kind == ValueKind::kParameter || value.kind == ValueKind::kConstant;
      produced_[i] = source;
      auto ok = source ? check_source(value) : check_other(value);
      if (!ok) return tl::unexpected(std::move(ok).error().in(fmt::format("value '{}'", value.name)));
    }
    for (const GraphInput& input : graph_.inputs) JC_RETURN_IF_ERROR(produce(input.value, ValueKind::kInput));
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      if (graph_.values[i].kind == ValueKind::kInput && !produced_[i]) {
        return invalid(fmt::format("value '{}' is not among the inputs", graph_.values[i].name));
      }
    }
    return {};
  }

  // Operators index contents by the shape: the two must agree.
  Result<void> check_source(const Value& value) const {
    const auto elements = checked_elements(value.type.shape);
    if (!elements) return invalid(fmt::format("shape {} is not a possible tensor", text(value.type.shape)));
    if (!value.contents) return {};
    if (*value.contents >= graph_.contents.size()) return invalid("refers to contents that do not exist");
    const Contents& contents = graph_.contents[*value.contents];
    const bool whole = is_integer(value.type.element) || value.type.element == ElementType::kBool;
    const std::size_t count = whole ? contents.ints.size() : contents.reals.size();
    const std::size_t others = whole ? contents.reals.size() : contents.ints.size();
    if (others > 0) return invalid(fmt::format("contents do not fit element type {}", name(value.type.element)));
    if (count != static_cast<std::size_t>(*elements)) {
      return invalid(fmt::format("{} known elements do not fit shape {}", count, text(value.type.shape)));
    }
    return {};
  }

  static Result<void> check_other(const Value& value) {
    if (value.contents) return invalid("has contents, only parameters and constants have");
    return {};
  }

  Result<void> produce(ValueId id, ValueKind kind) {
    if (index(id) >= produced_.size()) return invalid(fmt::format("value {} does not exist", index(id)));
    if (produced_[index(id)]) return invalid(fmt::format("value '{}' is produced twice", graph_.value(id).name));
    if (graph_.value(id).kind != kind) {
      return invalid(fmt::format("value '{}' is produced as something else than its kind says", graph_.value(id).name));
    }
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
      if (id != kNoValue) JC_RETURN_IF_ERROR(produce(id, ValueKind::kComputed));
    }
    if (const auto* op = std::get_if<If>(&node.op)) {
      JC_RETURN_IF_ERROR(use_body(op->then_body));
      return use_body(op->else_body);
    }
    if (const auto* op = std::get_if<Loop>(&node.op)) return use_body(op->body);
    if (const auto* op = std::get_if<Scan>(&node.op)) return use_body(op->body);
    return {};
  }

  // A body shared by nodes would have to have several types at once, and bodies of shared bodies would take for ever.
  Result<void> use_body(std::uint32_t body) {
    if (body >= body_used_.size()) return invalid(fmt::format("body {} does not exist", body));
    if (body_used_[body]) return invalid(fmt::format("body {} is used twice", body));
    body_used_[body] = true;
    return {};
  }

  const Graph& graph_;
  std::size_t depth_;
  std::vector<bool> produced_;
  std::vector<bool> body_used_;
};

}  // namespace

Result<void> validate(const Graph& graph) {
  return Validator(graph, 0).run();
}

}  // namespace joulecast
