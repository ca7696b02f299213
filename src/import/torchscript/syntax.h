// SPDX-License-Identifier: Apache-2.0
// TorchScript as its serializer prints it: a small part of Python, taken apart.
#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace joulecast::torchscript {

using ExprId = std::uint32_t;
inline constexpr ExprId kNoExpr = 0xFFFFFFFFU;

// Neighbours in one of a Syntax's vectors.
struct Range {
  std::uint32_t first = 0, count = 0;
};

enum class ExprKind : std::uint8_t {
  kName,
  kInteger,
  kReal,
  kText,
  kList,
  kTuple,
  kDict,       // children: key, value, ...
  kAttribute,  // children: of what
  kCall,       // children: callee, arguments
  kKeyword,    // an argument that is named: text; children: its value
  kSubscript,  // children: of what, index
  kUnary,      // text: the operator
  kBinary,
  kChoice,  // a if b else c: condition, a, c
};

struct Expr {
  ExprKind kind = ExprKind::kName;
  std::uint32_t line = 0;
  std::string_view text{};  // names, operators, what stands between the quotes
  std::int64_t whole = 0;
  double real = 0.0;
  Range children{};
};

enum class StatementKind : std::uint8_t { kAssign, kExpression, kReturn, kIf, kWhile, kFor, kPass };

struct Statement {
  StatementKind kind = StatementKind::kPass;
  bool unpacks = false;  // a, b, = value
  std::uint32_t line = 0;
  ExprId value = kNoExpr;  // also conditions, and what a loop goes over
  Range targets;
  Range body, otherwise;
};

struct Parameter {
  std::string_view name;
  ExprId type = kNoExpr, absent = kNoExpr;
};

struct Function {
  std::string_view name;
  std::uint32_t line = 0;
  Range parameters;
  Range body;
  // Names that are read somewhere; kept where a statement has several targets, which is where that is asked.
  std::unordered_set<std::string_view> read;
};

// Texts are many, of a few small parts each, and go together: their memory is taken from what all of them share.
using SourceMemory = std::pmr::monotonic_buffer_resource;

struct Class {
  using allocator_type = std::pmr::polymorphic_allocator<>;
  explicit Class(const allocator_type& memory) : methods(memory), constants(memory), fields(memory) {}

  std::pmr::map<std::string_view, Function> methods;
  std::pmr::map<std::string_view, ExprId> constants;  // name : Final[int] = 3
  std::pmr::vector<std::string_view> fields;          // name : int
};

// What a text says. Borrows the text and the memory.
struct Syntax {
  explicit Syntax(SourceMemory& memory)
      : classes(&memory), functions(&memory), exprs(&memory), ids(&memory), statements(&memory), parameters(&memory) {}

  std::pmr::map<std::string_view, Class> classes;
  std::pmr::map<std::string_view, Function> functions;

  // What the ids and ranges above are of.
  std::pmr::vector<Expr> exprs;
  std::pmr::vector<ExprId> ids;
  std::pmr::vector<Statement> statements;
  std::pmr::vector<Parameter> parameters;
};

// One member of the archive. Members may share a syntax (syntaxes.h).
struct Source {
  std::string path;
  const Syntax* syntax = nullptr;

  [[nodiscard]] const Expr& expr(ExprId id) const { return syntax->exprs[id]; }
  [[nodiscard]] std::span<const ExprId> children_of(const Expr& expr) const { return part(syntax->ids, expr.children); }
  [[nodiscard]] std::span<const ExprId> targets_of(const Statement& statement) const {
    return part(syntax->ids, statement.targets);
  }
  [[nodiscard]] std::span<const Statement> block(Range range) const { return part(syntax->statements, range); }
  [[nodiscard]] std::span<const Parameter> parameters_of(const Function& function) const {
    return part(syntax->parameters, function.parameters);
  }

 private:
  template <typename T>
  static std::span<const T> part(const std::pmr::vector<T>& all, Range range) {
    return std::span<const T>(all).subspan(range.first, range.count);
  }
};

}  // namespace joulecast::torchscript
