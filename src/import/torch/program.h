// SPDX-License-Identifier: Apache-2.0
// The parts of a serialised torch.export program, as torch 2.1 to 2.13 write them (torch/_export/serde/schema.py has
// the newest): what changed between versions ends here.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "import/json.h"
#include "joulecast/graph.h"

namespace joulecast::torch {

// An object of which one key has a value: "as_tensor", ... torch 2.1 writes the others as null.
struct Choice {
  std::string_view tag;  // empty where nothing is set
  const Json* value = nullptr;
};
Choice chosen(const Json& value);

// ScalarType, as a number. Unknown ones are kUnknown.
ElementType element_of(const Json& scalar_type);

// One extent of a tensor: a number, a symbol, or an expression of symbols (both empty).
struct Extent {
  std::optional<std::int64_t> number;
  std::string_view symbol;
};

struct TensorMeta {
  ElementType element = ElementType::kUnknown;
  std::vector<Extent> extents;

  // -1 where an extent is no number; nothing for more than kMaxRank axes or absurd extents.
  [[nodiscard]] std::optional<TensorType> type() const;
};
Result<TensorMeta> tensor_meta(const Json& value);

// "s0", or Symbol('s0', integer=True, positive=True) as torch 2.6 and later write it; empty for other expressions.
std::string_view plain_symbol(std::string_view expression);

// Parameters are weights; buffers and constants of the program are not trained.
enum class InputKind : std::uint8_t { kUser, kWeight, kBuffer, kOther };

struct InputSpec {
  InputKind kind = InputKind::kOther;
  std::string_view name;           // in the graph
  std::string_view target;         // of a weight or buffer: what the module calls it
  const Json* argument = nullptr;  // of the user's
};

struct Signature {
  std::vector<InputSpec> inputs;
  std::vector<const Json*> outputs;  // arguments the user gets; no mutated buffers
};
Result<Signature> read_signature(const Json& graph_module);

}  // namespace joulecast::torch
