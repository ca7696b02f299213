// SPDX-License-Identifier: Apache-2.0
// The attributes of a NodeContext: found through function calls, and of the type they must have.
#include <fmt/format.h>

#include <array>

#include "import/onnx/importer.h"
#include "import/onnx/node_context.h"
#include "import/text.h"

namespace joulecast::onnx {
namespace {

// As onnx.proto writes them.
constexpr std::array<std::string_view, 15> kTypeNames{
    "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
    "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};

std::string_view type_name(AttributeType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

// Any real window, stride or padding is far below, and sums and products of a few of these cannot overflow.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 24;

}  // namespace

const AttributeView* NodeContext::find(std::string_view name) const {
  for (const AttributeView& attribute : node_.attributes) {
    if (attribute.name != name) continue;
    if (attribute.reference.empty()) return &attribute;
    if (scope_.attributes == nullptr) return nullptr;
    const auto bound = scope_.attributes->find(attribute.reference);
    return bound == scope_.attributes->end() ? nullptr : bound->second;
  }
  return nullptr;
}

Result<const AttributeView*> NodeContext::typed(std::string_view name, AttributeType type) const {
  const AttributeView* attribute = find(name);
  if (attribute == nullptr || attribute->type == type) return attribute;
  return wrong_attribute(name, fmt::format("is {}, expected {}", type_name(attribute->type), type_name(type)));
}

tl::unexpected<Error> NodeContext::wrong_attribute(std::string_view name, std::string_view what) const {
  return invalid(fmt::format("attribute '{}': {}", name, what));
}

tl::unexpected<Error> NodeContext::missing(std::string_view name) const {
  return wrong_attribute(name, "is missing");
}

Result<std::int64_t> NodeContext::integer(std::string_view name) const {
  if (find(name) == nullptr) return missing(name);
  return integer(name, 0);
}

Result<std::int64_t> NodeContext::integer(std::string_view name, std::int64_t absent) const {
  JC_ASSIGN_OR_RETURN(const AttributeView* attribute, typed(name, AttributeType::kInt));
  return attribute == nullptr ? absent : attribute->integer;
}

Result<bool> NodeContext::flag(std::string_view name, bool absent) const {
  JC_ASSIGN_OR_RETURN(const std::int64_t value, integer(name, absent ? 1 : 0));
  return value != 0;
}

Result<double> NodeContext::number(std::string_view name, double absent) const {
  JC_ASSIGN_OR_RETURN(const AttributeView* attribute, typed(name, AttributeType::kFloat));
  return attribute == nullptr ? absent : static_cast<double>(attribute->number);
}

Result<std::string_view> NodeContext::string(std::string_view name) const {
  if (find(name) == nullptr) return missing(name);
  return string(name, "");
}

Result<std::string_view> NodeContext::string(std::string_view name, std::string_view absent) const {
  JC_ASSIGN_OR_RETURN(const AttributeView* attribute, typed(name, AttributeType::kString));
  return attribute == nullptr ? absent : attribute->string;
}

Result<std::optional<IntList>> NodeContext::integers(std::string_view name) const {
  JC_ASSIGN_OR_RETURN(const AttributeView* attribute, typed(name, AttributeType::kInts));
  return attribute == nullptr ? std::nullopt : std::optional(attribute->integers);
}

Result<std::optional<std::vector<double>>> NodeContext::numbers(std::string_view name) const {
  JC_ASSIGN_OR_RETURN(const AttributeView* attribute, typed(name, AttributeType::kFloats));
  if (attribute == nullptr) return std::optional<std::vector<double>>();
  return std::optional(std::vector<double>(attribute->numbers.begin(), attribute->numbers.end()));
}

Result<const TensorView*> NodeContext::tensor(std::string_view name) const {
  JC_ASSIGN_OR_RETURN(const AttributeView* attribute, typed(name, AttributeType::kTensor));
  if (attribute == nullptr) return nullptr;
  if (attribute->tensors.empty()) return wrong_attribute(name, "has no tensor");
  return &attribute->tensors.back();
}

Result<const GraphView*> NodeContext::graph(std::string_view name) const {
  JC_ASSIGN_OR_RETURN(const AttributeView* attribute, typed(name, AttributeType::kGraph));
  if (attribute == nullptr) return missing(name);
  if (attribute->graphs.empty()) return wrong_attribute(name, "has no graph");
  return &attribute->graphs.back();
}

Result<ElementType> NodeContext::element(std::string_view name, ElementType absent) const {
  if (find(name) == nullptr) return absent;
  JC_ASSIGN_OR_RETURN(const std::int64_t value, integer(name));
  const ElementType type = element_type(value);
  if (type == ElementType::kUnknown) return wrong_attribute(name, fmt::format("{} is no element type we have", value));
  return type;
}

Result<Extents> NodeContext::extents(std::string_view name) const {
  JC_ASSIGN_OR_RETURN(const auto list, integers(name));
  Extents out;
  if (!list) return out;
  if (list->size() > Extents::capacity()) {
    return unsupported(fmt::format("attribute '{}': has {} entries, more than {} spatial axes", name, list->size(),
                                   Extents::capacity()));
  }
  for (const std::int64_t value : *list) {
    if (value < -kMaxExtent || value > kMaxExtent) return wrong_attribute(name, fmt::format("{} is absurd", value));
    out.push_back(value);
  }
  return out;
}

}  // namespace joulecast::onnx
