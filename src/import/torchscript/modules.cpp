// SPDX-License-Identifier: Apache-2.0
// Objects of the archive's pickles: modules with their attributes, weights, constants.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "import/text.h"
#include "import/torch/aten/weight_kind.h"
#include "import/torchscript/importer.h"

namespace joulecast::torchscript {
namespace {

constexpr std::size_t kMaxDepth = 100;

// Whether the class lists the name: __buffers__ = ["running_mean", ]
bool is_buffer(const ClassRef& type, std::string_view name) {
  if (type.type == nullptr) return false;
  const auto list = type.type->constants.find("__buffers__");
  if (list == type.type->constants.end()) return false;
  const auto names = type.source->children_of(type.source->expr(list->second));
  return std::any_of(names.begin(), names.end(), [&](ExprId id) { return type.source->expr(id).text == name; });
}

std::string joined(std::string_view path, std::string_view name) {
  std::string out;
  out.reserve(path.size() + 1 + name.size());
  out += path;
  if (!path.empty()) out += '.';
  return out += name;
}

}  // namespace

// Lists and dicts are copied; what holds itself is refused by its depth.
Result<Item> Importer::object(PickleFile file, PickleId id, const std::string& path, std::size_t depth) {
  if (depth > kMaxDepth) return unsupported("objects nested too deep");
  JC_RETURN_IF_ERROR(count_step());
  const Pickle& pickle = archive_.pickle(file);
  const PickleValue& value = pickle.value(id);
  switch (value.kind) {
    case PickleKind::kNone:
      return Item{};
    case PickleKind::kBool:
      return Item(value.whole != 0);
    case PickleKind::kInteger:
      return Item(value.whole);
    case PickleKind::kReal:
      return Item(value.real);
    case PickleKind::kText:
      return Item(value.text);
    case PickleKind::kTensor:
      return weight(file, pickle.tensor(value), path, false);
    case PickleKind::kObject: {
      if (const auto found = objects_.find(id); found != objects_.end()) return Item(ObjectRef{found->second});
      const auto at = static_cast<std::uint32_t>(instances_.size());
      // Classes of torch itself (packed weights) have no code.
      JC_ASSIGN_OR_RETURN(const ClassRef type, class_named(joined(value.text, value.name)));
      instances_.push_back({id, printable(path, kLongestInGraph), type, Attributes(&memory_)});
      if (file == PickleFile::kData) objects_.emplace(id, at);
      return Item(ObjectRef{at});
    }
    case PickleKind::kList:
    case PickleKind::kTuple:
    case PickleKind::kDict: {
      std::vector<Item> items;
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        JC_ASSIGN_OR_RETURN(Item item, object(file, value.items[i], joined(path, fmt::to_string(i)), depth + 1));
        items.push_back(item);
      }
      const ListKind kind = value.kind == PickleKind::kList    ? ListKind::kList
                            : value.kind == PickleKind::kTuple ? ListKind::kTuple
                                                               : ListKind::kDict;
      return new_list(kind, std::move(items));
    }
    default:
      return Item(Setting{});
  }
}

bool Importer::ByPlace::operator()(const PickleTensor* a, const PickleTensor* b) const {
  if (const int order = a->storage.compare(b->storage); order != 0) return order < 0;
  const auto rest = [](const PickleTensor& t) { return std::tie(t.offset, t.type.element); };
  if (rest(*a) != rest(*b)) return rest(*a) < rest(*b);
  const auto before = [](const Shape& one, const Shape& other) {
    return std::lexicographical_compare(one.begin(), one.end(), other.begin(), other.end());
  };
  if (!(a->type.shape == b->type.shape)) return before(a->type.shape, b->type.shape);
  return before(a->strides, b->strides);
}

// The same bytes are the same weight, whatever it is called.
Result<Item> Importer::weight(PickleFile file, const PickleTensor& tensor, const std::string& path, bool buffer) {
  if (tensor.type.element == ElementType::kUnknown) {
    return unsupported(fmt::format("weight '{}' has an element type we do not know", printable(path)));
  }
  auto& weights = weights_[static_cast<std::size_t>(file)];
  if (const auto found = weights.find(&tensor); found != weights.end()) return Item(TensorRef{found->second});
  const ValueKind kind = aten::weight_kind(tensor.type, path, buffer);
  std::optional<Contents> contents;
  // What is computed from a table is computed, each time.
  if (kind == ValueKind::kConstant && !(buffer && is_floating(tensor.type.element)))
    contents = archive_.contents(file, tensor);
  const ValueId id = builder_.add_constant(path, tensor.type, std::move(contents), kind);
  samples_.add_source(builder_.graph, id);
  const Item out = new_tensor(id);
  weights.emplace(&tensor, held<TensorRef>(out)->cell);
  return out;
}

Result<ClassRef> Importer::class_named(std::string_view qualified_name) {
  if (const auto found = classes_.find(qualified_name); found != classes_.end()) return found->second;
  ClassRef out;
  if (!qualified_name.starts_with("__torch__.torch.classes.")) {
    JC_ASSIGN_OR_RETURN(const ClassInFile found, archive_.find_class(qualified_name));
    out = {found.source, found.type, {}};
  }
  const auto placed = classes_.emplace(qualified_name, out).first;
  placed->second.name = placed->first;
  return placed->second;
}

