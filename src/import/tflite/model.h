// SPDX-License-Identifier: Apache-2.0
// The tables of a TensorFlow Lite model as light structs of views into the file's bytes. Weights are not looked at.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "import/tflite/flatbuffer.h"
#include "joulecast/result.h"
#include "joulecast/tensor.h"

namespace joulecast::tflite {

struct TensorView {
  std::string_view name;
  std::int64_t type = 0;  // a TensorType of the schema
  Shape shape;            // -1 for an extent that the file leaves open
  bool known_rank = true;
  bool variable = false;   // keeps its contents from one run to the next
  bool quantized = false;  // integers that stand for real numbers
  bool sparse = false;
  bool constant = false;      // has contents, in the file or beside it
  std::string_view contents;  // empty where they are elsewhere
};

struct OperatorView {
  std::int64_t code = 0;    // a BuiltinOperator of the schema
  std::string_view custom;  // the name of one that is not built in
  std::string_view custom_options;
  FlatTable options;                          // what they are the code tells
  std::vector<std::int32_t> inputs, outputs;  // places of tensors; -1 for an input that is left out
};

struct SubgraphView {
  std::string_view name;
  std::vector<TensorView> tensors;
  std::vector<std::int32_t> inputs, outputs;
  std::vector<OperatorView> operators;
};

// What users call a subgraph, and its tensors.
struct SignatureView {
  struct Name {
    std::string_view name;
    std::int64_t tensor = 0;
  };
  std::string_view key;
  std::int64_t subgraph = 0;
  std::vector<Name> inputs, outputs;
};

struct ModelView {
  std::vector<SubgraphView> subgraphs;
  std::vector<SignatureView> signatures;
};

// `file` must outlive what comes back. Errors: kInvalidInput for bytes that are no such model, kUnsupported beyond
// limits that no real model comes near.
Result<ModelView> read_model(const FlatBuffer& file, std::string_view bytes);

}  // namespace joulecast::tflite
