// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/builtins_list.h"

#include <algorithm>
#include <array>
#include <utility>

#include "import/torch/aten/scalar_type.h"

namespace joulecast::torchscript {

ListBuiltins::Answer ListBuiltins::element_at(Importer& i, const Arguments& a) {
  if (a.items.size() != 2) return invalid("an element needs a list and its place");
  JC_ASSIGN_OR_RETURN(Item item, i.item_at(a.items[0], a.items[1]));
  return std::optional<Item>(item);
}

ListBuiltins::Answer ListBuiltins::range(Importer& i, const Arguments& a) {
  constexpr std::int64_t kMax = 1'000'000;
  std::array<std::int64_t, 3> bounds{0, 0, 1};
  for (std::size_t k = 0; k < std::min<std::size_t>(3, a.items.size()); ++k) {
    const auto* number = held<std::int64_t>(a.items[k]);
    if (number == nullptr) return unsupported("how often a loop runs depends on sizes or data");
    bounds[a.items.size() == 1 ? 1 : k] = std::clamp(*number, -kMax, kMax + 1);
  }
  if (bounds[2] == 0) return invalid("a range with a step of 0");
  std::vector<Item> out;
  for (std::int64_t n = bounds[0]; bounds[2] > 0 ? n < bounds[1] : n > bounds[1]; n += bounds[2]) {
    if (out.size() > static_cast<std::size_t>(kMax)) return unsupported("a loop that is longer than any real one");
    out.emplace_back(n);
    JC_RETURN_IF_ERROR(i.count_step());
  }
  return std::optional<Item>(i.new_list(ListKind::kList, std::move(out)));
}

ListBuiltins::Answer ListBuiltins::append(Importer& i, const Arguments& a) {
  List* list = a.items.size() == 2 ? i.list_of(a.items[0]) : nullptr;
  if (list == nullptr) return invalid("append to what is no list");
  list->items.push_back(a.items[1]);
  return std::optional<Item>(a.items[0]);
}

ListBuiltins::Answer ListBuiltins::extend(Importer& i, const Arguments& a) {
  List* list = a.items.size() == 2 ? i.list_of(a.items[0]) : nullptr;
  const List* more = a.items.size() == 2 ? i.list_of(a.items[1]) : nullptr;
  if (list == nullptr || more == nullptr) return invalid("extends what is no list");
  const std::vector<Item> items = more->items;
  JC_RETURN_IF_ERROR(bounded(i, list->items.size() + items.size()));
  list->items.insert(list->items.end(), items.begin(), items.end());
  return std::optional<Item>(Item{});
}

// What lists grow to is work, too.
Result<void> ListBuiltins::bounded(Importer& i, std::size_t size) {
  constexpr std::size_t kLongest = 1'000'000;
  if (size > kLongest) return unsupported("a list that is longer than any real one");
  i.steps_ += size;
  return i.count_step();
}

ListBuiltins::Answer ListBuiltins::insert(Importer& i, const Arguments& a) {
  List* list = a.items.size() == 3 ? i.list_of(a.items[0]) : nullptr;
  const auto* place = a.items.size() == 3 ? held<std::int64_t>(a.items[1]) : nullptr;
  if (list == nullptr || place == nullptr) return invalid("insert into what is no list");
  const auto size = static_cast<std::int64_t>(list->items.size());
  JC_RETURN_IF_ERROR(bounded(i, list->items.size()));
  list->items.insert(list->items.begin() + std::clamp<std::int64_t>(*place, 0, size), a.items[2]);
  return std::optional<Item>(Item{});
}

ListBuiltins::Answer ListBuiltins::set_item(Importer& i, const Arguments& a) {
  List* list = a.items.size() == 3 ? i.list_of(a.items[0]) : nullptr;
  if (list == nullptr) return invalid("gives an element to what is no list");
  if (list->kind == ListKind::kDict) {
    for (std::size_t k = 0; k + 1 < list->items.size(); k += 2) {
      if (!i.truth(i.compared("eq", list->items[k], a.items[1])).value_or(false)) continue;
      list->items[k + 1] = a.items[2];
      return std::optional<Item>(Item{});
    }
    list->items.push_back(a.items[1]);
    list->items.push_back(a.items[2]);
    return std::optional<Item>(Item{});
  }
  const auto* place = held<std::int64_t>(a.items[1]);
  const auto size = static_cast<std::int64_t>(list->items.size());
  if (place == nullptr || *place < -size || *place >= size) return invalid("gives a list an element outside it");
  list->items[static_cast<std::size_t>(*place < 0 ? *place + size : *place)] = a.items[2];
  return std::optional<Item>(Item{});
}

ListBuiltins::Answer ListBuiltins::contains(Importer& i, const Arguments& a) {
  const List* list = a.items.size() == 2 ? i.list_of(a.items[0]) : nullptr;
  if (list == nullptr) return invalid("'in' needs a list");
  JC_RETURN_IF_ERROR(bounded(i, list->items.size()));
  const std::size_t each = list->kind == ListKind::kDict ? 2 : 1;
  bool sure = true;
  for (std::size_t k = 0; k < list->items.size(); k += each) {
    const auto same = i.truth(i.compared("eq", list->items[k], a.items[1]));
    if (same && *same) return std::optional<Item>(true);
    sure = sure && same;
  }
  return sure ? std::optional<Item>(false) : std::optional<Item>(Unknown{});
}

// list + list, "text" + "text"
ListBuiltins::Answer ListBuiltins::joined(Importer& i, const Arguments& a) {
  const List* one = a.items.size() == 2 ? i.list_of(a.items[0]) : nullptr;
  const List* other = a.items.size() == 2 ? i.list_of(a.items[1]) : nullptr;
  if (a.items.size() == 2 && held<std::string_view>(a.items[0]) != nullptr) return std::optional<Item>(a.items[0]);
  if (one == nullptr || other == nullptr) return std::optional<Item>{};
  JC_RETURN_IF_ERROR(bounded(i, one->items.size() + other->items.size()));
  std::vector<Item> items = one->items;
  items.insert(items.end(), other->items.begin(), other->items.end());
  return std::optional<Item>(i.new_list(one->kind, std::move(items)));
}

// [0] * 3
ListBuiltins::Answer ListBuiltins::repeated(Importer& i, const Arguments& a) {
  const List* list = a.items.size() == 2 ? i.list_of(a.items[0]) : nullptr;
  const auto* times = a.items.size() == 2 ? held<std::int64_t>(a.items[1]) : nullptr;
  if (list == nullptr || times == nullptr) return std::optional<Item>{};
  const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(*times, 0, 1'000'000));
  JC_RETURN_IF_ERROR(bounded(i, count * std::min<std::size_t>(list->items.size(), 1'000'001)));
  const std::vector<Item> once = list->items;
  std::vector<Item> items;
  for (std::size_t k = 0; k < count; ++k) items.insert(items.end(), once.begin(), once.end());
  return std::optional<Item>(i.new_list(ListKind::kList, std::move(items)));
}

