// SPDX-License-Identifier: Apache-2.0
// Numbers and truths: computed where they are known, operators on scalars of the graph where they depend on sizes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "import/torch/aten/operators.h"
#include "import/torchscript/importer.h"

namespace joulecast::torchscript {
namespace {

bool is_scalar(const Item& item) {
  return held<bool>(item) != nullptr || held<std::int64_t>(item) != nullptr || held<double>(item) != nullptr ||
         held<Symbol>(item) != nullptr || held<Unknown>(item) != nullptr;
}

// Of numbers, but a tensor.
bool makes_tensor(std::string_view op) {
  return op == "arange" || op == "eye" || op == "randperm" || op == "scalar_tensor";
}

bool is_comparison(std::string_view op) {
  return op == "eq" || op == "ne" || op == "lt" || op == "le" || op == "gt" || op == "ge";
}

bool compare(std::string_view op, double a, double b) {
  if (op == "eq") return a == b;
  if (op == "ne") return a != b;
  if (op == "lt") return a < b;
  if (op == "le") return a <= b;
  return op == "gt" ? a > b : a >= b;
}

// The entry of the table of operators that computes this on scalars of the graph; empty where there is none.
std::string_view symbolic_name(std::string_view op) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kNames{
      {{"add", "_operator.add"},
       {"sub", "_operator.sub"},
       {"mul", "_operator.mul"},
       {"div", "_operator.truediv"},
       {"floordiv", "_operator.floordiv"},
       {"remainder", "_operator.mod"},
       {"neg", "_operator.neg"},
       {"pow", "_operator.pow"},
       {"min", "torch.sym_min"},
       {"max", "torch.sym_max"},
       {"ceil", "math.ceil"},
       {"floor", "math.floor"},
       {"sqrt", "torch.sym_sqrt"},
       {"positive", "_operator.pos"},
       {"__lshift__", "_operator.lshift"},
       {"__rshift__", "_operator.rshift"},
       {"trunc", "math.trunc"},
       {"floor_divide", "_operator.floordiv"}}};
  const auto* const found = std::find_if(kNames.begin(), kNames.end(), [&](const auto& n) { return n.first == op; });
  return found == kNames.end() ? std::string_view{} : found->second;
}

// As integers of 64 bits wrap.
std::int64_t wrapped(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

Result<Item> whole_operation(std::string_view op, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  if (op == "add") return Item(wrapped(x + y));
  if (op == "sub") return Item(wrapped(x - y));
  if (op == "mul") return Item(wrapped(x * y));
  if (op == "neg") return Item(wrapped(0 - x));
  if (op == "min") return Item(std::min(a, b));
  if (op == "max") return Item(std::max(a, b));
  if (op == "__and__") return Item(a & b);
  if (op == "__or__") return Item(a | b);
  if (op == "__xor__") return Item(a ^ b);
  const bool divides = op == "floordiv" || op == "floor_divide" || op == "remainder";
  if (divides && (b == 0 || (a == kLeast && b == -1))) return invalid("divides by zero");
  if (op == "remainder") return Item((a % b + b) % b);
  if (divides) return Item(a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0));
  return unsupported(fmt::format("'{}' of integers", op));
}

Result<Item> real_operation(std::string_view op, double a, double b) {
  if (op == "add") return Item(a + b);
  if (op == "sub") return Item(a - b);
  if (op == "mul") return Item(a * b);
  if (op == "neg") return Item(-a);
  if (op == "min") return Item(std::min(a, b));
  if (op == "max") return Item(std::max(a, b));
  if (op == "pow") return Item(std::pow(a, b));
  if (op == "sqrt") return Item(std::sqrt(a));
  if (op == "exp") return Item(std::exp(a));
  if (op == "log") return Item(std::log(a));
  if (op == "abs") return Item(std::fabs(a));
  if (op == "div" && b != 0.0) return Item(a / b);
  if ((op == "floordiv" || op == "floor_divide") && b != 0.0) return Item(std::floor(a / b));
  if (op == "remainder" && b != 0.0) return Item(a - b * std::floor(a / b));
  return unsupported(fmt::format("'{}' of numbers", op));
}

// Integers, where they come out as such.
Item rounded(double value) {
  constexpr double kLargest = 9.0e18;
  if (!(std::fabs(value) < kLargest)) return Item(Unknown{});
  return Item(static_cast<std::int64_t>(value));
}

std::optional<double> plain(const Item& item) {
  if (const auto* truth = held<bool>(item)) return *truth ? 1.0 : 0.0;
  if (const auto* whole = held<std::int64_t>(item)) return static_cast<double>(*whole);
  if (const auto* real = held<double>(item)) return *real;
  return std::nullopt;
}

// Of numbers that are all known.
Result<Item> known_operation(std::string_view op, const Item& first, const Item& second) {
  const double a = *plain(first);
  const double b = plain(second).value_or(0.0);
  if (op == "ceil") return rounded(std::ceil(a));
  if (op == "floor") return rounded(std::floor(a));
  if (op == "trunc") return rounded(std::trunc(a));
  if (op == "round") return rounded(std::nearbyint(a));
  const bool truths = held<bool>(first) != nullptr && (held<bool>(second) != nullptr || held<std::monostate>(second));
  if (truths && op == "__and__") return Item(a != 0.0 && b != 0.0);
  if (truths && op == "__or__") return Item(a != 0.0 || b != 0.0);
  if (truths && op == "__xor__") return Item((a != 0.0) != (b != 0.0));
  const bool whole = held<double>(first) == nullptr && held<double>(second) == nullptr;
  if (whole && op == "positive") return first;
  if (op == "abs" && whole) return rounded(std::fabs(a));
  if (op == "pow" && whole && b >= 0.0) return rounded(std::pow(a, b));
  const bool to_real = op == "div" || op == "sqrt" || op == "exp" || op == "log" || op == "pow";
  if (!whole || to_real) return real_operation(op, a, b);
  const auto integer = [](const Item& item) {
    if (const auto* found = held<std::int64_t>(item)) return *found;
    return held<bool>(item) != nullptr && *held<bool>(item) ? std::int64_t{1} : std::int64_t{0};
  };
  return whole_operation(op, integer(first), integer(second));
}

}  // namespace

