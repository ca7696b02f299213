// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/notes.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace joulecast::onnx {
namespace {

// Fewer than this, and a network may well have been designed without batch norms.
constexpr std::size_t kManyConvolutions = 8;

// Exporters known to fold batch norms into convolutions: torch.onnx (in eval mode, and its optimizer), tf2onnx,
// paddle2onnx, and files that a runtime or simplifier has optimised and saved.
constexpr std::array<std::string_view, 6> kFolding{"pytorch",     "tf2onnx",         "paddle",
                                                   "onnxruntime", "onnx-simplifier", "onnx.optimizer"};

bool folds(std::string_view producer) {
  std::string lower(producer);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::any_of(kFolding.begin(), kFolding.end(),
                     [&](std::string_view known) { return lower.find(known) != std::string::npos; });
}

// torch.onnx keeps the name of a module's own bias ("features.0.bias"); a bias that folding made has another:
// "onnx::Conv_123" (TorchScript), "features.0.0.weight_bias" (its optimizer).
bool is_module_bias(std::string_view name) {
  return name == "bias" || name.ends_with(".bias");
}

struct Convolutions {
  std::size_t with_bias = 0, with_made_bias = 0, batch_norms = 0;
};

Convolutions count(const GraphView& graph) {
  Convolutions out;
  for (const NodeView& node : graph.nodes) {
    if (node.op_type == "BatchNormalization") ++out.batch_norms;
    if (node.op_type != "Conv" || node.inputs.size() < 3 || node.inputs[2].empty()) continue;
    ++out.with_bias;
    if (!is_module_bias(node.inputs[2])) ++out.with_made_bias;
  }
  return out;
}

}  // namespace

std::vector<std::string> notes_on(const ModelView& model) {
  if (!model.graph || !folds(model.producer)) return {};
  const Convolutions found = count(*model.graph);
  if (found.batch_norms > 0 || found.with_bias < kManyConvolutions) return {};
  // A network of torch whose biases are all its modules' own never had batch norms (VGG).
  if (model.producer == "pytorch" && found.with_made_bias == 0) return {};
  return {
      "batch norms may have been folded into convolutions by the exporter (no BatchNormalization in the file): "
      "PyTorch eager runs them as operations of their own"};
}

}  // namespace joulecast::onnx
