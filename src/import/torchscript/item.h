// SPDX-License-Identifier: Apache-2.0
// What a variable of the code may hold while it is followed: everything but the elements of tensors.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "import/samples.h"
#include "import/torch/aten/argument.h"
#include "import/torchscript/pickle.h"
#include "import/torchscript/syntax.h"
#include "joulecast/graph.h"

namespace joulecast::torchscript {

// A tensor: one cell however many variables hold it, so that who changes it changes it for all.
struct TensorRef {
  std::uint32_t cell = 0;
};

// A number that depends on sizes: a scalar of the graph.
struct Symbol {
  ValueId id = kNoValue;
};

enum class ListKind : std::uint8_t { kList, kTuple, kDict };  // of dicts: key, value, ...
struct ListRef {
  std::uint32_t list = 0;
};

struct ObjectRef {
  std::uint32_t instance = 0;
};

struct FunctionRef {
  const Source* source = nullptr;
  const Function* function = nullptr;
};

struct ClassRef {
  const Source* source = nullptr;
  const Class* type = nullptr;
  std::string_view name;
};

// Devices, layouts, memory formats: what changes no work.
struct Setting {};

// A number or truth that depends on data, or on sizes: then what it is for those of the samples.
struct Unknown {
  std::optional<std::array<double, kSamples>> samples;
};

// Tensors of which nobody said yet how many: x.split(3) before it is unpacked.
struct PendingRef {
  std::uint32_t pending = 0;
};

// std::monostate is None.
using Item = std::variant<std::monostate, bool, std::int64_t, double, std::string_view, TensorRef, Symbol, ListRef,
                          ObjectRef, FunctionRef, ClassRef, Setting, Unknown, PendingRef>;

struct List {
  ListKind kind = ListKind::kList;
  std::vector<Item> items;
  std::vector<std::string_view> names;  // of the fields of a named tuple
};

using Attributes = std::pmr::map<std::string_view, Item>;

// An object of a class of the file: of the pickle, or made by the code.
struct Instance {
  std::optional<PickleId> pickled;
  std::string path;  // "layer1.0.conv1"
  ClassRef type;
  Attributes attributes;  // as far as they were read or written
  // Where the attributes of a large pickled state stand, once one was asked for.
  std::optional<std::unordered_map<std::string_view, std::size_t>> places = {};
};

struct Arguments {
  std::vector<Item> items;
  std::vector<std::pair<std::string_view, Item>> named;
};

// How a view shows its base.
struct View {
  std::uint32_t base = 0;
  std::string_view name;  // the operator
  std::vector<std::pair<std::string_view, aten::Argument>> arguments;
};

struct Cell {
  ValueId value = kNoValue;  // of inputs whose shape nobody told: none
  std::optional<View> view;
  std::string input;
};

struct Pending {
  std::string name;  // the operator
  Arguments arguments;
  Item tensors;  // None until they are made
};

template <typename T>
const T* held(const Item& item) {
  return std::get_if<T>(&item);
}

}  // namespace joulecast::torchscript