// list[a:b:c]; of tensors it is the operator.
ListBuiltins::Answer ListBuiltins::slice(Importer& i, const Arguments& a) {
  const List* list = a.items.empty() ? nullptr : i.list_of(a.items[0]);
  if (list == nullptr) return std::optional<Item>{};
  const auto size = static_cast<std::int64_t>(list->items.size());
  std::array<std::int64_t, 3> bounds{0, size, 1};
  for (std::size_t k = 1; k < std::min<std::size_t>(4, a.items.size()); ++k) {
    if (held<std::monostate>(a.items[k]) != nullptr) continue;
    const auto* number = held<std::int64_t>(a.items[k]);
    if (number == nullptr) return unsupported("which part of a list is read depends on sizes or data");
    bounds[k - 1] = k == 3 ? *number : std::clamp<std::int64_t>(*number < 0 ? *number + size : *number, 0, size);
  }
  if (bounds[2] < 1) return unsupported("a part of a list, backwards");
  std::vector<Item> items;
  const std::int64_t step = std::min<std::int64_t>(bounds[2], size + 1);
  for (std::int64_t k = bounds[0]; k < bounds[1]; k += step) items.push_back(list->items[static_cast<std::size_t>(k)]);
  JC_RETURN_IF_ERROR(bounded(i, items.size()));
  return std::optional<Item>(i.new_list(list->kind, std::move(items)));
}

