// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "import/text.h"
#include "import/torchscript/lexer.h"

namespace joulecast::torchscript {
namespace {

constexpr std::size_t kMaxParts = 2'000'000;
constexpr std::size_t kMaxDepth = 200;

int precedence(std::string_view op) {
  constexpr std::array<std::pair<std::string_view, int>, 24> kLevels{
      {{"or", 1}, {"and", 2}, {"is", 4}, {"in", 4},  {"==", 4}, {"!=", 4}, {"<", 4},   {">", 4},
       {"<=", 4}, {">=", 4},  {"|", 5},  {"^", 6},   {"&", 7},  {"<<", 8}, {">>", 8},  {"+", 9},
       {"-", 9},  {"*", 10},  {"/", 10}, {"//", 10}, {"%", 10}, {"@", 10}, {"**", 12}, {"not", 4}}};
  const auto* const it =
      std::find_if(kLevels.begin(), kLevels.end(), [&](const auto& level) { return level.first == op; });
  return it == kLevels.end() ? 0 : it->second;
}
constexpr int kNotLevel = 3;
constexpr int kMinusLevel = 11;

class Parser {
 public:
  Parser(std::string_view text, Source& out) : lexer_(text), out_(out) {}

  Result<void> run() {
    JC_RETURN_IF_ERROR(advance());
    while (token_.kind != TokenKind::kEnd) {
      if (token_.kind == TokenKind::kNewline) {
        JC_RETURN_IF_ERROR(advance());
      } else if (is("class")) {
        JC_RETURN_IF_ERROR(read_class());
      } else if (is("def")) {
        JC_ASSIGN_OR_RETURN(Function function, read_function());
        const std::string_view name = function.name;
        out_.functions.insert_or_assign(name, std::move(function));
      } else {
        JC_ASSIGN_OR_RETURN(const Statement ignored, statement(0));
      }
    }
    return {};
  }

 private:
  // Tokens.
  Result<void> advance() {
    JC_ASSIGN_OR_RETURN(token_, lexer_.next());
    return {};
  }
  [[nodiscard]] bool is(std::string_view text) const {
    return (token_.kind == TokenKind::kName || token_.kind == TokenKind::kSymbol) && token_.text == text;
  }
  Result<bool> accept(std::string_view text) {
    if (!is(text)) return false;
    JC_RETURN_IF_ERROR(advance());
    return true;
  }
  [[nodiscard]] std::string shown() const {
    switch (token_.kind) {
      case TokenKind::kNewline:
        return "the end of the line";
      case TokenKind::kIndent:
      case TokenKind::kDedent:
        return "another indentation";
      case TokenKind::kEnd:
        return "the end of the file";
      default:
        return fmt::format("'{}'", printable(token_.text, 40));
    }
  }
  [[nodiscard]] tl::unexpected<Error> unexpected(std::string_view wanted) const {
    return invalid(fmt::format("line {}: {} stands where {} should", token_.line, shown(), wanted));
  }
  Result<void> expect(std::string_view text) {
    if (!is(text)) return unexpected(fmt::format("'{}'", text));
    return advance();
  }
  Result<std::string_view> name() {
    if (token_.kind != TokenKind::kName) return unexpected("a name");
    const std::string_view out = token_.text;
    JC_RETURN_IF_ERROR(advance());
    return out;
  }
  Result<void> end_of_line() {
    if (token_.kind == TokenKind::kEnd) return {};
    if (token_.kind != TokenKind::kNewline) return unexpected("the end of the line");
    return advance();
  }

  // Expressions.
  Result<ExprId> add(Expr expr) {
    if (out_.exprs.size() >= kMaxParts) return unsupported(fmt::format("more than {} parts", kMaxParts));
    out_.exprs.push_back(std::move(expr));
    return static_cast<ExprId>(out_.exprs.size() - 1);
  }
  Result<ExprId> add(ExprKind kind, std::uint32_t line, std::string_view text, std::vector<ExprId> children) {
    return add({.kind = kind, .line = line, .text = text, .children = std::move(children)});
  }

  struct Depth {
    explicit Depth(std::size_t& count) : count_(count) { ++count_; }
    ~Depth() { --count_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    std::size_t& count_;
  };

