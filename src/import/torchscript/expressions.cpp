// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "graph/guessed.h"
#include "import/text.h"
#include "import/torchscript/builtins.h"
#include "import/torchscript/importer.h"

namespace joulecast::torchscript {
namespace {

// Calls whose first argument is a type: annotate(List[int], []), unchecked_cast(Tensor, x).
bool starts_with_type(std::string_view callee) {
  return callee == "annotate" || callee == "unchecked_cast" || callee == "uninitialized";
}

// The name of a type, without what it is of: "list", List[int]; None of several.
Item type_named(const Source& source, const Expr& expr) {
  if (expr.kind == ExprKind::kName) return Item(expr.text);
  if (expr.kind == ExprKind::kSubscript) return type_named(source, source.expr(source.children_of(expr)[0]));
  return Item{};
}

// "a.b.c" of namespaces that hold functions, and no variables.
bool is_namespace(std::string_view name) {
  return name == "torch" || name == "ops" || name == "__torch__" || name == "CONSTANTS";
}

}  // namespace

Result<Item> Importer::evaluate(ExprId id, Frame& frame) {
  const Nested nested(nesting_);
  if (nested.too_deep()) return unsupported("expressions nested too deep");
  const Expr& expr = frame.source.expr(id);
  switch (expr.kind) {
    case ExprKind::kName:
      return named(expr, frame);
    case ExprKind::kInteger:
      return Item(expr.whole);
    case ExprKind::kReal:
      return Item(expr.real);
    case ExprKind::kText:
      return Item(expr.text);
    case ExprKind::kList:
    case ExprKind::kTuple:
    case ExprKind::kDict:
      return evaluate_list(expr, frame);
    case ExprKind::kAttribute:
      return evaluate_attribute(expr, frame);
    case ExprKind::kCall:
      return evaluate_call(expr, frame, {});
    case ExprKind::kKeyword:
      break;  // no value of its own: its call reads it
    case ExprKind::kSubscript:
      return evaluate_subscript(expr, frame);
    case ExprKind::kUnary:
    case ExprKind::kBinary:
      return evaluate_operator(expr, frame);
    case ExprKind::kChoice: {
      JC_ASSIGN_OR_RETURN(const Item condition, evaluate(frame.source.children_of(expr)[0], frame));
      const auto taken = truth(condition);
      if (!taken) return unsupported("a condition depends on sizes or data");
      return evaluate(frame.source.children_of(expr)[*taken ? 1 : 2], frame);
    }
  }
  return Item{};
}

Result<Item> Importer::named(const Expr& expr, const Frame& frame) {
  if (const auto found = frame.variables.find(expr.text); found != frame.variables.end()) return found->second;
  constexpr double kLargest = 1.7e308;
  if (expr.text == "None") return Item{};
  if (expr.text == "True") return Item(true);
  if (expr.text == "False") return Item(false);
  if (expr.text == "inf") return Item(kLargest);
  if (expr.text == "nan") return Item(0.0);
  return invalid(fmt::format("'{}' has no value", printable(expr.text)));
}

Result<Item> Importer::evaluate_list(const Expr& expr, Frame& frame) {
  const auto children = frame.source.children_of(expr);
  std::vector<Item> items;
  items.reserve(children.size());
  for (const ExprId child : children) {
    JC_ASSIGN_OR_RETURN(Item item, evaluate(child, frame));
    items.push_back(item);
  }
  const ListKind kind = expr.kind == ExprKind::kTuple  ? ListKind::kTuple
                        : expr.kind == ExprKind::kDict ? ListKind::kDict
                                                       : ListKind::kList;
  return new_list(kind, std::move(items));
}

std::optional<std::string> Importer::dotted_name(const Expr& expr, const Frame& frame) const {
  const auto owner = [&](const Expr* of) { return &frame.source.expr(frame.source.children_of(*of)[0]); };
  const Expr* root = &expr;
  while (root->kind == ExprKind::kAttribute) root = owner(root);
  if (root->kind != ExprKind::kName || frame.variables.contains(root->text)) return std::nullopt;
  if (root != &expr && !is_namespace(root->text)) return std::nullopt;
  std::vector<std::string_view> parts;
  for (const Expr* at = &expr; at != root; at = owner(at)) parts.push_back(at->text);
  std::string out(root->text);
  for (std::size_t i = parts.size(); i-- > 0;) out.append(1, '.').append(parts[i]);
  return out;
}

// __torch__.a.b.name: a function or class, or what a class that is an enumeration calls so.
Result<Item> Importer::archived(const std::string& name) {
  const auto found = archive_.find_function(name);
  if (found && found->function != nullptr) return Item(FunctionRef{found->source, found->function});
  if (found) {
    JC_ASSIGN_OR_RETURN(const ClassRef type, class_named(name));
    if (type.type == nullptr) return invalid(fmt::format("the archive has no '{}'", printable(name)));
    return Item(type);
  }
  const std::size_t dot = name.rfind('.');
  if (const auto owner = class_named(std::string_view(name).substr(0, dot))) {
    JC_ASSIGN_OR_RETURN(const auto member, class_constant(*owner, std::string_view(name).substr(dot + 1)));
    if (member) return *member;
  }
  return tl::unexpected(found.error());
}

Result<Item> Importer::evaluate_attribute(const Expr& expr, Frame& frame) {
  if (const auto name = dotted_name(expr, frame)) {
    if (name->starts_with("CONSTANTS.")) return constant(expr.text);
    if (!name->starts_with("__torch__.")) return unsupported(fmt::format("the value '{}'", printable(*name)));
    return archived(*name);
  }
  JC_ASSIGN_OR_RETURN(const Item owner, evaluate(frame.source.children_of(expr)[0], frame));
  if (const auto* object = held<ObjectRef>(owner)) return attribute(*object, expr.text);
  if (const List* list = list_of(owner)) {
    const auto field = std::find(list->names.begin(), list->names.end(), expr.text);
    const auto place = static_cast<std::size_t>(field - list->names.begin());
    if (place < list->items.size() && field != list->names.end()) return list->items[place];
  }
  return unsupported(fmt::format("the attribute '{}' of what is no object", printable(expr.text)));
}

Result<Item> Importer::evaluate_subscript(const Expr& expr, Frame& frame) {
  JC_ASSIGN_OR_RETURN(const Item list, evaluate(frame.source.children_of(expr)[0], frame));
  JC_ASSIGN_OR_RETURN(const Item index, evaluate(frame.source.children_of(expr)[1], frame));
  return item_at(list, index);
}

Result<Item> Importer::item_at(const Item& list, const Item& index) {
  if (const auto* pending = held<PendingRef>(list)) {
    const auto count = count_of(pendings_[pending->pending]);
    if (!count) return unsupported("how many tensors a list has depends on sizes");
    JC_ASSIGN_OR_RETURN(const Item made, materialize(*pending, *count));
    return item_at(made, index);
  }
  const List* found = list_of(list);
  if (found == nullptr) return unsupported("an element of what is no list");
  if (found->kind == ListKind::kDict) {
    for (std::size_t i = 0; i + 1 < found->items.size(); i += 2) {
      if (truth(compared("eq", found->items[i], index)).value_or(false)) return found->items[i + 1];
    }
    return invalid("a dict does not have the key that is asked for");
  }
  const auto* place = held<std::int64_t>(index);
  if (place == nullptr) return unsupported("which element of a list is read depends on sizes or data");
  const auto size = static_cast<std::int64_t>(found->items.size());
  if (*place < -size || *place >= size) return invalid(fmt::format("element {} of a list of {}", *place, size));
  return found->items[static_cast<std::size_t>(*place < 0 ? *place + size : *place)];
}

Result<Item> Importer::evaluate_operator(const Expr& expr, Frame& frame) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kNames{{{"+", "add"},
                                                                                  {"-", "sub"},
                                                                                  {"*", "mul"},
                                                                                  {"/", "div"},
                                                                                  {"//", "floordiv"},
                                                                                  {"%", "remainder"},
                                                                                  {"**", "pow"},
                                                                                  {"@", "matmul"},
                                                                                  {"==", "eq"},
                                                                                  {"!=", "ne"},
                                                                                  {"<", "lt"},
                                                                                  {">", "gt"},
                                                                                  {"<=", "le"},
                                                                                  {">=", "ge"},
                                                                                  {"&", "__and__"},
                                                                                  {"|", "__or__"},
                                                                                  {"^", "__xor__"},
                                                                                  {"is", "__is__"},
                                                                                  {"is not", "__isnot__"},
                                                                                  {"and", "__and__"},
                                                                                  {"or", "__or__"}}};
  Arguments arguments;
  for (const ExprId child : frame.source.children_of(expr)) {
    JC_ASSIGN_OR_RETURN(Item item, evaluate(child, frame));
    arguments.items.push_back(item);
  }
  std::string_view name;
  if (expr.kind == ExprKind::kUnary) {
    name = expr.text == "not" ? "__not__" : expr.text == "~" ? "bitwise_not" : expr.text == "-" ? "neg" : "positive";
  } else {
    const auto* const found =
        std::find_if(kNames.begin(), kNames.end(), [&](const auto& entry) { return entry.first == expr.text; });
    if (found == kNames.end()) return unsupported(fmt::format("the operator '{}'", printable(expr.text)));
    name = found->second;
  }
  return call_named(fmt::format("torch.{}", name), arguments, frame, {});
}

