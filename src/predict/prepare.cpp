// SPDX-License-Identifier: Apache-2.0
// Everything about a network that does not depend on the GPU.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/saturating.h"
#include "graph/batch_axis.h"
#include "graph/walk.h"
#include "joulecast/passes.h"
#include "joulecast/predict.h"
#include "predict/autocast.h"
#include "predict/fuse.h"
#include "predict/lower.h"
#include "predict/memory.h"
#include "predict/nvfp4.h"
#include "predict/tensorflow.h"

namespace joulecast {

Workload::Workload() = default;
Workload::Workload(const Workload&) = default;
Workload::Workload(Workload&&) noexcept = default;
Workload& Workload::operator=(Workload&&) noexcept = default;
Workload::~Workload() = default;

std::string_view name(Support support) {
  static constexpr std::array<std::string_view, 3> kNames{"inside", "edge", "outside"};
  return kNames[static_cast<std::size_t>(support)];
}

namespace {

// Networks are stored in FP32 and cast as a whole.
void apply_precision(Precision precision, TypeTable& types) {
  switch (precision) {
    case Precision::kFp64:
      return types.replace(ElementType::kFloat32, ElementType::kFloat64);
    case Precision::kFp16:
      return types.replace(ElementType::kFloat32, ElementType::kFloat16);
    case Precision::kBf16:
      return types.replace(ElementType::kFloat32, ElementType::kBFloat16);
    case Precision::kFp8:
      return types.replace(ElementType::kFloat32, ElementType::kFloat8E4M3);
    case Precision::kNvfp4:  // and weights of layers by quantise_weights()
      return types.replace(ElementType::kFloat32, ElementType::kBFloat16);
    case Precision::kAmp:  // the graph has its casts
    case Precision::kAmpBf16:
    case Precision::kFp32:
    case Precision::kTf32:
    case Precision::kTf32All:
      return;
  }
}

// What an operator that nobody knows computes at most, if it is of the usual kind. A product of x [m, k] and w [k, n]
// multiplies and adds sqrt(m k * k n * m n) times, a convolution a few times that; a transform or an activation some
// dozens of times an element.
double flops_at_most(const Visit& visit) {
  constexpr double kProducts = 4, kAnElement = 64;
  double largest = 0;
  double second = 0;
  double made = 0;
  const auto elements = [&](ValueId id) {
    return id == kNoValue ? 0.0 : static_cast<double>(visit.types.type(id).elements());
  };
  for (const ValueId id : visit.node.inputs) {
    second = std::max(second, std::min(largest, elements(id)));
    largest = std::max(largest, elements(id));
  }
  for (const ValueId id : visit.node.outputs) made += elements(id);
  return 2 * kProducts * std::sqrt(largest * second * made) + kAnElement * (largest + made);
}

// Sums over the whole network, filled node by node.
struct Totals {
  Cost sum;
  std::vector<double> saved;  // for backward by node, besides values of the graph itself; bodies are not kept whole
  std::map<std::string, UnknownOperator> unknown;

  void add(const Visit& visit, const Cost& cost, bool in_body) {
    const auto factor = static_cast<double>(visit.repetitions);
    sum.forward_flops += cost.forward_flops * factor;
    sum.backward_flops += cost.backward_flops * factor;
    sum.forward_read += cost.forward_read * factor;
    sum.forward_written += cost.forward_written * factor;
    sum.backward_read += cost.backward_read * factor;
    sum.backward_written += cost.backward_written * factor;
    if (!in_body) saved[static_cast<std::size_t>(&visit.node - visit.graph.nodes.data())] = cost.saved.value();
    if (const auto* opaque = std::get_if<Opaque>(&visit.node.op)) {
      UnknownOperator& u = unknown[opaque->name];
      u.name = opaque->name;
      u.count = saturating_sum(u.count, visit.repetitions);
      u.byte_share += (cost.forward_read + cost.forward_written).value() * factor;
      u.flops_at_most += flops_at_most(visit) * factor;
    }
  }

  // Bytes of each become shares of all.
  [[nodiscard]] std::vector<UnknownOperator> unknown_operators() const {
    const double bytes = (sum.forward_read + sum.forward_written).value();
    std::vector<UnknownOperator> out;
    for (const auto& [key, found] : unknown) {
      out.push_back(found);
      out.back().byte_share = bytes > 0.0 ? found.byte_share / bytes : 0.0;
    }
    return out;
  }
};

// Running mean and variance are no parameters in PyTorch's sense: nothing trains them.
std::vector<bool> buffers_of(const Graph& graph) {
  std::vector<bool> out(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    if (!std::holds_alternative<BatchNorm>(node.op)) continue;
    for (std::size_t i = 3; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != kNoValue) out[index(node.inputs[i])] = true;
    }
  }
  return out;
}

void add_parameters(const Graph& graph, const TypeTable& types, Workload& load) {
  const std::vector<bool> buffers = buffers_of(graph);
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].kind != ValueKind::kParameter) continue;
    const TensorType& type = types.type(ValueId{static_cast<std::uint32_t>(i)});
    load.total.parameters += type.bytes();
    if (buffers[i]) continue;
    load.total.parameter_count += type.elements();
    ++load.parameter_tensors;
  }
}