  Result<ExprId> expression() {
    const Depth depth(depth_);
    if (depth_ > kMaxDepth)
      return unsupported(fmt::format("line {}: nested more than {} deep", token_.line, kMaxDepth));
    JC_ASSIGN_OR_RETURN(const ExprId value, operation(1));
    if (!is("if")) return value;
    const std::uint32_t line = token_.line;
    JC_RETURN_IF_ERROR(advance());
    JC_ASSIGN_OR_RETURN(const ExprId condition, operation(1));
    JC_RETURN_IF_ERROR(expect("else"));
    JC_ASSIGN_OR_RETURN(const ExprId otherwise, expression());
    return add(ExprKind::kChoice, line, {}, {condition, value, otherwise});
  }

  // Operators of at least this level.
  Result<ExprId> operation(int level) {
    const Depth depth(depth_);
    if (depth_ > kMaxDepth)
      return unsupported(fmt::format("line {}: nested more than {} deep", token_.line, kMaxDepth));
    JC_ASSIGN_OR_RETURN(ExprId left, prefixed());
    while (token_.kind == TokenKind::kName || token_.kind == TokenKind::kSymbol) {
      const int found = precedence(token_.text);
      if (found == 0 || found < level) break;
      const std::uint32_t line = token_.line;
      JC_ASSIGN_OR_RETURN(const std::string_view op, binary_operator());
      // Powers bind to the right.
      JC_ASSIGN_OR_RETURN(const ExprId right, operation(op == "**" ? found : found + 1));
      JC_ASSIGN_OR_RETURN(left, add(ExprKind::kBinary, line, op, {left, right}));
    }
    return left;
  }
  Result<std::string_view> binary_operator() {
    const std::string_view first = token_.text;
    JC_RETURN_IF_ERROR(advance());
    if (first == "is") {
      JC_ASSIGN_OR_RETURN(const bool negated, accept("not"));
      return negated ? std::string_view("is not") : first;
    }
    if (first != "not") return first;
    JC_RETURN_IF_ERROR(expect("in"));
    return std::string_view("not in");
  }
  Result<ExprId> prefixed() {
    const std::uint32_t line = token_.line;
    const std::string_view op = token_.text;
    if (is("not") || is("-") || is("~") || is("+")) {
      JC_RETURN_IF_ERROR(advance());
      JC_ASSIGN_OR_RETURN(const ExprId operand, operation(op == "not" ? kNotLevel : kMinusLevel));
      return add(ExprKind::kUnary, line, op, {operand});
    }
    JC_ASSIGN_OR_RETURN(const ExprId value, atom());
    return suffixed(value);
  }
  Result<ExprId> suffixed(ExprId value) {
    while (true) {
      const std::uint32_t line = token_.line;
      if (is(".")) {
        JC_RETURN_IF_ERROR(advance());
        JC_ASSIGN_OR_RETURN(const std::string_view attribute, name());
        JC_ASSIGN_OR_RETURN(value, add(ExprKind::kAttribute, line, attribute, {value}));
      } else if (is("(")) {
        JC_ASSIGN_OR_RETURN(value, call(value));
      } else if (is("[")) {
        JC_RETURN_IF_ERROR(advance());
        JC_ASSIGN_OR_RETURN(const ExprId index, index_of(line));
        JC_ASSIGN_OR_RETURN(value, add(ExprKind::kSubscript, line, {}, {value, index}));
      } else {
        return value;
      }
    }
  }
  // Several, in types: Dict[str, Tensor].
  Result<ExprId> index_of(std::uint32_t line) {
    JC_ASSIGN_OR_RETURN(std::vector<ExprId> items, expressions("]"));
    if (items.size() == 1) return items[0];
    return add(ExprKind::kTuple, line, {}, std::move(items));
  }
  Result<std::vector<ExprId>> expressions(std::string_view end) {
    std::vector<ExprId> out;
    while (!is(end)) {
      JC_ASSIGN_OR_RETURN(const ExprId item, expression());
      out.push_back(item);
      if (is(end)) break;
      JC_RETURN_IF_ERROR(expect(","));
    }
    JC_RETURN_IF_ERROR(advance());
    return out;
  }
  Result<ExprId> call(ExprId callee) {
    Expr out{.kind = ExprKind::kCall, .line = token_.line, .children = {callee}};
    JC_RETURN_IF_ERROR(advance());
    while (!is(")")) {
      JC_ASSIGN_OR_RETURN(ExprId argument, expression());
      std::string_view keyword;
      if (is("=")) {
        if (out_.exprs[argument].kind != ExprKind::kName) return unexpected("',' or ')'");
        keyword = out_.exprs[argument].text;
        names_.pop_back();
        JC_RETURN_IF_ERROR(advance());
        JC_ASSIGN_OR_RETURN(argument, expression());
      }
      out.children.push_back(argument);
      out.keywords.push_back(keyword);
      if (is(")")) break;
      JC_RETURN_IF_ERROR(expect(","));
    }
    JC_RETURN_IF_ERROR(advance());
    return add(std::move(out));
  }