namespace {

// Where the key stands in a pickled state. Of a large one, which would be searched for each of its attributes, the
// places are kept.
std::optional<std::size_t> place_of(std::string_view name, const Pickle& pickle, Instance& instance) {
  constexpr std::size_t kMany = 64;
  const auto items = pickle.attributes(*instance.pickled);
  const auto is_text = [&](std::size_t i) { return pickle.value(items[i]).kind == PickleKind::kText; };
  if (items.size() < kMany) {
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      if (is_text(i) && pickle.value(items[i]).text == name) return i;
    }
    return std::nullopt;
  }
  if (!instance.places) {
    instance.places.emplace();
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      if (is_text(i)) instance.places->emplace(pickle.value(items[i]).text, i);
    }
  }
  const auto found = instance.places->find(name);
  return found == instance.places->end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Result<Item> Importer::attribute(const ObjectRef& ref, std::string_view name) {
  Instance& instance = instances_[ref.instance];
  if (const auto found = instance.attributes.find(name); found != instance.attributes.end()) return found->second;
  if (instance.pickled) {
    const Pickle& pickle = archive_.pickle(PickleFile::kData);
    if (const auto place = place_of(name, pickle, instance)) {
      const auto items = pickle.attributes(*instance.pickled);
      const PickleValue& held_value = pickle.value(items[*place + 1]);
      const std::string path = joined(instance.path, name);
      JC_ASSIGN_OR_RETURN(Item item, held_value.kind == PickleKind::kTensor && is_buffer(instance.type, name)
                                         ? weight(PickleFile::kData, pickle.tensor(held_value), path, true)
                                         : object(PickleFile::kData, items[*place + 1], path, 0));
      instances_[ref.instance].attributes.insert_or_assign(pickle.value(items[*place]).text, item);
      return item;
    }
  }
  JC_ASSIGN_OR_RETURN(const auto constant, class_constant(instance.type, name));
  if (constant) return *constant;
  return invalid(fmt::format("'{}' has no attribute '{}'", printable(instance.path.empty() ? "self" : instance.path),
                             printable(name)));
}

// name : Final[int] = 3, or the member of an enumeration.
Result<std::optional<Item>> Importer::class_constant(const ClassRef& type, std::string_view name) {
  if (type.type == nullptr) return std::optional<Item>{};
  const auto found = type.type->constants.find(name);
  if (found == type.type->constants.end()) return std::optional<Item>{};
  static const Function kNone;
  Frame frame(*type.source, kNone, path_);
  JC_ASSIGN_OR_RETURN(Item item, evaluate(found->second, frame));
  return std::optional<Item>(item);
}

// "c3": the fourth of constants.pkl.
Result<Item> Importer::constant(std::string_view name) {
  if (const auto found = constants_.find(name); found != constants_.end()) return found->second;
  const Pickle& pickle = archive_.pickle(PickleFile::kConstants);
  const PickleValue& all = pickle.value(pickle.root());
  std::size_t place = 0;
  bool plain = name.size() > 1 && name.size() < 10 && name[0] == 'c';
  for (std::size_t i = 1; plain && i < name.size(); ++i) {
    plain = name[i] >= '0' && name[i] <= '9';
    place = place * 10 + static_cast<std::size_t>(name[i] - '0');
  }
  if (!plain || all.kind != PickleKind::kTuple || place >= all.items.size()) {
    return invalid(fmt::format("the archive has no constant '{}'", printable(name)));
  }
  JC_ASSIGN_OR_RETURN(Item item,
                      object(PickleFile::kConstants, all.items[place], fmt::format("constants.{}", name), 0));
  constants_.emplace(std::string(name), item);
  return item;
}

// Named tuples have fields and no methods.
Result<Item> Importer::construct(const ClassRef& type, Arguments arguments) {
  if (type.type == nullptr) return unsupported("makes an object of a class without code");
  const auto init = type.type->methods.find("__init__");
  if (init == type.type->methods.end()) {
    const Item out = new_list(ListKind::kTuple, std::move(arguments.items));
    list_of(out)->names.assign(type.type->fields.begin(), type.type->fields.end());
    return out;
  }
  const ObjectRef ref{static_cast<std::uint32_t>(instances_.size())};
  instances_.push_back({std::nullopt, std::string(path_), type, Attributes(&memory_)});
  arguments.items.insert(arguments.items.begin(), Item(ref));
  JC_RETURN_IF_ERROR(call_function({type.source, &init->second}, std::move(arguments), path_));
  return Item(ref);
}

Result<Item> Importer::call_method(const ObjectRef& ref, std::string_view name, Arguments arguments) {
  const Instance& instance = instances_[ref.instance];
  const ClassRef type = instance.type;
  const Function* method = nullptr;
  if (type.type != nullptr) {
    if (const auto found = type.type->methods.find(name); found != type.type->methods.end()) method = &found->second;
  }
  if (method == nullptr) {
    return invalid(fmt::format("'{}' has no method '{}'", printable(type.name), printable(name)));
  }
  arguments.items.insert(arguments.items.begin(), Item(ref));
  return call_function({type.source, method}, std::move(arguments), instance.path);
}

}  // namespace joulecast::torchscript
