// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/pir.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "import/text.h"

namespace joulecast::paddle {
namespace {

using aten::Argument;
using aten::Integer;

// "1.conv2d" -> "conv2d": in front of the dot is the number of a dialect.
std::string_view plain(std::string_view name) {
  const std::size_t dot = name.find('.');
  const bool numbered =
      dot != name.npos && dot > 0 &&
      std::all_of(name.begin(), name.begin() + static_cast<long>(dot), [](char c) { return c >= '0' && c <= '9'; });
  return numbered ? name.substr(dot + 1) : name;
}

using NamedElement = std::pair<std::string_view, ElementType>;

// Types of tensors have short names, those in attributes long ones.
ElementType element_named(std::string_view name) {
  using enum ElementType;
  constexpr auto kNames = std::to_array<NamedElement>({{"t_bool", kBool},
                                                       {"t_ui8", kUInt8},
                                                       {"t_i8", kInt8},
                                                       {"t_i16", kInt16},
                                                       {"t_i32", kInt32},
                                                       {"t_i64", kInt64},
                                                       {"t_ui16", kUInt16},
                                                       {"t_ui32", kUInt32},
                                                       {"t_ui64", kUInt64},
                                                       {"t_f16", kFloat16},
                                                       {"t_bf16", kBFloat16},
                                                       {"t_f32", kFloat32},
                                                       {"t_f64", kFloat64},
                                                       {"t_c64", kComplex64},
                                                       {"t_c128", kComplex128},
                                                       {"t_f8e4m3fn", kFloat8E4M3},
                                                       {"t_f8e5m2", kFloat8E5M2},
                                                       {"bool", kBool},
                                                       {"uint8", kUInt8},
                                                       {"int8", kInt8},
                                                       {"int16", kInt16},
                                                       {"int32", kInt32},
                                                       {"int64", kInt64},
                                                       {"uint16", kUInt16},
                                                       {"uint32", kUInt32},
                                                       {"uint64", kUInt64},
                                                       {"float16", kFloat16},
                                                       {"bfloat16", kBFloat16},
                                                       {"float32", kFloat32},
                                                       {"float64", kFloat64},
                                                       {"complex64", kComplex64},
                                                       {"complex128", kComplex128},
                                                       {"float8_e4m3fn", kFloat8E4M3},
                                                       {"float8_e5m2", kFloat8E5M2}});
  const auto* const it = std::find_if(kNames.begin(), kNames.end(), [&](const auto& one) { return one.first == name; });
  return it == kNames.end() ? kUnknown : it->second;
}

// What "#" of a type or attribute says.
std::string_view kind_of(const Json& json) {
  const Json* kind = json.find("#");
  return kind == nullptr ? std::string_view{} : plain(kind->text());
}

std::span<const JsonMember> contents_of(const Json& json) {
  const Json* contents = json.find("D");
  return contents == nullptr ? std::span<const JsonMember>{} : contents->members();
}

// A dense tensor; nothing for what is none, or cannot be one.
std::optional<TensorType> tensor_type(const Json& json) {
  const auto parts = contents_of(json);
  if (kind_of(json) != "t_dtensor" || parts.size() < 2) return std::nullopt;
  TensorType out;
  out.element = element_named(kind_of(parts[0].value));
  for (const JsonMember& extent : parts[1].value.members()) {
    const bool whole = extent.value.is(JsonKind::kInteger) && extent.value.whole() <= kMaxElements;
    if (!whole || out.shape.full()) return std::nullopt;
    out.shape.push_back(std::max<std::int64_t>(extent.value.whole(), -1));
  }
  return out;
}

double number_of(const Json& json) {
  return json.is(JsonKind::kInteger) ? static_cast<double>(json.whole()) : json.real();
}

// A list of attributes, or of numbers as they are.
Argument list_of(std::span<const JsonMember> members) {
  std::vector<Integer> whole;
  std::vector<double> real;
  bool all_whole = true;
  for (const JsonMember& member : members) {
    const Json* value = &member.value;
    if (value->is(JsonKind::kObject)) value = value->find("D");
    if (value == nullptr) return aten::Setting{};
    const bool truth = value->is(JsonKind::kBool);
    if (!truth && !value->is(JsonKind::kInteger) && !value->is(JsonKind::kReal)) return aten::Setting{};
    all_whole = all_whole && !value->is(JsonKind::kReal);
    whole.push_back({truth ? static_cast<std::int64_t>(value->truth()) : value->whole()});
    real.push_back(truth ? static_cast<double>(value->truth()) : number_of(*value));
  }
  if (all_whole) return whole;
  return real;
}

Argument attribute_value(const Json& json) {
  const std::string_view kind = kind_of(json);
  const Json* value = json.find("D");
  if (kind == "a_place" || value == nullptr) return aten::Setting{};
  if (kind == "a_dtype") {
    const ElementType element = element_named(value->text());
    return element == ElementType::kUnknown ? Argument{} : Argument{element};
  }
  if (value->is(JsonKind::kArray)) return list_of(value->members());
  if (value->is(JsonKind::kText)) return value->text();
  if (value->is(JsonKind::kBool)) return value->truth();
  if (kind == "a_f32" || kind == "a_f64" || value->is(JsonKind::kReal)) return number_of(*value);
  if (value->is(JsonKind::kInteger)) return Integer{value->whole()};
  return aten::Setting{};
}

class Reader {
 public:
  Result<Program> program(const Json& root) {
    JC_ASSIGN_OR_RETURN(const Json* program, root.at("program"));
    JC_ASSIGN_OR_RETURN(const auto regions, program->array("regions"));
    if (regions.size() != 1) return invalid(fmt::format("has {} regions, not one", regions.size()));
    JC_ASSIGN_OR_RETURN(const auto blocks, regions[0].value.array("blocks"));
    if (blocks.size() != 1) return invalid(fmt::format("has {} blocks, not one", blocks.size()));
    JC_RETURN_IF_ERROR(block(blocks[0].value));
    return std::move(out_);
  }