  Result<ExprId> atom() {
    const Token token = token_;
    switch (token.kind) {
      case TokenKind::kName:
        names_.push_back(token.text);
        JC_RETURN_IF_ERROR(advance());
        return add(ExprKind::kName, token.line, token.text, {});
      case TokenKind::kText:
        JC_RETURN_IF_ERROR(advance());
        return add(ExprKind::kText, token.line, token.text, {});
      case TokenKind::kInteger:
      case TokenKind::kReal:
        return number(token);
      default:
        return bracketed(token);
    }
  }
  Result<ExprId> number(const Token& token) {
    JC_RETURN_IF_ERROR(advance());
    Expr out{.kind = ExprKind::kReal, .line = token.line, .text = token.text};
    const char* const begin = token.text.data();
    const char* const end = begin + token.text.size();
    if (token.kind == TokenKind::kInteger) {
      out.kind = ExprKind::kInteger;
      const auto read = std::from_chars(begin, end, out.whole);
      // The smallest integer is printed as minus what is one too large.
      if (read.ec == std::errc::result_out_of_range) out.whole = std::numeric_limits<std::int64_t>::max();
    } else {
      const auto read = std::from_chars(begin, end, out.real);
      if (read.ec == std::errc::invalid_argument) return invalid(fmt::format("line {}: a number is none", token.line));
    }
    return add(std::move(out));
  }
  Result<ExprId> bracketed(const Token& token) {
    if (!is("(") && !is("[") && !is("{")) return unexpected("a value");
    JC_RETURN_IF_ERROR(advance());
    if (token.text == "{") return dict(token.line);
    if (token.text == "[") {
      JC_ASSIGN_OR_RETURN(std::vector<ExprId> items, expressions("]"));
      return add(ExprKind::kList, token.line, {}, std::move(items));
    }
    if (is(")")) {
      JC_RETURN_IF_ERROR(advance());
      return add(ExprKind::kTuple, token.line, {}, {});
    }
    JC_ASSIGN_OR_RETURN(const ExprId first, expression());
    JC_ASSIGN_OR_RETURN(const bool tuple, accept(","));
    if (!tuple) {
      JC_RETURN_IF_ERROR(expect(")"));
      return first;
    }
    JC_ASSIGN_OR_RETURN(std::vector<ExprId> items, expressions(")"));
    items.insert(items.begin(), first);
    return add(ExprKind::kTuple, token.line, {}, std::move(items));
  }
  Result<ExprId> dict(std::uint32_t line) {
    std::vector<ExprId> items;
    while (!is("}")) {
      JC_ASSIGN_OR_RETURN(const ExprId key, expression());
      JC_RETURN_IF_ERROR(expect(":"));
      JC_ASSIGN_OR_RETURN(const ExprId value, expression());
      items.push_back(key);
      items.push_back(value);
      if (is("}")) break;
      JC_RETURN_IF_ERROR(expect(","));
    }
    JC_RETURN_IF_ERROR(advance());
    return add(ExprKind::kDict, line, {}, std::move(items));
  }