Item Importer::folded(ValueId id) {
  if (id == kNoValue) return Item(Unknown{});
  const auto numbers = samples_.numbers(id);
  if (!numbers || numbers->size() != 1 || !(*numbers)[0]) return Item(Symbol{id});
  if (builder_.guess(id).element == ElementType::kBool) return Item(*(*numbers)[0] != 0);
  return Item(*(*numbers)[0]);
}

std::optional<std::array<double, kSamples>> Importer::sampled(const Item& item) const {
  if (const auto value = plain(item)) return std::array<double, kSamples>{*value, *value};
  if (const auto* unknown = held<Unknown>(item)) return unknown->samples;
  ValueId id = kNoValue;
  if (const auto* symbol = held<Symbol>(item)) id = symbol->id;
  if (const auto* tensor = held<TensorRef>(item)) id = value_of(*tensor);
  std::array<double, kSamples> out{};
  for (std::size_t i = 0; i < kSamples; ++i) {
    const Contents* contents = id == kNoValue ? nullptr : samples_.known(id, i);
    if (contents == nullptr || contents->ints.size() + contents->reals.size() != 1) return std::nullopt;
    out[i] = contents->ints.empty() ? contents->reals[0] : static_cast<double>(contents->ints[0]);
  }
  return out;
}

std::optional<bool> Importer::truth(const Item& item) const {
  if (held<std::monostate>(item) != nullptr) return false;
  if (const List* list = list_of(item)) return !list->items.empty();
  const auto numbers = sampled(item);
  if (!numbers || ((*numbers)[0] != 0.0) != ((*numbers)[1] != 0.0)) return std::nullopt;
  return (*numbers)[0] != 0.0;
}

