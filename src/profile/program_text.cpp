// SPDX-License-Identifier: Apache-2.0
#include "profile/program_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <vector>

#include "graph/enum_names.h"

namespace joulecast::profile {
namespace {

std::string field_value(bool value) {
  return value ? "1" : "0";
}
std::string field_value(std::int64_t value) {
  return fmt::format("{}", value);
}
std::string field_value(std::uint32_t value) {
  return fmt::format("{}", value);
}
std::string field_value(double value) {
  return fmt::format("{}", value);
}
std::string field_value(const std::string& value) {
  return escaped(value);
}
std::string field_value(ElementType value) {
  return std::string(name(value));
}
std::string field_value(const Extents& value) {
  return fmt::format("{}", fmt::join(value, ","));
}
std::string field_value(const IntList& value) {
  return fmt::format("{}", fmt::join(value, ","));
}
template <typename E>
std::string field_value(E value) requires std::is_enum_v<E> {
  return std::string(enum_name(value));
}

// All fields but optional ones that are absent: a runner need not know defaults.
template <typename Op>
std::string fields(const Op& op) {
  std::string out;
  Op::fields([&](std::string_view field, auto member) {
    using Field = std::decay_t<decltype(op.*member)>;
    if constexpr (std::is_same_v<Field, std::optional<std::int64_t>>) {
      if (op.*member) out += fmt::format(" {}={}", field, *(op.*member));
    } else if constexpr (!std::is_same_v<Field, std::vector<TensorType>>) {
      const std::string text = field_value(op.*member);
      if (!text.empty()) out += fmt::format(" {}={}", field, text);
    }
  });
  return out;
}

bool is_control_flow(const Operator& op) {
  return std::holds_alternative<If>(op) || std::holds_alternative<Loop>(op) || std::holds_alternative<Scan>(op);
}

std::string_view kind_text(ValueKind kind) {
  switch (kind) {
    case ValueKind::kInput:
      return "input";
    case ValueKind::kParameter:
      return "parameter";
    case ValueKind::kConstant:
      return "constant";
    case ValueKind::kComputed:
      break;
  }
  return "computed";
}

class Writer {
 public:
  Writer(const Graph& graph, const TypeTable& types) : graph_(graph), types_(types) {}

  Result<std::string> run() {
    choose_nodes();
    number_values();
    for (const std::size_t i : nodes_) {
      JC_RETURN_IF_ERROR(node(graph_.nodes[i]));
    }
    for (const ValueId id : graph_.outputs) {
      if (id != kNoValue) steps_ += fmt::format("output {}\n", number_[index(id)]);
    }
    return values_ + steps_;
  }

 private:
  // Its contents follow from shapes alone: no device ever computes it.
  [[nodiscard]] bool is_known(ValueId id) const { return types_.known(id) != nullptr; }

  // From the outputs backwards: what is needed and not known.
  void choose_nodes() {
    std::vector<bool> needed(graph_.values.size(), false);
    const auto need = [&](ValueId id) {
      if (id != kNoValue) needed[index(id)] = true;
    };
    for (const ValueId id : graph_.outputs) need(id);
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      const bool wanted = std::any_of(node.outputs.begin(), node.outputs.end(),
                                      [&](ValueId id) { return id != kNoValue && needed[index(id)] && !is_known(id); });
      if (!wanted) continue;
      nodes_.push_back(i);
      for (const ValueId id : node.inputs) need(id);
    }
    std::reverse(nodes_.begin(), nodes_.end());
    needed_ = std::move(needed);
    for (const std::size_t i : nodes_) {
      for (const ValueId id : graph_.nodes[i].outputs) need_output(id);
    }
  }
  void need_output(ValueId id) {
    if (id != kNoValue) needed_[index(id)] = true;
  }

  void number_values() {
    number_.assign(graph_.values.size(), 0);
    std::size_t next = 0;
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      if (!needed_[i]) continue;
      number_[i] = next++;
      values_ += value(ValueId{static_cast<std::uint32_t>(i)});
    }
  }

  std::string value(ValueId id) const {
    const TensorType& type = types_.type(id);
    const Contents* known = types_.known(id);
    if (known == nullptr) known = graph_.known(id);
    const ValueKind kind = is_known(id) ? ValueKind::kConstant : graph_.value(id).kind;
    std::string out = fmt::format("value {} {}", kind_text(kind), name(type.element));
    if (!type.shape.empty()) out += fmt::format(" shape={}", fmt::join(type.shape, ","));
    if (known != nullptr && !known->ints.empty()) out += fmt::format(" contents={}", fmt::join(known->ints, ","));
    if (known != nullptr && !known->reals.empty()) out += fmt::format(" contents={}", fmt::join(known->reals, ","));
    return out + "\n";
  }

  std::string list(const std::vector<ValueId>& ids) const {
    std::string out;
    for (const ValueId id : ids) {
      if (!out.empty()) out += ',';
      out += id == kNoValue ? "_" : fmt::format("{}", number_[index(id)]);
    }
    return out;
  }

  Result<void> node(const Node& node) {
    if (is_control_flow(node.op)) return unsupported(fmt::format("{} is not run yet", label(node.op)));
    if (std::holds_alternative<Opaque>(node.op))
      return unsupported(fmt::format("nobody knows how to run {}", label(node.op)));
    steps_ += fmt::format("node {} in={} out={}{}\n", name(node.op), list(node.inputs), list(node.outputs),
                          std::visit([](const auto& op) { return fields(op); }, node.op));
    return {};
  }

  const Graph& graph_;
  const TypeTable& types_;
  std::vector<std::size_t> nodes_;
  std::vector<bool> needed_;
  std::vector<std::size_t> number_;
  std::string values_, steps_;
};

}  // namespace

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte != '%' && byte != 0x7f) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

std::string unescaped(std::string_view value) {
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    int code = 0;
    const char* begin = value.data() + i + 1;
    if (value[i] == '%' && i + 2 < value.size() && std::from_chars(begin, begin + 2, code, 16).ptr == begin + 2) {
      out += static_cast<char>(code);
      i += 2;
    } else {
      out += value[i];
    }
  }
  return out;
}

Result<std::string> program_text(const Graph& graph, const TypeTable& types) {
  return Writer(graph, types).run();
}

}  // namespace joulecast::profile