Result<Arguments> Importer::arguments_of(const Expr& call, Frame& frame) {
  Arguments out;
  const auto children = frame.source.children_of(call);
  const std::string_view callee = frame.source.expr(children[0]).text;
  out.items.reserve(children.size());  // and the object that a method is of
  for (std::size_t i = 1; i < children.size(); ++i) {
    const Expr& given = frame.source.expr(children[i]);
    const bool named = given.kind == ExprKind::kKeyword;
    // Types are no values.
    const bool type = (i == 1 && starts_with_type(callee)) || (i == 2 && callee == "isinstance");
    JC_ASSIGN_OR_RETURN(Item item, type ? Result<Item>(type_named(frame.source, given))
                                        : evaluate(named ? frame.source.children_of(given)[0] : children[i], frame));
    if (named) {
      out.named.emplace_back(given.text, item);
    } else {
      out.items.push_back(item);
    }
  }
  return out;
}

Result<Item> Importer::evaluate_call(const Expr& expr, Frame& frame, std::span<const ExprId> targets) {
  const Expr& callee = frame.source.expr(frame.source.children_of(expr)[0]);
  const auto name = dotted_name(callee, frame);
  if (name && !name->starts_with("__torch__.")) {
    JC_ASSIGN_OR_RETURN(const Arguments arguments, arguments_of(expr, frame));
    return call_named(*name, arguments, frame, targets);
  }
  // A method, where the callee is an attribute of an object.
  if (callee.kind == ExprKind::kAttribute && !name) {
    JC_ASSIGN_OR_RETURN(const Item owner, evaluate(frame.source.children_of(callee)[0], frame));
    const auto* object = held<ObjectRef>(owner);
    if (object != nullptr) {
      JC_ASSIGN_OR_RETURN(Arguments arguments, arguments_of(expr, frame));
      return call_method(*object, callee.text, std::move(arguments));
    }
  }
  JC_ASSIGN_OR_RETURN(const Item function, evaluate(frame.source.children_of(expr)[0], frame));
  JC_ASSIGN_OR_RETURN(Arguments arguments, arguments_of(expr, frame));
  if (const auto* ref = held<FunctionRef>(function)) return call_function(*ref, std::move(arguments), path_);
  if (const auto* type = held<ClassRef>(function)) return construct(*type, std::move(arguments));
  return unsupported("calls what is no function of the file");
}