Item Importer::compared(std::string_view op, const Item& a, const Item& b) const {
  const bool equality = op == "eq" || op == "ne";
  const auto answer = [&](bool equal) { return Item(equal == (op == "eq")); };
  const auto* one = held<std::string_view>(a);
  const auto* other = held<std::string_view>(b);
  if (equality && one != nullptr && other != nullptr) return answer(*one == *other);
  const List* left = list_of(a);
  const List* right = list_of(b);
  if (equality && left != nullptr && right != nullptr) {
    if (left->items.size() != right->items.size()) return answer(false);
    bool sure = true;
    for (std::size_t i = 0; i < left->items.size(); ++i) {
      const bool nested = list_of(left->items[i]) != nullptr;
      const auto same = nested ? std::nullopt : truth(compared("eq", left->items[i], right->items[i]));
      if (same && !*same) return answer(false);
      sure = sure && same;
    }
    return sure ? answer(true) : Item(Unknown{});
  }
  const auto x = sampled(a);
  const auto y = sampled(b);
  if (!x || !y) {
    const bool none = held<std::monostate>(a) != nullptr || held<std::monostate>(b) != nullptr;
    return equality && none ? answer(a.index() == b.index()) : Item(Unknown{});
  }
  std::array<double, kSamples> out{};
  for (std::size_t i = 0; i < kSamples; ++i) out[i] = compare(op, (*x)[i], (*y)[i]) ? 1.0 : 0.0;
  // Of open sizes the samples prove an equality, and nothing else.
  const bool open = held<Symbol>(a) != nullptr || held<Symbol>(b) != nullptr;
  const bool proven = !open || (equality && (*x)[0] == (*y)[0]);
  return proven && out[0] == out[1] ? Item(out[0] != 0.0) : Item(Unknown{out});
}

Result<std::optional<Item>> Importer::scalar_operation(std::string_view name, const Arguments& arguments) {
  const std::vector<Item>& items = arguments.items;
  const bool scalars = std::all_of(items.begin(), items.end(), is_scalar);
  if (items.empty() || items.size() > 2 || !scalars || makes_tensor(name)) return std::optional<Item>{};
  if (name == "rsub" && items.size() == 2) return scalar_operation("sub", {{items[1], items[0]}, {}});
  if (is_comparison(name) && items.size() == 2) return std::optional<Item>(compared(name, items[0], items[1]));
  const bool known = std::all_of(items.begin(), items.end(), [](const Item& item) { return plain(item).has_value(); });
  if (known) {
    JC_ASSIGN_OR_RETURN(Item out, known_operation(name, items[0], items.size() > 1 ? items[1] : Item{}));
    return std::optional<Item>(out);
  }
  const std::string_view symbolic = symbolic_name(name);
  const bool unknown =
      std::any_of(items.begin(), items.end(), [](const Item& item) { return held<Unknown>(item) != nullptr; });
  if (unknown || symbolic.empty()) {
    // Truths are kept for the samples: a and b.
    const auto x = sampled(items[0]);
    const auto y = items.size() > 1 ? sampled(items[1]) : x;
    if (!x || !y || (name != "__and__" && name != "__or__")) return std::optional<Item>(Unknown{});
    Unknown out{std::array<double, kSamples>{}};
    for (std::size_t i = 0; i < kSamples; ++i) {
      const bool both = (*x)[i] != 0.0 && (*y)[i] != 0.0;
      const bool any = (*x)[i] != 0.0 || (*y)[i] != 0.0;
      (*out.samples)[i] = (name == "__and__" ? both : any) ? 1.0 : 0.0;
    }
    return std::optional<Item>(out);
  }
  std::vector<aten::Output> outputs{{fresh_name(name), std::nullopt, true}};
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> made, lower(symbolic, "", arguments, std::move(outputs)));
  if (made.empty() || made[0] == kNoValue) return std::optional<Item>(Unknown{});
  return std::optional<Item>(folded(made[0]));
}

}  // namespace joulecast::torchscript