// What a runtime's prediction rests on, where that is less than usual.
void note_runtime(const PrepareOptions& options, Workload& load) {
  const bool training = options.mode == Mode::kTraining;
  if (options.runtime == Runtime::kPytorchCompiled) {
    load.notes.emplace_back(training
                                ? "torch.compile: fused kernels follow from rules, and no training step was measured"
                                : "torch.compile: fused kernels follow from rules, checked on networks in inference");
  } else if (options.runtime == Runtime::kTensorflow) {
    load.notes.emplace_back(
        training
            ? "tensorflow: with Keras' loop and the batch's copy to the GPU; checked on steps of CNNs"
            : "tensorflow: with Keras' loop and the batch's copy to the GPU; of networks only training was measured");
    load.notes.emplace_back(
        "tensorflow: it takes all of the GPU's memory at its start; memory is what the network needs");
  } else if (options.layout == Layout::kChannelsLast) {
    load.notes.emplace_back("channels-last: convolutions follow from rules, checked on networks");
    if (training)
      load.notes.emplace_back("channels-last: grouped convolutions train up to four times slower than predicted");
  }
}

Bytes input_bytes(const Graph& graph, const TypeTable& types) {
  Bytes out;
  for (const GraphInput& input : graph.inputs) out += types.type(input.value).bytes();
  return out;
}

// How images lie where the runtime has a say.
Layout layout_of(const Graph& graph, const TypeTable& types, Precision precision, const PrepareOptions& options) {
  switch (options.runtime) {
    case Runtime::kPytorchCompiled:
      return compiled_layout(graph, types, options.mode, options.layout);
    case Runtime::kTensorflow:
      return tensorflow_layout(precision);
    default:
      return options.layout;
  }
}

// Of the graph as it is executed.
Result<Workload> prepare_executed(const Graph& graph, const Binding& binding, const PrepareOptions& options) {
  JC_ASSIGN_OR_RETURN(TypeTable types, infer_types(graph, binding));
  const Precision precision = options.precision.value_or(default_precision(options.runtime));
  apply_precision(precision, types);
  const bool nvfp4 = precision == Precision::kNvfp4;
  if (nvfp4 && options.mode == Mode::kTraining) {
    return unsupported("precision nvfp4: nothing is known of training in FP4; predict its inference, or fp8 or bf16");
  }
  const Bytes scales = nvfp4 ? quantise_weights(graph, types) : Bytes{};
  Workload load;
  load.options = options;
  load.batch = batch_of(graph, types);
  Totals totals;
  totals.saved.resize(graph.nodes.size());
  load.input = input_bytes(graph, types);
  if (options.runtime == Runtime::kTensorflow) load.options.layout = tensorflow_layout(precision);
  NetworkLowering network(graph, {.mode = options.mode,
                                  .precision = precision,
                                  .runtime = options.runtime,
                                  .layout = layout_of(graph, types, precision, options),
                                  .attention = options.attention});
  for_each_operation(graph, types, [&](const Visit& visit) {
    const Cost cost = operator_cost(CostContext(visit.graph, visit.node, visit.types));
    totals.add(visit, cost, &visit.graph != &graph);
    network.add(visit, cost);
  });
  load.operations = std::move(network).take();
  load.memory = plan_memory(graph, types, totals.saved, options);
  load.memory.parameters += scales;
  load.total = totals.sum;
  load.unknown_operators = totals.unknown_operators();
  add_parameters(graph, types, load);
  load.total.parameters += scales;
  for (const GraphNote& note : graph.notes) load.notes.push_back(note.text);
  note_runtime(options, load);
  return load;
}

}  // namespace

namespace {

// Inductor and Grappler merge what is equal.
bool is_compiled(Runtime runtime) {
  return runtime == Runtime::kPytorchCompiled || runtime == Runtime::kTensorflow;
}

Result<Workload> prepare_cast(const Graph& graph, const Binding& binding, const PrepareOptions& options) {
  if (!options.precision || !is_autocast(*options.precision)) return prepare_executed(graph, binding, options);
  const ElementType half = options.precision == Precision::kAmp ? ElementType::kFloat16 : ElementType::kBFloat16;
  const ElementType norms = options.norms_in_halves ? half : ElementType::kFloat32;
  return prepare_executed(autocast(graph, half, norms), binding, options);
}

}  // namespace

Result<Workload> prepare(const Graph& graph, const Binding& binding, const PrepareOptions& options) {
  return is_compiled(options.runtime) ? prepare_cast(merge_equal(graph), binding, options)
                                      : prepare_cast(graph, binding, options);
}

}  // namespace joulecast