ListBuiltins::Answer ListBuiltins::copy_of_list(Importer& i, const Arguments& a) {
  const List* list = a.items.empty() ? nullptr : i.list_of(a.items[0]);
  if (list == nullptr) return std::optional<Item>{};
  JC_RETURN_IF_ERROR(bounded(i, list->items.size()));
  return std::optional<Item>(i.new_list(list->kind, list->items));
}

// Of a list of truths; of tensors it is the operator.
ListBuiltins::Answer ListBuiltins::all_or_any(Importer& i, const Arguments& a, bool any) {
  const List* list = a.items.size() == 1 ? i.list_of(a.items[0]) : nullptr;
  if (list == nullptr) return std::optional<Item>{};
  bool sure = true;
  for (const Item& item : list->items) {
    const auto truth = i.truth(item);
    if (truth && *truth == any) return std::optional<Item>(any);
    sure = sure && truth;
  }
  return sure ? std::optional<Item>(!any) : std::optional<Item>(Unknown{});
}

ListBuiltins::Answer ListBuiltins::all(Importer& i, const Arguments& a) {
  return all_or_any(i, a, false);
}

ListBuiltins::Answer ListBuiltins::any(Importer& i, const Arguments& a) {
  return all_or_any(i, a, true);
}

// Every second of a dict's.
ListBuiltins::Answer ListBuiltins::of_dict(Importer& i, const Arguments& a, std::size_t from) {
  const List* dict = a.items.empty() ? nullptr : i.list_of(a.items[0]);
  if (dict == nullptr || dict->kind != ListKind::kDict) return std::optional<Item>{};
  std::vector<Item> items;
  for (std::size_t k = from; k < dict->items.size(); k += 2) items.push_back(dict->items[k]);
  return std::optional<Item>(i.new_list(ListKind::kList, std::move(items)));
}

ListBuiltins::Answer ListBuiltins::keys(Importer& i, const Arguments& a) {
  return of_dict(i, a, 0);
}

ListBuiltins::Answer ListBuiltins::dict_values(Importer& i, const Arguments& a) {
  return of_dict(i, a, 1);
}

// The least or greatest of a list of numbers.
ListBuiltins::Answer ListBuiltins::extreme(Importer& i, const Arguments& a, std::string_view name) {
  const List* list = a.items.size() == 1 ? i.list_of(a.items[0]) : nullptr;
  if (list == nullptr) return std::optional<Item>{};
  if (list->items.empty()) return invalid("the greatest of nothing");
  const std::vector<Item> items = list->items;
  Item out = items[0];
  for (std::size_t k = 1; k < items.size(); ++k) {
    JC_ASSIGN_OR_RETURN(const auto better, i.scalar_operation(name, {{out, items[k]}, {}}));
    if (!better) return unsupported("the greatest of what are no numbers");
    out = *better;
  }
  return std::optional<Item>(out);
}

ListBuiltins::Answer ListBuiltins::least(Importer& i, const Arguments& a) {
  return extreme(i, a, "min");
}

ListBuiltins::Answer ListBuiltins::greatest(Importer& i, const Arguments& a) {
  return extreme(i, a, "max");
}

// sum([0, 4]); of tensors it is the operator.
ListBuiltins::Answer ListBuiltins::sum(Importer& i, const Arguments& a) {
  const List* list = a.items.size() == 1 ? i.list_of(a.items[0]) : nullptr;
  if (list == nullptr) return std::optional<Item>{};
  const std::vector<Item> items = list->items;
  Item out{std::int64_t{0}};
  for (const Item& item : items) {
    JC_ASSIGN_OR_RETURN(const auto more, i.scalar_operation("add", {{out, item}, {}}));
    if (!more) return unsupported("the sum of what are no numbers");
    out = *more;
  }
  return std::optional<Item>(out);
}