 private:
  Result<std::uint32_t> block(const Json& json) {
    if (++depth_ > kMaxBlockDepth)
      return unsupported(fmt::format("blocks are nested more than {} deep", kMaxBlockDepth));
    const auto place = static_cast<std::uint32_t>(out_.blocks.size());
    out_.blocks.emplace_back();
    Block made;
    const std::size_t before = replaced_.size();
    if (const Json* arguments = json.find("args")) {
      for (const JsonMember& argument : arguments->members()) {
        JC_ASSIGN_OR_RETURN(const std::int64_t id, argument.value.integer("#"));
        hide(id);
        JC_ASSIGN_OR_RETURN(const VariableId variable, define(id, argument.value, ""));
        made.arguments.push_back(variable);
      }
    }
    JC_ASSIGN_OR_RETURN(const auto operations, json.array("ops"));
    for (std::size_t i = 0; i < operations.size(); ++i) {
      auto done = operation(operations[i].value, made);
      if (done) continue;
      const Json* type = operations[i].value.find("#");
      const std::string name = type == nullptr ? "" : fmt::format(" '{}'", printable(plain(type->text())));
      return tl::unexpected(std::move(done).error().in(fmt::format("operator {}{}", i, name)));
    }
    out_.blocks[place] = std::move(made);
    --depth_;
    leave(before);
    return place;
  }

  // Numbers of arguments begin anew in every block.
  void hide(std::int64_t id) {
    const auto found = values_.find(id);
    if (found == values_.end()) return;
    replaced_.emplace_back(id, found->second);
    values_.erase(found);
  }
  // What a block has defined is seen by no one behind it.
  void leave(std::size_t before) {
    for (; replaced_.size() > before; replaced_.pop_back()) {
      const auto [id, outer] = replaced_.back();
      if (outer == kNoVariable) {
        values_.erase(id);
      } else {
        values_[id] = outer;
      }
    }
  }

  Result<void> operation(const Json& json, Block& block) {
    if (++operations_ > kMaxOperations) return unsupported(fmt::format("more than {} operators", kMaxOperations));
    JC_ASSIGN_OR_RETURN(const std::string_view type, json.string("#"));
    if (plain(type) == "p") return parameter(json);
    Operation op;
    // The lists of the base dialect: its "split" is not that of the operators.
    op.type = type.starts_with("0.") ? out_.keep(fmt::format("builtin.{}", plain(type))) : plain(type);
    JC_RETURN_IF_ERROR(inputs(json, op));
    JC_RETURN_IF_ERROR(attributes(json, op));
    if (const Json* regions = json.find("regions")) {
      for (const JsonMember& region : regions->members()) {
        JC_ASSIGN_OR_RETURN(const auto blocks, region.value.array("blocks"));
        for (const JsonMember& inner : blocks) {
          JC_ASSIGN_OR_RETURN(const std::uint32_t place, Reader::block(inner.value));
          op.blocks.push_back(place);
        }
      }
    }
    JC_RETURN_IF_ERROR(outputs(json, op));
    block.operations.push_back(std::move(op));
    return {};
  }

