// SPDX-License-Identifier: Apache-2.0
// TorchScript as its serializer prints it: a small part of Python, taken apart.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace joulecast::torchscript {

using ExprId = std::uint32_t;
inline constexpr ExprId kNoExpr = 0xFFFFFFFFU;

enum class ExprKind : std::uint8_t {
  kName,
  kInteger,
  kReal,
  kText,
  kList,
  kTuple,
  kDict,       // children: key, value, ...
  kAttribute,  // children: of what
  kCall,       // children: callee, arguments; keywords: one an argument, empty where positional
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
  std::vector<ExprId> children{};
  std::vector<std::string_view> keywords{};
};

enum class StatementKind : std::uint8_t { kAssign, kExpression, kReturn, kIf, kWhile, kFor, kPass };

struct Statement {
  StatementKind kind = StatementKind::kPass;
  bool unpacks = false;  // a, b, = value
  std::uint32_t line = 0;
  ExprId value = kNoExpr;  // also conditions, and what a loop goes over
  std::vector<ExprId> targets;
  std::vector<Statement> body, otherwise;
};

struct Parameter {
  std::string_view name;
  ExprId type = kNoExpr, absent = kNoExpr;
};

struct Function {
  std::string_view name;
  std::uint32_t line = 0;
  std::vector<Parameter> parameters;
  std::vector<Statement> body;
  std::unordered_set<std::string_view> read;  // names that are read somewhere
};

struct Class {
  std::map<std::string_view, Function> methods;
  std::map<std::string_view, ExprId> constants;  // name : Final[int] = 3
  std::vector<std::string_view> fields;          // name : int
};

// One member of the archive. Its views are into the member's text.
struct Source {
  std::string path;
  std::vector<Expr> exprs;
  std::map<std::string_view, Class> classes;
  std::map<std::string_view, Function> functions;

  [[nodiscard]] const Expr& expr(ExprId id) const { return exprs[id]; }
};

}  // namespace joulecast::torchscript
