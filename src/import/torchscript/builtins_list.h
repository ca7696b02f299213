// SPDX-License-Identifier: Apache-2.0
// Functions of the language that make and change lists, tuples and dicts. Their names are in builtins.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "import/torchscript/importer.h"

namespace joulecast::torchscript {

// Each answers nothing where its arguments are those of an operator of the same name.
struct ListBuiltins {
  using Answer = Result<std::optional<Item>>;

  static Answer element_at(Importer& i, const Arguments& a);
  static Answer range(Importer& i, const Arguments& a);
  static Answer append(Importer& i, const Arguments& a);
  static Answer extend(Importer& i, const Arguments& a);
  static Answer insert(Importer& i, const Arguments& a);
  static Answer set_item(Importer& i, const Arguments& a);
  static Answer contains(Importer& i, const Arguments& a);
  static Answer joined(Importer& i, const Arguments& a);
  static Answer repeated(Importer& i, const Arguments& a);
  static Answer slice(Importer& i, const Arguments& a);
  static Answer copy_of_list(Importer& i, const Arguments& a);
  static Answer all(Importer& i, const Arguments& a);
  static Answer any(Importer& i, const Arguments& a);
  static Answer keys(Importer& i, const Arguments& a);
  static Answer dict_values(Importer& i, const Arguments& a);
  static Answer least(Importer& i, const Arguments& a);
  static Answer greatest(Importer& i, const Arguments& a);
  static Answer sum(Importer& i, const Arguments& a);
  static Answer range_length(Importer& i, const Arguments& a);
  static Answer index_in_range(Importer& i, const Arguments& a);
  static Answer dict(Importer& i, const Arguments& a);
  static Answer tensor(Importer& i, const Arguments& a);

 private:
  static Result<void> bounded(Importer& i, std::size_t size);
  static Answer all_or_any(Importer& i, const Arguments& a, bool any);
  static bool flatten(const Importer& i, const Item& item, std::size_t depth, std::vector<Item>& out, Shape& shape);
  static Result<std::array<std::int64_t, 3>> whole_numbers(const Arguments& a);
  static Answer of_dict(Importer& i, const Arguments& a, std::size_t from);
  static Answer extreme(Importer& i, const Arguments& a, std::string_view name);
};

}  // namespace joulecast::torchscript
