// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "import/text.h"
#include "import/torchscript/importer.h"

namespace joulecast::torchscript {
namespace {

constexpr std::size_t kMaxSteps = 1'000'000;
constexpr std::size_t kMaxDepth = 100;
constexpr std::size_t kMaxNodes = 500'000;
constexpr std::size_t kMaxNameBytes = std::size_t{1} << 27U;
constexpr std::size_t kMaxItems = 4'000'000;

// Whether a block does nothing but end the program with an error.
bool raises(const Source& source, std::span<const Statement> block) {
  return std::any_of(block.begin(), block.end(), [&](const Statement& statement) {
    if (statement.kind != StatementKind::kExpression) return false;
    const Expr& call = source.expr(statement.value);
    return call.kind == ExprKind::kCall && source.expr(source.children_of(call)[0]).text == "RaiseException";
  });
}

}  // namespace

Result<void> Importer::count_step() {
  if (++steps_ > kMaxSteps) return unsupported(fmt::format("runs more than {} statements", kMaxSteps));
  if (builder_.graph.nodes.size() > kMaxNodes) return unsupported(fmt::format("more than {} operators", kMaxNodes));
  if (builder_.name_bytes() > kMaxNameBytes) return unsupported("names are longer than in any real model");
  if (lists_.size() + cells_.size() > kMaxItems) return unsupported("makes more values than any real model");
  return {};
}

Result<Item> Importer::call_function(const FunctionRef& ref, Arguments arguments, std::string_view path) {
  const Function& function = *ref.function;
  if (depth_ >= kMaxDepth) return unsupported(fmt::format("calls nested more than {} deep", kMaxDepth));
  Frame frame(*ref.source, function, path);
  const auto parameters = frame.source.parameters_of(function);
  if (arguments.items.size() > parameters.size()) {
    return invalid(fmt::format("'{}' is given {} arguments of {}", printable(function.name), arguments.items.size(),
                               parameters.size()));
  }
  for (const auto& [name, item] : arguments.named) frame.variables.insert_or_assign(name, item);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (i < arguments.items.size()) {
      frame.variables.insert_or_assign(parameter.name, arguments.items[i]);
    } else if (!frame.variables.contains(parameter.name)) {
      if (parameter.absent == kNoExpr) {
        return invalid(fmt::format("'{}' is called without '{}'", printable(function.name), printable(parameter.name)));
      }
      JC_ASSIGN_OR_RETURN(Item absent, evaluate(parameter.absent, frame));
      frame.variables.insert_or_assign(parameter.name, absent);
    }
  }
  const std::string_view outer = std::exchange(path_, path);
  ++depth_;
  auto result = run_block(frame.source.block(function.body), frame);
  --depth_;
  path_ = outer;
  if (!result) return tl::unexpected(std::move(result).error());
  return result->value_or(Item{});
}

Result<std::optional<Item>> Importer::run_block(std::span<const Statement> block, Frame& frame) {
  const Nested nested(nesting_);
  if (nested.too_deep()) return unsupported("blocks nested too deep");
  for (const Statement& statement : block) {
    auto done = run_statement(statement, frame);
    if (!done) {
      if (std::exchange(error_placed_, true)) return done;
      return tl::unexpected(
          std::move(done).error().in(fmt::format("{}:{}", printable(frame.source.path), statement.line)));
    }
    if (*done) return done;
  }
  return std::optional<Item>{};
}

Result<std::optional<Item>> Importer::run_statement(const Statement& statement, Frame& frame) {
  JC_RETURN_IF_ERROR(count_step());
  switch (statement.kind) {
    case StatementKind::kAssign:
      JC_RETURN_IF_ERROR(assign(statement, frame));
      return std::optional<Item>{};
    case StatementKind::kExpression: {
      JC_RETURN_IF_ERROR(evaluate(statement.value, frame));
      return std::optional<Item>{};
    }
    case StatementKind::kReturn: {
      if (statement.value == kNoExpr) return std::optional<Item>(Item{});
      JC_ASSIGN_OR_RETURN(Item item, evaluate(statement.value, frame));
      return std::optional<Item>(item);
    }
    case StatementKind::kIf:
      return run_if(statement, frame);
    case StatementKind::kWhile:
      return run_while(statement, frame);
    case StatementKind::kFor:
      return run_for(statement, frame);
    case StatementKind::kPass:
      return std::optional<Item>{};
  }
  return std::optional<Item>{};
}

