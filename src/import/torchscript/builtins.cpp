// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "import/text.h"
#include "import/torch/aten/scalar_type.h"
#include "import/torchscript/builtins_list.h"

namespace joulecast::torchscript {

// Each answers nothing where its arguments are those of an operator of the same name.
struct Builtins {
  using Answer = Result<std::optional<Item>>;

  static Answer none(Importer& /*i*/, const Arguments& /*a*/) { return std::optional<Item>(Item{}); }
  static Answer setting(Importer& /*i*/, const Arguments& /*a*/) { return std::optional<Item>(Setting{}); }
  static Answer no(Importer& /*i*/, const Arguments& /*a*/) { return std::optional<Item>(false); }
  // Messages: nobody reads them, but whether there is one is asked.
  static Answer text(Importer& /*i*/, const Arguments& /*a*/) { return std::optional<Item>(std::string_view("...")); }
  // Of devices. None that the fused attention of inference is for: layers are followed as they run with gradients.
  static Answer device_type(Importer& /*i*/, const Arguments& /*a*/) {
    return std::optional<Item>(std::string_view("any"));
  }

  // What is the last argument, in another guise.
  static Answer same(Importer& /*i*/, const Arguments& a) {
    if (a.items.empty()) return invalid("is called without arguments");
    return std::optional<Item>(a.items.back());
  }
  static Answer first(Importer& /*i*/, const Arguments& a) {
    if (a.items.empty()) return invalid("is called without arguments");
    return std::optional<Item>(a.items[0]);
  }

  static Answer raise(Importer& /*i*/, const Arguments& a) {
    const auto* message = a.items.empty() ? nullptr : held<std::string_view>(a.items[0]);
    return unsupported(fmt::format("the code ends in an error here: '{}'",
                                   printable(message == nullptr ? std::string_view{} : *message)));
  }

  static Answer get_attribute(Importer& i, const Arguments& a) {
    const auto* object = a.items.size() == 2 ? held<ObjectRef>(a.items[0]) : nullptr;
    const auto* name = a.items.size() == 2 ? held<std::string_view>(a.items[1]) : nullptr;
    if (object == nullptr || name == nullptr) return invalid("getattr of what is no object");
    JC_ASSIGN_OR_RETURN(Item item, i.attribute(*object, *name));
    return std::optional<Item>(item);
  }

  static bool identical(const Item& a, const Item& b) {
    const auto* one = held<TensorRef>(a);
    const auto* other = held<TensorRef>(b);
    if (one != nullptr && other != nullptr) return one->cell == other->cell;
    return held<std::monostate>(a) != nullptr && held<std::monostate>(b) != nullptr;
  }
  static Answer is(Importer& /*i*/, const Arguments& a) {
    if (a.items.size() != 2) return invalid("'is' needs two values");
    return std::optional<Item>(identical(a.items[0], a.items[1]));
  }
  static Answer is_not(Importer& /*i*/, const Arguments& a) {
    if (a.items.size() != 2) return invalid("'is' needs two values");
    return std::optional<Item>(!identical(a.items[0], a.items[1]));
  }
  static Answer negated(Importer& i, const Arguments& a) {
    if (a.items.size() != 1) return invalid("'not' needs one value");
    const bool sure = held<Unknown>(a.items[0]) == nullptr;
    const auto truth = sure ? i.truth(a.items[0]) : std::nullopt;
    if (truth) return std::optional<Item>(!*truth);
    const auto numbers = i.sampled(a.items[0]);
    if (!numbers) return std::optional<Item>(Unknown{});
    Unknown out{std::array<double, kSamples>{}};
    for (std::size_t s = 0; s < kSamples; ++s) (*out.samples)[s] = (*numbers)[s] == 0.0 ? 1.0 : 0.0;
    return std::optional<Item>(out);
  }

  static bool is_tensor(const Item& item) { return held<TensorRef>(item) != nullptr; }
  static bool any_tensor(const Arguments& a) { return std::any_of(a.items.begin(), a.items.end(), is_tensor); }