  // Statements.
  Result<std::vector<Statement>> block(std::size_t depth) {
    if (depth > kMaxDepth) return unsupported(fmt::format("line {}: blocks nested too deep", token_.line));
    JC_RETURN_IF_ERROR(expect(":"));
    std::vector<Statement> out;
    if (token_.kind != TokenKind::kNewline) {
      JC_ASSIGN_OR_RETURN(Statement only, statement(depth));
      out.push_back(std::move(only));
      return out;
    }
    JC_RETURN_IF_ERROR(advance());
    // A block may have nothing but a comment.
    if (token_.kind != TokenKind::kIndent) return out;
    JC_RETURN_IF_ERROR(advance());
    while (token_.kind != TokenKind::kDedent) {
      if (token_.kind == TokenKind::kEnd) return unexpected("a statement");
      JC_ASSIGN_OR_RETURN(Statement next, statement(depth));
      if (++statements_ > kMaxParts) return unsupported(fmt::format("more than {} parts", kMaxParts));
      out.push_back(std::move(next));
    }
    JC_RETURN_IF_ERROR(advance());
    return out;
  }

  Result<Statement> statement(std::size_t depth) {
    Statement out;
    out.line = token_.line;
    if (is("if") || is("while")) return condition(std::move(out), depth);
    if (is("for")) return loop(std::move(out), depth);
    if (is("with")) return unsupported(fmt::format("line {}: a 'with' block", token_.line));
    if (is("def")) return unsupported(fmt::format("line {}: a function in a function", token_.line));
    if (is("pass")) {
      JC_RETURN_IF_ERROR(advance());
      JC_RETURN_IF_ERROR(end_of_line());
      return out;
    }
    if (is("return")) {
      out.kind = StatementKind::kReturn;
      JC_RETURN_IF_ERROR(advance());
      if (token_.kind != TokenKind::kNewline) {
        JC_ASSIGN_OR_RETURN(out.value, expression_list());
      }
      JC_RETURN_IF_ERROR(end_of_line());
      return out;
    }
    return assignment(std::move(out));
  }

  Result<ExprId> expression_list() {
    JC_ASSIGN_OR_RETURN(const ExprId first, expression());
    if (!is(",")) return first;
    std::vector<ExprId> items{first};
    while (is(",")) {
      JC_RETURN_IF_ERROR(advance());
      if (token_.kind == TokenKind::kNewline) break;
      JC_ASSIGN_OR_RETURN(const ExprId item, expression());
      items.push_back(item);
    }
    return add(ExprKind::kTuple, out_.exprs[first].line, {}, std::move(items));
  }

  // value; target = value; a, b, = value; target : Type = value
  Result<Statement> assignment(Statement out) {
    const std::size_t names_before = names_.size();
    while (true) {
      JC_ASSIGN_OR_RETURN(const ExprId target, expression());
      out.targets.push_back(target);
      JC_ASSIGN_OR_RETURN(const bool more, accept(","));
      if (!more) break;
      out.unpacks = true;
      if (is("=")) break;
    }
    bool typed = false;
    if (is(":")) {
      JC_RETURN_IF_ERROR(advance());
      JC_ASSIGN_OR_RETURN(const ExprId type, expression());
      typed = type != kNoExpr;
    }
    if (is("=")) {
      JC_RETURN_IF_ERROR(targets(out, names_before));
      JC_RETURN_IF_ERROR(advance());
      out.kind = StatementKind::kAssign;
      JC_ASSIGN_OR_RETURN(out.value, expression_list());
    } else if (!typed) {
      if (out.unpacks) return unexpected("'='");
      out.kind = StatementKind::kExpression;
      out.value = out.targets[0];
      out.targets.clear();
    }
    JC_RETURN_IF_ERROR(end_of_line());
    return out;
  }
  // Variables that are given a value are not read.
  Result<void> targets(const Statement& statement, std::size_t names_before) {
    const bool plain = std::all_of(statement.targets.begin(), statement.targets.end(),
                                   [&](ExprId id) { return out_.exprs[id].kind == ExprKind::kName; });
    if (plain) names_.resize(std::min(names_.size(), names_before));
    for (const ExprId id : statement.targets) {
      const ExprKind kind = out_.exprs[id].kind;
      if (kind != ExprKind::kName && kind != ExprKind::kAttribute && kind != ExprKind::kSubscript) {
        return invalid(fmt::format("line {}: gives a value to what cannot have one", statement.line));
      }
    }
    return {};
  }