// What ends in an error is not what a network does; else the sizes that the network has in the first sample decide.
Result<std::optional<Item>> Importer::run_if(const Statement& statement, Frame& frame) {
  JC_ASSIGN_OR_RETURN(const Item condition, evaluate(statement.value, frame));
  const bool sure = held<Unknown>(condition) == nullptr;
  std::optional<bool> taken = sure ? truth(condition) : std::nullopt;
  if (!taken && raises(frame.source, frame.source.block(statement.body))) taken = false;
  if (!taken && raises(frame.source, frame.source.block(statement.otherwise))) taken = true;
  if (!taken) taken = truth(condition);
  if (!taken) {
    const auto numbers = sampled(condition);
    if (!numbers) return unsupported("a condition depends on data");
    taken = (*numbers)[0] != 0.0;
    note(fmt::format("the condition in {}, line {}, depends on sizes: taken as {}", printable(frame.source.path),
                     statement.line, *taken));
  }
  return run_block(frame.source.block(*taken ? statement.body : statement.otherwise), frame);
}

Result<std::optional<Item>> Importer::run_while(const Statement& statement, Frame& frame) {
  while (true) {
    JC_RETURN_IF_ERROR(count_step());
    JC_ASSIGN_OR_RETURN(const Item condition, evaluate(statement.value, frame));
    const std::optional<bool> taken = truth(condition);
    if (!taken) return unsupported("how often a loop runs depends on sizes or data");
    if (!*taken) return std::optional<Item>{};
    JC_ASSIGN_OR_RETURN(std::optional<Item> result, run_block(frame.source.block(statement.body), frame));
    if (result) return result;
  }
}

// for i in range(n), or over a list.
Result<std::optional<Item>> Importer::run_for(const Statement& statement, Frame& frame) {
  JC_ASSIGN_OR_RETURN(const Item over, evaluate(statement.value, frame));
  const List* list = list_of(over);
  if (list == nullptr) return unsupported("how often a loop runs depends on sizes or data");
  const std::vector<Item> items = list->items;
  for (const Item& item : items) {
    JC_RETURN_IF_ERROR(count_step());
    JC_RETURN_IF_ERROR(assign_to(frame.source.targets_of(statement)[0], item, frame));
    JC_ASSIGN_OR_RETURN(std::optional<Item> result, run_block(frame.source.block(statement.body), frame));
    if (result) return result;
  }
  return std::optional<Item>{};
}

Result<void> Importer::assign(const Statement& statement, Frame& frame) {
  const Expr& value = frame.source.expr(statement.value);
  const auto targets = frame.source.targets_of(statement);
  // How many outputs an operator has, and which of them are read, is told by what they are assigned to.
  const bool call = value.kind == ExprKind::kCall;
  JC_ASSIGN_OR_RETURN(Item item, call ? evaluate_call(value, frame, targets) : evaluate(statement.value, frame));
  if (!statement.unpacks) return assign_to(targets[0], item, frame);
  JC_ASSIGN_OR_RETURN(const std::vector<Item> items, unpacked(item, targets.size()));
  for (std::size_t i = 0; i < items.size(); ++i) JC_RETURN_IF_ERROR(assign_to(targets[i], items[i], frame));
  return {};
}

Result<void> Importer::assign_to(ExprId target, Item item, Frame& frame) {
  const Expr& expr = frame.source.expr(target);
  if (expr.kind == ExprKind::kName) {
    frame.variables.insert_or_assign(expr.text, item);
    return {};
  }
  JC_ASSIGN_OR_RETURN(const Item owner, evaluate(frame.source.children_of(expr)[0], frame));
  const auto* object = held<ObjectRef>(owner);
  if (expr.kind != ExprKind::kAttribute || object == nullptr) return unsupported("gives a value to a part of a value");
  instances_[object->instance].attributes.insert_or_assign(expr.text, item);
  return {};
}

Result<std::vector<Item>> Importer::unpacked(const Item& item, std::size_t count) {
  if (const auto* pending = held<PendingRef>(item)) {
    JC_ASSIGN_OR_RETURN(const Item made, materialize(*pending, count));
    return unpacked(made, count);
  }
  const List* list = list_of(item);
  if (list == nullptr) return unsupported("unpacks what is no list");
  if (list->items.size() != count) {
    return invalid(fmt::format("unpacks {} values into {}", list->items.size(), count));
  }
  return list->items;
}

}  // namespace joulecast::torchscript