  static Answer equal(Importer& i, const Arguments& a) {
    if (a.items.size() != 2 || any_tensor(a)) return std::optional<Item>{};
    return std::optional<Item>(i.compared("eq", a.items[0], a.items[1]));
  }
  static Answer not_equal(Importer& i, const Arguments& a) {
    if (a.items.size() != 2 || any_tensor(a)) return std::optional<Item>{};
    return std::optional<Item>(i.compared("ne", a.items[0], a.items[1]));
  }

  // Asked of tensors.
  static Answer size(Importer& i, const Arguments& a) {
    const auto* tensor = a.items.empty() ? nullptr : held<TensorRef>(a.items[0]);
    if (tensor == nullptr) return invalid("size of what is no tensor");
    if (i.value_of(*tensor) == kNoValue)
      i.add_hint(i.cells_[tensor->cell].input, {ElementType::kFloat32, {{}, {}, {}, {}}, true});
    JC_ASSIGN_OR_RETURN(const std::size_t rank, rank_of(i, *tensor));
    const auto signed_rank = static_cast<std::int64_t>(rank);
    if (a.items.size() > 1) {
      const auto* dim = held<std::int64_t>(a.items[1]);
      if (dim == nullptr || *dim < -signed_rank || *dim >= signed_rank) {
        return invalid(fmt::format("size of an axis that a tensor of {} axes does not have", rank));
      }
      JC_ASSIGN_OR_RETURN(Item one, extent(i, *tensor, *dim < 0 ? *dim + signed_rank : *dim));
      return std::optional<Item>(one);
    }
    std::vector<Item> all;
    for (std::int64_t axis = 0; axis < signed_rank; ++axis) {
      JC_ASSIGN_OR_RETURN(Item one, extent(i, *tensor, axis));
      all.push_back(one);
    }
    return std::optional<Item>(i.new_list(ListKind::kList, std::move(all)));
  }
  static Result<std::size_t> rank_of(Importer& i, const TensorRef& tensor) {
    const ValueId id = i.value_of(tensor);
    const auto rank = id == kNoValue ? std::nullopt : i.builder_.guess(id).rank;
    if (rank) return *rank;
    return unsupported(
        id == kNoValue ? fmt::format("the file does not say the shape of input '{0}'; --shapes {0}:1x3x224x224 would",
                                     printable(i.cells_[tensor.cell].input))
                       : std::string("the rank of a tensor is not known"));
  }
  static Result<Item> extent(Importer& i, const TensorRef& tensor, std::int64_t axis) {
    const ValueId id = i.value_of(tensor);
    const auto extents = i.samples_.extents(id);
    if (extents && (*extents)[static_cast<std::size_t>(axis)] >= 0) {
      return Item((*extents)[static_cast<std::size_t>(axis)]);
    }
    const auto key = std::pair(static_cast<std::uint32_t>(id), axis);
    if (const auto found = i.extents_.find(key); found != i.extents_.end()) return found->second;
    Arguments arguments{{Item(tensor), Item(axis)}, {}};
    JC_ASSIGN_OR_RETURN(const auto made, i.lower("sym_size", "int", arguments, {{i.fresh_name("size"), {}, true}}));
    const Item out = i.folded(made[0]);
    i.extents_.emplace(key, out);
    return out;
  }
  static Answer rank(Importer& i, const Arguments& a) {
    const auto* tensor = a.items.empty() ? nullptr : held<TensorRef>(a.items[0]);
    if (tensor == nullptr) return invalid("dim of what is no tensor");
    JC_ASSIGN_OR_RETURN(const std::size_t rank, rank_of(i, *tensor));
    return std::optional<Item>(static_cast<std::int64_t>(rank));
  }
  static Answer element_count(Importer& i, const Arguments& a) {
    const auto* tensor = a.items.empty() ? nullptr : held<TensorRef>(a.items[0]);
    if (tensor == nullptr) return invalid("numel of what is no tensor");
    JC_RETURN_IF_ERROR(rank_of(i, *tensor));
    JC_ASSIGN_OR_RETURN(const auto made, i.lower("numel", "", a, {{i.fresh_name("numel"), {}, true}}));
    return std::optional<Item>(i.folded(made[0]));
  }
  static Answer element(Importer& i, const Arguments& a) {
    const auto* tensor = a.items.empty() ? nullptr : held<TensorRef>(a.items[0]);
    const ValueId id = tensor == nullptr ? kNoValue : i.value_of(*tensor);
    const auto number = id == kNoValue ? std::nullopt : aten::scalar_type_of(i.builder_.guess(id).element);
    return number ? std::optional<Item>(*number) : std::optional<Item>(Setting{});
  }
  static Answer is_floating_point(Importer& i, const Arguments& a) {
    const auto* tensor = a.items.empty() ? nullptr : held<TensorRef>(a.items[0]);
    const ValueId id = tensor == nullptr ? kNoValue : i.value_of(*tensor);
    if (id == kNoValue) return std::optional<Item>(true);
    return std::optional<Item>(is_floating(i.builder_.guess(id).element));
  }
  // Only axes of one element go; which these are is known before the operator is there.
  static Answer squeeze(Importer& i, const Arguments& a) {
    const auto* tensor = a.items.size() < 2 ? nullptr : held<TensorRef>(a.items[0]);
    const auto* dim = tensor == nullptr ? nullptr : held<std::int64_t>(a.items[1]);
    const auto types = dim == nullptr ? std::nullopt : i.samples_.types(i.value_of(*tensor));
    if (!types) return std::optional<Item>{};
    const Shape& shape = (*types)[0].shape;
    const std::int64_t axis = *dim < 0 ? *dim + static_cast<std::int64_t>(shape.size()) : *dim;
    const bool inside = axis >= 0 && axis < static_cast<std::int64_t>(shape.size());
    if (!inside || shape[static_cast<std::size_t>(axis)] == 1) return std::optional<Item>{};
    return std::optional<Item>(a.items[0]);
  }

