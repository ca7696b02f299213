// SPDX-License-Identifier: Apache-2.0
// What is to be run: values with types, and operators applied to them in order. Extents are numbers; the arithmetic of
// shapes has been done by the main program.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "words.h"

namespace joulecast::runner {

inline constexpr std::int64_t kAbsent = -1;

enum class Kind : std::uint8_t { kComputed, kInput, kParameter, kConstant };

struct Value {
  Kind kind = Kind::kComputed;
  at::ScalarType element = at::kFloat;
  std::vector<std::int64_t> shape;
  std::vector<double> contents;  // of constants whose contents are known
};

struct Step {
  std::string op;
  std::vector<std::int64_t> inputs;   // values; kAbsent for an optional one that is not there
  std::vector<std::int64_t> outputs;  // kAbsent for those nobody reads
  Fields fields;
};

struct Program {
  std::vector<Value> values;
  std::vector<Step> steps;
  std::vector<std::int64_t> outputs;

  // One line of a program: `value`, `node` or `output`. Throws Refusal.
  void add_line(std::string_view line);
  // Throws Refusal where ids point nowhere.
  void check() const;
  [[nodiscard]] const Value& value(std::int64_t id) const { return values[static_cast<std::size_t>(id)]; }
};

}  // namespace joulecast::runner