  // What is in the file beside: [distributed, parameter, clipped, name].
  Result<void> parameter(const Json& json) {
    JC_ASSIGN_OR_RETURN(const auto attributes, json.array("A"));
    JC_ASSIGN_OR_RETURN(const Json* output, json.at("O"));
    JC_ASSIGN_OR_RETURN(const std::int64_t id, output->integer("%"));
    const std::string_view name = attributes.empty() ? std::string_view{} : attributes.back().value.text();
    JC_ASSIGN_OR_RETURN(const VariableId variable, define(id, *output, name));
    out_.variables[variable].persistable = true;
    return {};
  }

  Result<void> inputs(const Json& json, Operation& op) {
    JC_ASSIGN_OR_RETURN(const auto list, json.array("I"));
    for (const JsonMember& input : list) {
      JC_RETURN_IF_ERROR(count());
      JC_ASSIGN_OR_RETURN(const std::int64_t id, input.value.integer("%"));
      VariableId variable = kNoVariable;
      if (id != 0) {  // 0: left out
        const auto found = values_.find(id);
        if (found == values_.end()) return invalid(fmt::format("value %{} is produced by no operator before", id));
        variable = found->second;
      }
      op.inputs.push_back({{}, {variable}});
    }
    return {};
  }

  Result<void> outputs(const Json& json, Operation& op) {
    JC_ASSIGN_OR_RETURN(const auto list, json.array("O"));
    for (const JsonMember& output : list) {
      JC_ASSIGN_OR_RETURN(const std::int64_t id, output.value.integer("%"));
      const std::string_view name = out_.keep(fmt::format("{}_{}", op.type, id));
      JC_ASSIGN_OR_RETURN(const VariableId variable, define(id, output.value, name));
      op.outputs.push_back({{}, {variable}});
    }
    return {};
  }

  Result<void> attributes(const Json& json, Operation& op) {
    const Json* list = json.find("A");
    if (list == nullptr) return {};
    for (const JsonMember& attribute : list->members()) {
      JC_RETURN_IF_ERROR(count());
      JC_ASSIGN_OR_RETURN(const std::string_view name, attribute.value.string("N"));
      JC_ASSIGN_OR_RETURN(const Json* value, attribute.value.at("AT"));
      if (name == "struct_name") op.place = value->find("D") == nullptr ? std::string_view{} : value->find("D")->text();
      op.attributes.push_back({name, attribute_value(*value)});
    }
    return {};
  }

  Result<VariableId> define(std::int64_t id, const Json& json, std::string_view name) {
    JC_RETURN_IF_ERROR(count());
    Variable variable;
    variable.name = name.empty() ? out_.keep(fmt::format("value_{}", id)) : name;
    JC_ASSIGN_OR_RETURN(const Json* type, json.at("TT"));
    variable.list = kind_of(*type) == "t_vec";
    if (variable.list) {
      for (const JsonMember& element : contents_of(*type)) {
        JC_RETURN_IF_ERROR(count());
        variable.types.push_back(tensor_type(element.value));
      }
    } else {
      variable.types.push_back(tensor_type(*type));
    }
    const auto made = static_cast<VariableId>(out_.variables.size());
    if (id == 0 || !values_.emplace(id, made).second) {
      return invalid(fmt::format("value %{} is produced twice", id));
    }
    replaced_.emplace_back(id, kNoVariable);
    out_.variables.push_back(std::move(variable));
    return made;
  }

  Result<void> count() {
    if (++entries_ > kMaxEntries) return unsupported("has more entries than any real model");
    return {};
  }

  Program out_;
  std::unordered_map<std::int64_t, VariableId> values_;
  std::vector<std::pair<std::int64_t, VariableId>> replaced_;  // what to put back where a block ends
  std::size_t operations_ = 0, entries_ = 0, depth_ = 0;
};

}  // namespace

// Keys are sorted: what wrote the file stands in front of the program.
bool is_pir(std::string_view bytes) {
  const std::string_view start = bytes.substr(0, 512);
  const std::size_t code = start.find("\"base_code\"");
  return start.starts_with('{') && code != start.npos && start.find("\"pir\"", code) != start.npos;
}

Result<JsonDocument> parse_pir(std::string_view bytes) {
  return parse_json(bytes, {"OA", "QA", "DA"});
}

Result<Program> read_pir(const JsonDocument& document) {
  return Reader().program(document.root());
}

}  // namespace joulecast::paddle