  // To the element type that it has: nothing is done.
  static Answer to(Importer& i, const Arguments& a) {
    const auto* tensor = a.items.empty() ? nullptr : held<TensorRef>(a.items[0]);
    const ValueId id = tensor == nullptr ? kNoValue : i.value_of(*tensor);
    std::optional<std::int64_t> wanted;
    for (std::size_t k = 1; k < std::min<std::size_t>(3, a.items.size()); ++k) {
      if (const auto* number = held<std::int64_t>(a.items[k])) wanted = *number;
    }
    for (const auto& [name, item] : a.named) {
      if (const auto* number = held<std::int64_t>(item); number != nullptr && name == "dtype") wanted = *number;
    }
    if (id == kNoValue || !wanted || aten::element_of(*wanted) != i.builder_.guess(id).element) {
      return std::optional<Item>{};
    }
    return std::optional<Item>(a.items[0]);
  }

  // Numbers and tensors of one.
  static Answer to_tensor(Importer& i, const Arguments& a) {
    if (a.items.size() != 1) return invalid("a tensor of one number needs one");
    if (const auto* symbol = held<Symbol>(a.items[0])) return std::optional<Item>(i.new_tensor(symbol->id));
    if (is_tensor(a.items[0])) return std::optional<Item>(a.items[0]);
    constexpr std::int64_t kLong = 4;
    Arguments arguments = a;
    if (held<std::int64_t>(a.items[0]) != nullptr) arguments.named.emplace_back("dtype", Item(kLong));
    JC_ASSIGN_OR_RETURN(const auto made, i.lower("scalar_tensor", "", arguments, {{i.fresh_name("number"), {}, true}}));
    if (made.empty() || made[0] == kNoValue) return std::optional<Item>(Unknown{});
    return std::optional<Item>(i.new_tensor(made[0]));
  }
  static Answer to_int(Importer& i, const Arguments& a) {
    if (a.items.empty()) return invalid("a number of nothing");
    const Item& item = a.items[0];
    if (const auto* truth = held<bool>(item)) return std::optional<Item>(std::int64_t{*truth ? 1 : 0});
    if (const auto* real = held<double>(item)) {
      constexpr double kLargest = 9.0e18;
      if (!(std::fabs(*real) < kLargest)) return std::optional<Item>(Unknown{});
      return std::optional<Item>(static_cast<std::int64_t>(*real));
    }
    ValueId id = kNoValue;
    if (const auto* symbol = held<Symbol>(item)) id = symbol->id;
    if (const auto* tensor = held<TensorRef>(item)) id = i.value_of(*tensor);
    if (id == kNoValue) return std::optional<Item>(item);
    if (is_integer(i.builder_.guess(id).element)) return std::optional<Item>(i.folded(id));
    const Arguments arguments{{Item(Symbol{id})}, {}};
    JC_ASSIGN_OR_RETURN(const auto made, i.lower("math.trunc", "", arguments, {{i.fresh_name("int"), {}, true}}));
    return std::optional<Item>(i.folded(made[0]));
  }
  static Answer to_float(Importer& i, const Arguments& a) {
    if (a.items.empty()) return invalid("a number of nothing");
    const auto numbers = i.sampled(a.items[0]);
    if (numbers && (*numbers)[0] == (*numbers)[1]) return std::optional<Item>((*numbers)[0]);
    const auto* tensor = held<TensorRef>(a.items[0]);
    if (tensor == nullptr) return std::optional<Item>(a.items[0]);
    const ValueId id = i.value_of(*tensor);
    return id == kNoValue ? std::optional<Item>(Unknown{}) : std::optional<Item>(Symbol{id});
  }
  static Answer to_bool(Importer& i, const Arguments& a) {
    if (a.items.empty()) return invalid("a truth of nothing");
    if (held<Unknown>(a.items[0]) != nullptr) return std::optional<Item>(a.items[0]);
    if (const auto truth = i.truth(a.items[0])) return std::optional<Item>(*truth);
    return std::optional<Item>(Unknown{i.sampled(a.items[0])});
  }

