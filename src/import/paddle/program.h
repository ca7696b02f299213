// SPDX-License-Identifier: Apache-2.0
// A program of Paddle as both of its files hold it: variables, and blocks of operations on them.
//
// Views are valid as long as the program and the bytes that it was read from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/torch/aten/argument.h"
#include "joulecast/result.h"
#include "joulecast/tensor.h"

namespace joulecast::paddle {

inline constexpr std::size_t kMaxOperations = 250'000;
inline constexpr std::size_t kMaxEntries = 4'000'000;  // of all lists together
inline constexpr std::size_t kMaxBlockDepth = 16;

using VariableId = std::uint32_t;
inline constexpr VariableId kNoVariable = std::numeric_limits<VariableId>::max();

struct Variable {
  std::string_view name;
  // -1 for an extent that is only known when the program runs. Of a list one for every tensor in it; nothing where the
  // file does not say, or says something that no tensor is.
  std::vector<std::optional<TensorType>> types;
  bool list = false;
  bool persistable = false;  // its contents are in the file beside
};

struct Slot {
  std::string_view name;  // empty where places count
  std::vector<VariableId> variables;
};

struct Attribute {
  std::string_view name;
  aten::Argument value;
};

struct Operation {
  std::string_view type;   // "conv2d", without a dialect
  std::string_view place;  // where in the network, as far as the file tells
  std::vector<Slot> inputs, outputs;
  std::vector<Attribute> attributes;
  std::vector<std::uint32_t> blocks;  // of control flow

  [[nodiscard]] const aten::Argument* find(std::string_view name) const {
    for (const Attribute& attribute : attributes) {
      if (attribute.name == name) return &attribute.value;
    }
    return nullptr;
  }
};

struct Block {
  std::vector<VariableId> arguments;
  std::vector<Operation> operations;
};

struct Program {
  std::vector<Variable> variables;
  std::vector<Block> blocks;  // the first is the program's own
  bool by_names = false;      // as Paddle 2 writes it: slots have names, and a variable may be written several times
  std::deque<std::string> texts;

  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
};

// A VarType::Type of Paddle's framework.proto; kUnknown where it is no element type.
ElementType element_of(std::int64_t var_type);

}  // namespace joulecast::paddle