  Result<Statement> condition(Statement out, std::size_t depth) {
    out.kind = is("if") ? StatementKind::kIf : StatementKind::kWhile;
    JC_RETURN_IF_ERROR(advance());
    JC_ASSIGN_OR_RETURN(out.value, expression());
    JC_ASSIGN_OR_RETURN(out.body, block(depth + 1));
    JC_ASSIGN_OR_RETURN(const bool otherwise, accept("else"));
    if (otherwise) {
      JC_ASSIGN_OR_RETURN(out.otherwise, block(depth + 1));
    }
    return out;
  }
  Result<Statement> loop(Statement out, std::size_t depth) {
    out.kind = StatementKind::kFor;
    JC_RETURN_IF_ERROR(advance());
    JC_ASSIGN_OR_RETURN(const std::string_view variable, name());
    JC_ASSIGN_OR_RETURN(const ExprId target, add(ExprKind::kName, out.line, variable, {}));
    out.targets.push_back(target);
    JC_RETURN_IF_ERROR(expect("in"));
    JC_ASSIGN_OR_RETURN(out.value, expression());
    JC_ASSIGN_OR_RETURN(out.body, block(depth + 1));
    return out;
  }

  // Functions and classes.
  Result<Function> read_function() {
    Function out;
    out.line = token_.line;
    JC_RETURN_IF_ERROR(advance());
    JC_ASSIGN_OR_RETURN(out.name, name());
    JC_RETURN_IF_ERROR(expect("("));
    while (!is(")")) {
      JC_ASSIGN_OR_RETURN(const Parameter parameter, read_parameter());
      out.parameters.push_back(parameter);
      if (is(")")) break;
      JC_RETURN_IF_ERROR(expect(","));
    }
    JC_RETURN_IF_ERROR(advance());
    JC_ASSIGN_OR_RETURN(const bool typed, accept("->"));
    if (typed) JC_RETURN_IF_ERROR(expression());
    names_.clear();
    JC_ASSIGN_OR_RETURN(out.body, block(0));
    out.read.insert(names_.begin(), names_.end());
    return out;
  }
  Result<Parameter> read_parameter() {
    Parameter out;
    JC_ASSIGN_OR_RETURN(out.name, name());
    JC_ASSIGN_OR_RETURN(const bool typed, accept(":"));
    if (typed) {
      JC_ASSIGN_OR_RETURN(out.type, expression());
    }
    JC_ASSIGN_OR_RETURN(const bool optional, accept("="));
    if (optional) {
      JC_ASSIGN_OR_RETURN(out.absent, expression());
    }
    return out;
  }

  // class Net(Module):
  Result<void> read_class() {
    JC_RETURN_IF_ERROR(advance());
    JC_ASSIGN_OR_RETURN(const std::string_view name_of_class, name());
    Class& out = out_.classes[name_of_class];
    if (is("(")) {
      JC_RETURN_IF_ERROR(advance());
      JC_ASSIGN_OR_RETURN(const std::vector<ExprId> ignored, expressions(")"));
    }
    JC_RETURN_IF_ERROR(expect(":"));
    JC_RETURN_IF_ERROR(end_of_line());
    if (token_.kind != TokenKind::kIndent) return {};
    JC_RETURN_IF_ERROR(advance());
    while (token_.kind != TokenKind::kDedent) {
      if (is("def")) {
        JC_ASSIGN_OR_RETURN(Function function, read_function());
        const std::string_view name_of_method = function.name;
        out.methods.insert_or_assign(name_of_method, std::move(function));
        continue;
      }
      if (token_.kind == TokenKind::kEnd) return unexpected("a method");
      JC_ASSIGN_OR_RETURN(const Statement attribute, statement(0));
      const bool constant = attribute.kind == StatementKind::kAssign && attribute.targets.size() == 1;
      if (constant) out.constants.insert_or_assign(out_.exprs[attribute.targets[0]].text, attribute.value);
      const bool field = attribute.kind == StatementKind::kPass && attribute.targets.size() == 1;
      if (field) out.fields.push_back(out_.exprs[attribute.targets[0]].text);
    }
    return advance();
  }

  Lexer lexer_;
  Source& out_;
  Token token_;
  std::size_t depth_ = 0;
  std::size_t statements_ = 0;
  std::vector<std::string_view> names_;  // read since the function began
};

}  // namespace

Result<Source> parse_source(std::string_view text, std::string path) {
  Source out;
  out.path = std::move(path);
  auto done = Parser(text, out).run();
  if (!done) return tl::unexpected(std::move(done).error().in(printable(out.path)));
  return out;
}

}  // namespace joulecast::torchscript