  // Of lists, strings and tensors.
  static Answer length(Importer& i, const Arguments& a) {
    if (a.items.empty()) return invalid("the length of nothing");
    if (const auto* pending = held<PendingRef>(a.items[0])) {
      const auto count = i.count_of(i.pendings_[pending->pending]);
      if (!count) return unsupported("how many tensors a list has depends on sizes");
      return std::optional<Item>(static_cast<std::int64_t>(*count));
    }
    if (const auto* tensor = held<TensorRef>(a.items[0])) {
      JC_ASSIGN_OR_RETURN(Item first_axis, extent(i, *tensor, 0));
      return std::optional<Item>(first_axis);
    }
    if (const auto* string = held<std::string_view>(a.items[0])) {
      return std::optional<Item>(static_cast<std::int64_t>(string->size()));
    }
    const List* list = i.list_of(a.items[0]);
    if (list == nullptr) return invalid("the length of what is no list");
    const std::size_t each = list->kind == ListKind::kDict ? 2 : 1;
    return std::optional<Item>(static_cast<std::int64_t>(list->items.size() / each));
  }
  // isinstance: tensors and lists are told from each other; what is None is of no type.
  static Answer is_instance(Importer& i, const Arguments& a) {
    if (a.items.empty() || held<std::monostate>(a.items[0]) != nullptr) return std::optional<Item>(false);
    const auto* type = a.items.size() < 2 ? nullptr : held<std::string_view>(a.items[1]);
    if (type == nullptr) return std::optional<Item>(true);
    const bool list = *type == "list" || *type == "List" || *type == "tuple" || *type == "Tuple" || *type == "Dict";
    const bool of_other_kind = *type == "Tensor" ? i.list_of(a.items[0]) != nullptr : list && is_tensor(a.items[0]);
    return std::optional<Item>(!of_other_kind);
  }
};

namespace {

struct Entry {
  std::string_view name;
  Builtin function;
};

// Sorted by name.
constexpr auto kBuiltins = std::to_array<Entry>({
    {"Bool", Builtins::to_bool},
    {"Float", Builtins::to_float},
    {"FloatImplicit", Builtins::to_float},
    {"Int", Builtins::to_int},
    {"IntImplicit", Builtins::to_int},
    {"NumToTensor", Builtins::to_tensor},
    {"RaiseException", Builtins::raise},
    {"ScalarImplicit", Builtins::to_int},
    {"__contains__", ListBuiltins::contains},
    {"__derive_index", ListBuiltins::index_in_range},
    {"__getitem__", ListBuiltins::element_at},
    {"__is__", Builtins::is},
    {"__isnot__", Builtins::is_not},
    {"__not__", Builtins::negated},
    {"__range_length", ListBuiltins::range_length},
    {"_set_item", ListBuiltins::set_item},
    {"add", ListBuiltins::joined},
    {"all", ListBuiltins::all},
    {"annotate", Builtins::same},
    {"any", ListBuiltins::any},
    {"append", ListBuiltins::append},
    {"bool", Builtins::to_bool},
    {"copy", ListBuiltins::copy_of_list},
    {"data", Builtins::first},
    {"device", Builtins::setting},
    {"dict", ListBuiltins::dict},
    {"dim", Builtins::rank},
    {"dtype", Builtins::element},
    {"eq", Builtins::equal},
    {"extend", ListBuiltins::extend},
    {"float", Builtins::to_float},
    {"format", Builtins::text},
    {"get_device", Builtins::setting},
    {"getattr", Builtins::get_attribute},
    {"insert", ListBuiltins::insert},
    {"int", Builtins::to_int},
    {"is_autocast_enabled", Builtins::no},
    {"is_complex", Builtins::no},
    {"is_cuda", Builtins::no},
    {"is_floating_point", Builtins::is_floating_point},
    {"is_grad_enabled", Builtins::no},
    {"is_nested", Builtins::no},
    {"is_quantized", Builtins::no},
    {"is_scripting", Builtins::no},
    {"is_tracing", Builtins::no},
    {"isinstance", Builtins::is_instance},
    {"keys", ListBuiltins::keys},
    {"layout", Builtins::setting},
    {"len", Builtins::length},
    {"list", ListBuiltins::copy_of_list},
    {"max", ListBuiltins::greatest},
    {"min", ListBuiltins::least},
    {"mul", ListBuiltins::repeated},
    {"ne", Builtins::not_equal},
    {"numel", Builtins::element_count},
    {"percentFormat", Builtins::text},
    {"range", ListBuiltins::range},
    {"requires_grad", Builtins::no},
    {"shape", Builtins::size},
    {"size", Builtins::size},
    {"slice", ListBuiltins::slice},
    {"squeeze", Builtins::squeeze},
    {"str", Builtins::text},
    {"sum", ListBuiltins::sum},
    {"tensor", ListBuiltins::tensor},
    {"to", Builtins::to},
    {"type", Builtins::device_type},
    {"unchecked_cast", Builtins::same},
    {"unchecked_unwrap_optional", Builtins::first},
    {"uninitialized", Builtins::none},
    {"values", ListBuiltins::dict_values},
    {"warn", Builtins::none},
});

}  // namespace

Builtin find_builtin(std::string_view name) {
  const auto before = [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; };
  const auto* const found = std::lower_bound(kBuiltins.begin(), kBuiltins.end(), name, before);
  return found != kBuiltins.end() && found->name == name ? found->function : nullptr;
}

}  // namespace joulecast::torchscript
