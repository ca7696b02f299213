// SPDX-License-Identifier: Apache-2.0
#include "predict/measured_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "predict/lower.h"

namespace joulecast {
namespace {

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

// NeuSight timed bare loops; its V100 and P100 machines were slower, those of its AMD GPUs (with PyTorch 2.4) faster.
// Three quarters of the V100's products of activations waited 48 us each and the others 40, in long runs of rows.
double loop_scale(const MeasuredOperation& row) {
  const std::string& gpu = row.at.gpu;
  const bool product = std::holds_alternative<MatMul>(row.graph->nodes[0].op);
  if (gpu.find("V100") != std::string_view::npos) return product ? 1.5 : 1.24;
  if (gpu.find("MI") != std::string_view::npos) return 0.68;
  return gpu.find("P100") != std::string_view::npos ? 1.65 : 1.0;
}

// The machines of the published tables.
Situation situation_of(const MeasuredOperation& row) {
  Situation out;
  out.state = row.at.mode == Mode::kTraining ? State::kTraining
              : row.train_state_module       ? State::kTrainForward
                                             : State::kEval;
  if (row.at.runtime == Runtime::kCudaGraph) {
    out.host = Host::kCaptured;
    out.engine = begins(row.at.software, "vllm")      ? Engine::kVllm
                 : begins(row.at.software, "trtllm")  ? Engine::kTensorRtLlm
                 : begins(row.at.software, "pytorch") ? Engine::kPytorch
                                                      : Engine::kSglang;
    out.block_scaled = row.kernel.find("fp8_block") != std::string::npos;
  } else if (begins(row.from.table, "neusight")) {
    out.host = Host::kBare;
    out.host_scale = loop_scale(row);
    out.swept = row.from.split == "train";
  } else if (row.at.gpu == "rtx2080ti") {
    out.host = Host::kOlder;
  }
  return out;
}

// What the row says and the graph does not show.
void adjust(Work& work, const MeasuredOperation& row, State state) {
  const bool by_vllm = row.from.table == "vidur_llm_ops";  // which runs its layers
  if (auto* norm = std::get_if<ReductionWork>(&work)) norm->by_engine = by_vllm;
  auto* pointwise = std::get_if<PointwiseWork>(&work);
  if (pointwise == nullptr) return;
  pointwise->in_place = row.inplace ? 1 : 0;
  const Node& node = row.graph->nodes[0];
  const auto* activation = std::get_if<Activation>(&node.op);
  const bool gated = activation != nullptr && activation->kind == ActivationKind::kGlu;
  if (gated && by_vllm) pointwise->gated_rows = row.graph->value(node.inputs[0]).type.shape.front();
  if (pointwise->kind != PointwiseKind::kStochasticDepth) return;
  const auto& op = std::get<StochasticDepth>(row.graph->nodes[0].op);
  pointwise->active = state != State::kEval && op.probability > 0.0;
  if (pointwise->active)
    pointwise->forward_bytes = 2 * static_cast<std::int64_t>(row.graph->value(node.inputs[0]).type.bytes().value());
}

}  // namespace

namespace {

// What a call costs on the machines of the tables of networks, relative to the profile's machine, one number a machine
// and mode, and what the memory of those is worth that copy their input to the GPU. Fitted by tools/accuracy/hosts.py.
struct Machine {
  std::string_view table, gpu_id;
  std::string_view campaign;  // where one GPU was in several machines
  HostProfile profile;
  double inference, training;
  double input_copy = 0.0;  // GB/s; 0: no copy is seen in the times
};
constexpr std::array<Machine, 29> kMachines{{
    // Sessions of TensorFlow 1, without the loop of Keras that the reference machine's steps have.
    {"cde_conv", "gtx-1080-ti", "", HostProfile::kModern, 0.20, 0.33},
    {"cde_conv", "p100-pcie-16gb", "", HostProfile::kModern, 0.18, 0.17},
    {"cde_conv", "tesla-k40", "", HostProfile::kModern, 0.32, 0.45},
    {"cde_conv", "tesla-k80", "", HostProfile::kModern, 0.21, 0.26},
    {"cde_conv", "tesla-m60", "", HostProfile::kModern, 0.19, 0.35},
    {"cde_conv", "", "", HostProfile::kModern, 0.22, 0.31},  // any other: the means of these, as below
    {"cde_dense", "gtx-1080-ti", "", HostProfile::kModern, 0.10, 0.25},
    {"cde_dense", "p100-pcie-16gb", "", HostProfile::kModern, 0.23, 0.27},
    {"cde_dense", "tesla-k40", "", HostProfile::kModern, 0.19, 0.48},
    {"cde_dense", "tesla-k80", "", HostProfile::kModern, 0.17, 0.32},
    {"cde_dense", "tesla-m60", "", HostProfile::kModern, 0.11, 0.17},
    {"cde_dense", "v100-sxm2-16gb", "", HostProfile::kModern, 0.13, 0.30},
    {"cde_dense", "", "", HostProfile::kModern, 0.16, 0.30},
    {"heidelberg_networks", "rtx-2080-ti", "", HostProfile::kOlder, 1.0, 1.5},
    {"help_nasbench201", "gtx-1080-ti", "", HostProfile::kModern, 1.86, 1.86},
    {"help_nasbench201", "rtx-2080-ti", "", HostProfile::kModern, 1.49, 1.49},
    {"help_nasbench201", "titan-x-pascal", "", HostProfile::kModern, 1.75, 1.75},
    {"help_nasbench201", "titan-xp", "", HostProfile::kModern, 1.79, 1.79},
    {"help_nasbench201", "", "", HostProfile::kModern, 1.7, 1.7},  // any other: the mean of these
    {"profet_train", "t4", "", HostProfile::kModern, 1.1, 1.1},
    {"profet_train", "tesla-k80", "", HostProfile::kModern, 1.5, 1.5},
    {"profet_train", "v100-sxm2-16gb", "", HostProfile::kModern, 1.5, 1.5},
    {"torchvision_gpu_benchmark", "a100-sxm4-40gb", "", HostProfile::kModern, 1.50, 1.65, 4.5},
    {"torchvision_gpu_benchmark", "gtx-1080-ti", "", HostProfile::kModern, 1.46, 1.60, 3.4},
    {"torchvision_gpu_benchmark", "rtx-2080-ti", "2080TI", HostProfile::kModern, 1.02, 1.88},
    {"torchvision_gpu_benchmark", "rtx-2080-ti", "2080ti(2)", HostProfile::kModern, 1.24, 1.92, 5.0},
    {"torchvision_gpu_benchmark", "titan-v", "", HostProfile::kModern, 0.99, 1.22},
    {"torchvision_gpu_benchmark", "titan-xp", "", HostProfile::kModern, 1.81, 2.69, 1.0},
    // Any other: the means of these, of copies where there are any.
    {"torchvision_gpu_benchmark", "", "", HostProfile::kModern, 1.3, 1.8, 3.5},
}};

bool stands_for(const Machine& machine, const MeasuredNetwork& row, const Gpu& gpu) {
  return machine.table == row.from.table && (machine.gpu_id.empty() || machine.gpu_id == gpu.id) &&
         (machine.campaign.empty() || machine.campaign == row.at.campaign);
}

}  // namespace

MeasuredHost measured_host(const MeasuredNetwork& row, const Gpu& gpu) {
  const auto found = std::find_if(kMachines.begin(), kMachines.end(),
                                  [&](const Machine& machine) { return stands_for(machine, row, gpu); });
  if (found == kMachines.end()) return {};
  MeasuredHost out{{found->profile, row.at.mode == Mode::kTraining ? found->training : found->inference}, {}};
  if (found->input_copy > 0.0) out.input_copy = BytesPerSecond{1e9 * found->input_copy};
  return out;
}

tl::unexpected<Error> no_host_model(const Circumstances& at) {
  if (at.software.empty()) return unsupported("no runtime is stated, 'pytorch-eager' for example");
  return unsupported(fmt::format("no host model for '{}'", at.software));
}

namespace {

bool is_empty(const CostContext& context) {
  if (context.output().elements() == 0) return true;
  for (std::size_t i = 0; i < context.node().inputs.size(); ++i) {
    if (context.has(i) && context.input(i).elements() == 0) return true;
  }
  return false;
}

}  // namespace

Result<MeasuredWork> measured_work(const MeasuredOperation& row) {
  if (!row.at.runtime) return no_host_model(row.at);
  // The laws hold for forward and both gradients.
  if (!row.input_gradient) return unsupported("measured without its input's gradient");
  if (row.at.runtime == Runtime::kTensorflow) return unsupported("a single operation in TensorFlow");
  JC_ASSIGN_OR_RETURN(const TypeTable types, infer_types(*row.graph, {}));
  const Situation situation = situation_of(row);
  const bool by_engine = situation.host == Host::kCaptured && situation.engine != Engine::kPytorch;
  NodeLowering lowering({.mode = row.at.mode,
                         .precision = row.at.precision,
                         .runtime = *row.at.runtime,
                         .attention = by_engine ? AttentionKernels::kEngines : AttentionKernels::kFusedOrFp32},
                        *row.graph);
  std::vector<LoweredOperation> found;
  const CostContext context(*row.graph, row.graph->nodes[0], types);
  if (is_empty(context)) return unsupported("of no elements");
  // What is broadcast is a mask more often than a parameter.
  for (std::size_t i = 0; i < context.node().inputs.size(); ++i) {
    if (context.has(i) && context.input(i).elements() == context.output().elements())
      lowering.want_gradient(context.node().inputs[i]);
  }
  lowering.lower(context, operator_cost(context), found);
  if (row.inputs_skipped) std::erase_if(found, [](const LoweredOperation& one) { return !is_recurrent(one.work); });
  if (found.size() != 1) return unsupported(fmt::format("runs as {} kernels", found.size()));
  if (found[0].count != 1) return unsupported("a layer in both directions");
  MeasuredWork out{found[0].work, situation};
  adjust(out.work, row, out.situation.state);
  return out;
}

}  // namespace joulecast