Result<std::array<std::int64_t, 3>> ListBuiltins::whole_numbers(const Arguments& a) {
  std::array<std::int64_t, 3> out{};
  if (a.items.size() != out.size()) return invalid("needs three numbers");
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto* number = held<std::int64_t>(a.items[k]);
    if (number == nullptr) return unsupported("how often a loop runs depends on sizes or data");
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    out[k] = std::clamp(*number, -kMost, kMost);
  }
  return out;
}

// for i in range(start, end, step): how often that runs, and the i of one turn.
ListBuiltins::Answer ListBuiltins::range_length(Importer& /*i*/, const Arguments& a) {
  JC_ASSIGN_OR_RETURN(const auto numbers, whole_numbers(a));
  const auto [start, end, step] = numbers;
  if (step == 0) return invalid("a range with a step of 0");
  const std::int64_t over = step > 0 ? end - start : start - end;
  const std::int64_t each = step > 0 ? step : -step;
  return std::optional<Item>(over <= 0 ? std::int64_t{0} : (over + each - 1) / each);
}

ListBuiltins::Answer ListBuiltins::index_in_range(Importer& /*i*/, const Arguments& a) {
  JC_ASSIGN_OR_RETURN(const auto numbers, whole_numbers(a));
  const auto [turn, start, step] = numbers;
  return std::optional<Item>(start + turn * step);
}

ListBuiltins::Answer ListBuiltins::dict(Importer& i, const Arguments& a) {
  if (a.items.empty()) return std::optional<Item>(i.new_list(ListKind::kDict, {}));
  return copy_of_list(i, a);
}

// The numbers of a list, or of lists of as many each, in order, and how many there are along each axis.
bool ListBuiltins::flatten(const Importer& i, const Item& item, std::size_t depth, std::vector<Item>& out,
                           Shape& shape) {
  const List* list = i.list_of(item);
  if (list == nullptr) {
    out.push_back(item);
    return depth == shape.size();
  }
  const auto size = static_cast<std::int64_t>(list->items.size());
  if (depth >= kMaxRank || (depth < shape.size() && shape[depth] != size)) return false;
  if (depth == shape.size()) {
    if (!out.empty()) return false;
    shape.push_back(size);
  }
  return std::all_of(list->items.begin(), list->items.end(),
                     [&](const Item& part) { return flatten(i, part, depth + 1, out, shape); });
}

// tensor(3, dtype=6), tensor([[1, 2], [3, 4]]): a constant.
ListBuiltins::Answer ListBuiltins::tensor(Importer& i, const Arguments& a) {
  std::vector<Item> items;
  Shape shape;
  if (a.items.empty() || !flatten(i, a.items[0], 0, items, shape))
    return unsupported("a tensor of what are no numbers");
  JC_RETURN_IF_ERROR(bounded(i, items.size()));
  const auto is = [&](auto held_as) { return std::any_of(items.begin(), items.end(), held_as); };
  const bool reals = items.empty() || is([](const Item& item) { return held<double>(item) != nullptr; });
  const bool truths = !items.empty() && held<bool>(items[0]) != nullptr;
  ElementType element = reals ? ElementType::kFloat32 : truths ? ElementType::kBool : ElementType::kInt64;
  for (const auto& [name, item] : a.named) {
    const auto* number = name == "dtype" ? held<std::int64_t>(item) : nullptr;
    if (number != nullptr) element = aten::element_of(*number);
  }
  Contents contents;
  for (const Item& item : items) {
    const auto numbers = i.sampled(item);
    if (!numbers || (*numbers)[0] != (*numbers)[1]) return unsupported("a tensor of numbers that depend on sizes");
    if (is_floating(element)) {
      contents.reals.push_back((*numbers)[0]);
    } else {
      contents.ints.push_back(static_cast<std::int64_t>((*numbers)[0]));
    }
  }
  const ValueId id = i.builder_.add_constant(i.fresh_name("tensor"), TensorType{element, shape}, std::move(contents),
                                             ValueKind::kConstant);
  i.samples_.add_source(i.builder_.graph, id);
  return std::optional<Item>(i.new_tensor(id));
}

}  // namespace joulecast::torchscript