// torch.relu, ops.prim.NumToTensor, ops.torchvision.nms, annotate: one of the language's, else an operator.
Result<Item> Importer::call_builtin(std::string_view name, const Arguments& arguments, Frame& frame,
                                    std::span<const ExprId> targets) {
  for (const std::string_view prefix : {"ops.aten.", "ops.prim.", "ops.", "torch."}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    break;
  }
  if (const auto* tensor = arguments.items.empty() ? nullptr : held<TensorRef>(arguments.items[0]);
      tensor != nullptr && name == "size" && targets.size() > 1 && value_of(*tensor) == kNoValue) {
    InputHint hint;
    hint.extents.resize(targets.size());
    add_hint(cells_[tensor->cell].input, std::move(hint));
    return unsupported("the shape of an input is not known");
  }
  if (const Builtin builtin = find_builtin(name)) {
    JC_ASSIGN_OR_RETURN(std::optional<Item> result, builtin(*this, arguments));
    if (result) return *result;
  }
  JC_ASSIGN_OR_RETURN(std::optional<Item> scalar, scalar_operation(name, arguments));
  if (scalar) return *scalar;
  return call_operator(name, arguments, std::max<std::size_t>(1, targets.size()), targets, &frame);
}

// The tensors of an argument, those of a list too.
void Importer::add_values(const Item& item, std::vector<ValueId>& out) const {
  if (const auto* tensor = held<TensorRef>(item)) out.push_back(value_of(*tensor));
  if (const auto* symbol = held<Symbol>(item)) out.push_back(symbol->id);
  const List* list = list_of(item);
  if (list == nullptr) return;
  for (const Item& part : list->items) {
    if (const auto* tensor = held<TensorRef>(part)) out.push_back(value_of(*tensor));
  }
}

Result<Item> Importer::call_named(std::string_view name, const Arguments& arguments, Frame& frame,
                                  std::span<const ExprId> targets) {
  auto result = call_builtin(name, arguments, frame, targets);
  if (result) return result;
  std::vector<ValueId> values;
  for (const Item& item : arguments.items) add_values(item, values);
  return tl::unexpected(blamed_on_unknown(std::move(result).error(), builder_.graph, values));
}

}  // namespace joulecast::torchscript
