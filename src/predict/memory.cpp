// SPDX-License-Identifier: Apache-2.0
#include "predict/memory.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "graph/ops/slice_steps.h"
#include "graph/walk.h"
#include "predict/optimizer.h"
#include "predict/scores.h"
#include "predict/storage.h"
#include "predict/trained.h"

namespace joulecast {
namespace {

// PyTorch's caching allocator: blocks of multiples of 512 B (kMinBlockSize, c10/cuda/CUDACachingAllocator.cpp).
double block(const TensorType& type) {
  constexpr std::int64_t kBits = std::int64_t{512} * 8;
  const std::int64_t bits = type.elements() * bit_width(type.element);  // at most 2^48 elements of 128 bits
  const std::int64_t blocks = (bits + kBits - 1) / kBits;
  return static_cast<double>(blocks) * 512.0;
}

// An output that is only another look at its input takes no memory of its own.
bool is_view(const Operator& op) {
  if (const auto* transpose = std::get_if<Transpose>(&op)) return !transpose->contiguous;
  return std::holds_alternative<Reshape>(op) || std::holds_alternative<Flatten>(op) ||
         std::holds_alternative<Squeeze>(op) || std::holds_alternative<Unsqueeze>(op) ||
         std::holds_alternative<Expand>(op) || std::holds_alternative<Slice>(op) || std::holds_alternative<Split>(op);
}

// What walks backwards is none, nor what joins an axis with one that was repeated.
bool is_view(const Node& node, const TypeTable& types, const std::vector<bool>& repeats) {
  const bool stepped = std::holds_alternative<Slice>(node.op) && node.inputs.size() > 4 && node.inputs[4] != kNoValue;
  if (!is_view(node.op) || (stepped && walks_back(types.known(node.inputs[4])))) return false;
  const bool shapes = std::holds_alternative<Reshape>(node.op) || std::holds_alternative<Flatten>(node.op);
  if (!shapes || !repeats[index(node.inputs[0])] || node.outputs[0] == kNoValue) return true;
  return reshaped(Storage::kGaps, types.type(node.inputs[0]).shape, types.type(node.outputs[0]).shape).has_value();
}

bool is_sum(const Operator& op) {
  const auto* binary = std::get_if<Binary>(&op);
  return binary != nullptr && (binary->kind == BinaryKind::kAdd || binary->kind == BinaryKind::kSub);
}

template <typename... Ops>
bool is_one_of(const Operator& op) {
  return (std::holds_alternative<Ops>(op) || ...);
}

// Whose gradient is made of the result's alone, or of what they keep besides (Cost::saved): masks, places, sizes.
bool saves_nothing(const Operator& op) {
  if (const auto* unary = std::get_if<Unary>(&op))
    return unary->kind == UnaryKind::kNeg || unary->kind == UnaryKind::kSign || unary->kind == UnaryKind::kFloor ||
           unary->kind == UnaryKind::kCeil || unary->kind == UnaryKind::kRound;
  if (const auto* reduce = std::get_if<Reduce>(&op))
    return reduce->kind == ReduceKind::kSum || reduce->kind == ReduceKind::kMean;
  return is_view(op) || is_sum(op) ||
         is_one_of<Concat, Cast, Transpose, Dropout, StochasticDepth, Roll, Pad, Tile, Resize, PixelShuffle, Triangle,
                   Cumulate, TopK, Scatter>(op);
}

// Whose gradient reads the result.
bool saves_output(const Operator& op) {
  if (const auto* unary = std::get_if<Unary>(&op))
    return unary->kind == UnaryKind::kExp || unary->kind == UnaryKind::kSqrt || unary->kind == UnaryKind::kRsqrt ||
           unary->kind == UnaryKind::kReciprocal;
  if (const auto* activation = std::get_if<Activation>(&op))
    return activation->kind == ActivationKind::kRelu || activation->kind == ActivationKind::kLeakyRelu ||
           activation->kind == ActivationKind::kSigmoid || activation->kind == ActivationKind::kTanh;
  return std::holds_alternative<Softmax>(op);
}

// These overwrite their input in the networks people build (inplace=True), where nobody else reads it. In training that
// spares memory only where the gradient reads the result: autograd copies what a gradient reads before it is
// overwritten.
bool in_place(const Operator& op, Mode mode) {
  const auto* activation = std::get_if<Activation>(&op);
  if (activation == nullptr) return false;
  if (activation->kind == ActivationKind::kRelu || activation->kind == ActivationKind::kLeakyRelu) return true;
  return mode == Mode::kInference &&
         (activation->kind == ActivationKind::kSilu || activation->kind == ActivationKind::kHardSwish ||
          activation->kind == ActivationKind::kRelu6);
}

double parameter_bytes(const Graph& graph, const TypeTable& types) {
  double sum = 0.0;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].kind == ValueKind::kParameter) sum += block(types.type(ValueId{static_cast<std::uint32_t>(i)}));
  }
  return sum;
}

// Of parameters that are looked up in, and by nothing else read.
double table_bytes(const Graph& graph, const TypeTable& types) {
  std::vector<bool> looked_up(graph.values.size()), read(graph.values.size());
  for (const Node& node : graph.nodes) {
    const bool looks_up = std::holds_alternative<Gather>(node.op) || std::holds_alternative<Embedding>(node.op);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != kNoValue) (looks_up && i == 0 ? looked_up : read)[index(node.inputs[i])] = true;
    }
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].kind == ValueKind::kParameter && looked_up[i] && !read[i])
      sum += block(types.type(ValueId{static_cast<std::uint32_t>(i)}));
  }
  return sum;
}

// Follows storage, not values: views and in-place results share their input's.
class Liveness {
 public:
  Liveness(const Graph& graph, const TypeTable& types, const PrepareOptions& options)
      : graph_(graph),
        types_(types),
        options_(options),
        storage_(graph.values.size()),
        readers_(graph.values.size(), 0),
        made_by_(graph.values.size(), 0),
        last_use_(graph.values.size(), 0),
        size_(graph.values.size(), 0.0),
        held_(graph.values.size()),
        repeats_(graph.values.size()),
        trained_(trained_values(graph, types)) {
    for (std::size_t i = 0; i < storage_.size(); ++i) storage_[i] = static_cast<std::uint32_t>(i);
    for (const GraphInput& input : graph.inputs) size_[index(input.value)] = block(types.type(input.value));
    assign_storage();
  }

  // The largest sum of live storage, freeing each after its last reader.
  [[nodiscard]] double inference_peak() const {
    // Storages that die with the same node are a list: the node has the first, each storage the next.
    constexpr std::uint32_t kEnd = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> dying(graph_.nodes.size(), kEnd);
    std::vector<std::uint32_t> next(size_.size(), kEnd);
    double live = 0.0;
    for (const GraphInput& input : graph_.inputs) live += size_[index(input.value)];
    for (std::size_t s = 0; s < size_.size(); ++s) {
      if (storage_[s] != s || size_[s] <= 0.0 || last_use_[s] >= graph_.nodes.size()) continue;
      next[s] = std::exchange(dying[last_use_[s]], static_cast<std::uint32_t>(s));
    }
    double peak = live;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (const ValueId id : graph_.nodes[n].outputs) live += own_size(id);
      peak = std::max(peak, live + scores_of(graph_.nodes[n], types_, options_).at_once);
      for (std::uint32_t s = dying[n]; s != kEnd; s = next[s]) live -= size_[s];
    }
    return peak;
  }

  // What lives beside the parameters at the worst moment of a step, and how much of their gradients was made by then.
  // Nodes go backward in reverse order: the gradients of a node's inputs join that of its output, then that is freed,
  // and what was kept for no node before it; then the optimizer's step has its buffers in the place of activations.
  struct TrainingPeak {
    double activations = 0.0, gradients = 0.0;
  };
  [[nodiscard]] TrainingPeak training_peak(std::span<const double> saved, double optimizer_buffers) const {
    Backward walk(*this, saved);
    TrainingPeak worst;
    const auto take = [&](double transient) {
      if (walk.kept + walk.flying + transient + walk.made <= worst.activations + worst.gradients) return;
      worst = {walk.kept + walk.flying + transient, walk.made};
    };
    for (std::size_t n = graph_.nodes.size(); n-- > 0;) {
      const double added = walk.make_gradients(n);
      take(scores_of(graph_.nodes[n], types_, options_).at_once + added);
      walk.release(n);
    }
    if (optimizer_buffers + walk.made > worst.activations + worst.gradients) worst = {optimizer_buffers, walk.made};
    return worst;
  }

 private:
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] double own_size(ValueId id) const {
    return id != kNoValue && storage_[index(id)] == index(id) ? size_[index(id)] : 0.0;
  }

  [[nodiscard]] bool needs_gradient(ValueId id) const {
    return id != kNoValue &&
           (graph_.value(ValueId{storage_[index(id)]}).kind == ValueKind::kParameter || trained_[storage_[index(id)]]);
  }

  // What a backward pass holds as it goes, in bytes.
  struct Backward {
    Backward(const Liveness& of, std::span<const double> saved_beside)
        : at(of), saved(saved_beside), freed_by(of.size_.size(), kNever), gradient(of.size_.size(), -1.0) {
      for (std::size_t n = of.graph_.nodes.size(); n-- > 0;) {
        of.for_each_saved(of.graph_.nodes[n], [&](std::uint32_t storage) { freed_by[storage] = n; });
        kept += beside(n);
      }
      for (std::size_t s = 0; s < freed_by.size(); ++s)
        freed_by[s] = of.held_[s] ? of.graph_.nodes.size() : freed_by[s];
      for (std::size_t s = 0; s < freed_by.size(); ++s) kept += freed_by[s] != kNever ? of.size_[s] : 0.0;
      for (const ValueId id : of.graph_.outputs) fly(of.storage_[index(id)], of.size_[of.storage_[index(id)]]);
    }

    // Of the inputs that something before them made; parameters' stay until the optimizer has read them. Returns what
    // lives only until it is added to a gradient that was there.
    double make_gradients(std::size_t n) {
      const Node& node = at.graph_.nodes[n];
      if (is_view(node, at.types_, at.repeats_)) return 0.0;
      const bool sum = is_sum(node.op);
      if (sum) hand_on(node);
      double added = 0.0;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const ValueId id = node.inputs[i];
        if (id == kNoValue) continue;
        const std::uint32_t storage = at.storage_[index(id)];
        if (gradient[storage] >= 0.0) {
          added += sum ? 0.0 : at.size_[storage];
          continue;
        }
        const ValueKind kind = at.graph_.value(ValueId{storage}).kind;
        if (kind == ValueKind::kParameter && is_statistic(node, i)) continue;
        if (kind == ValueKind::kParameter) {
          gradient[storage] = block(at.types_.type(id));
          made += gradient[storage];
        } else if (at.trained_[storage]) {
          fly(storage, at.size_[storage]);
        }
      }
      return added;
    }

    // The gradient of a sum is that of its summands of the same size, and lives as long as that of the one which was
    // made first.
    void hand_on(const Node& node) {
      if (node.outputs[0] == kNoValue) return;
      double& own = gradient[at.storage_[index(node.outputs[0])]];
      std::vector<std::uint32_t> alike;
      for (const ValueId id : node.inputs) {
        const std::uint32_t storage = id == kNoValue ? 0 : at.storage_[index(id)];
        if (id != kNoValue && at.trained_[storage] && gradient[storage] < 0.0 && at.size_[storage] == own)
          alike.push_back(storage);
      }
      const auto first = std::min_element(alike.begin(), alike.end(), [&](std::uint32_t a, std::uint32_t b) {
        return at.made_by_[a] < at.made_by_[b];
      });
      for (const std::uint32_t storage : alike) gradient[storage] = storage == *first ? std::exchange(own, 0.0) : 0.0;
    }

    // Views and what works in place share their input's.
    void release(std::size_t n) {
      const Node& node = at.graph_.nodes[n];
      for (const ValueId id : node.outputs) {
        if (id == kNoValue || at.storage_[index(id)] != index(id) || gradient[index(id)] < 0.0) continue;
        flying -= std::exchange(gradient[index(id)], 0.0);
      }
      at.for_each_saved(node, [&](std::uint32_t storage) {
        if (std::exchange(freed_by[storage], freed_by[storage] == n ? kNever : freed_by[storage]) == n)
          kept -= at.size_[storage];
      });
      kept -= beside(n);
    }

    double kept = 0.0, flying = 0.0, made = 0.0;

   private:
    void fly(std::uint32_t storage, double bytes) {
      gradient[storage] = bytes;
      flying += bytes;
    }
    [[nodiscard]] double beside(std::size_t n) const {
      return saved[n] + scores_of(at.graph_.nodes[n], at.types_, at.options_).kept;
    }

    const Liveness& at;
    std::span<const double> saved;      // by node, besides values of the graph
    std::vector<std::size_t> freed_by;  // by storage: the last node of backward that reads it
    std::vector<double> gradient;       // by storage, in bytes; negative: none yet
  };

  void assign_storage() {
    for (const Node& node : graph_.nodes) {
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) ++readers_[index(id)];
      }
    }
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      const bool view = is_view(node, types_, repeats_);
      const bool shares = view || (in_place(node.op, options_.mode) && readers_[index(node.inputs[0])] < 2);
      if (view) note_repeats(node);
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) last_use_[storage_[index(id)]] = n;
      }
      for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        if (shares && !node.inputs.empty() && node.inputs[0] != kNoValue) {
          storage_[index(id)] = storage_[index(node.inputs[0])];
        } else if (types_.known(id) == nullptr) {
          size_[index(id)] = block(types_.type(id));
          made_by_[index(id)] = n;
          last_use_[index(id)] = n;
        }
      }
    }
    for (const ValueId id : graph_.outputs) last_use_[storage_[index(id)]] = graph_.nodes.size();
    keep_inputs();
    if (options_.precision && is_autocast(*options_.precision)) keep_cast_parameters();
  }

  // Whoever calls the network holds its inputs, but for caches, in whose place what joins them is kept.
  void keep_inputs() {
    std::vector<bool> joined(graph_.values.size());
    for (const Node& node : graph_.nodes) {
      if (!std::holds_alternative<Concat>(node.op)) continue;
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) joined[index(id)] = true;
      }
    }
    for (const GraphInput& input : graph_.inputs) {
      held_[index(input.value)] = !joined[index(input.value)];
      if (held_[index(input.value)]) last_use_[index(input.value)] = graph_.nodes.size();
    }
  }

  // An expanded value, and another look at one.
  void note_repeats(const Node& node) {
    if (node.inputs.empty() || node.inputs[0] == kNoValue) return;
    const auto more = [&](ValueId id) {
      return std::holds_alternative<Expand>(node.op) &&
             types_.type(id).elements() > types_.type(node.inputs[0]).elements();
    };
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) repeats_[index(id)] = repeats_[index(node.inputs[0])] || more(id);
    }
  }

  // Autocast keeps what it cast of parameters until its context ends (cached_cast(), aten/src/ATen/autocast_mode.cpp).
  void keep_cast_parameters() {
    for (const Node& node : graph_.nodes) {
      if (!std::holds_alternative<Cast>(node.op) || node.outputs[0] == kNoValue) continue;
      if (graph_.value(ValueId{storage_[index(node.inputs[0])]}).kind == ValueKind::kParameter)
        last_use_[storage_[index(node.outputs[0])]] = graph_.nodes.size();
    }
  }

  // By autograd's definitions (tools/autograd/derivatives.yaml): matrix work and norms save their inputs, products both
  // factors, choices what decides, recurrent layers input and output.
  template <typename Keep>
  void for_each_saved(const Node& node, Keep&& mark) const {
    const auto keep = [&](ValueId id) {
      if (id != kNoValue) mark(storage_[index(id)]);
    };
    const auto trained = [&](ValueId id) { return id != kNoValue && trained_[index(id)]; };
    if (saves_nothing(node.op) || std::none_of(node.outputs.begin(), node.outputs.end(), trained)) return;
    // The gradient of a product with something fixed reads that alone.
    if (const auto* binary = std::get_if<Binary>(&node.op);
        binary != nullptr && (binary->kind == BinaryKind::kMul || binary->kind == BinaryKind::kDiv)) {
      if (needs_gradient(node.inputs[1])) keep(node.inputs[0]);
      if (needs_gradient(node.inputs[0])) keep(node.inputs[1]);
      return;
    }
    if (std::holds_alternative<Where>(node.op)) return keep(node.inputs[0]);
    if (std::holds_alternative<Gather>(node.op)) return keep(node.inputs[1]);
    for (const ValueId id : saves_output(node.op) ? node.outputs : node.inputs) keep(id);
    if (std::holds_alternative<Rnn>(node.op) && !node.outputs.empty()) keep(node.outputs[0]);  // every step's state
  }

  const Graph& graph_;
  const TypeTable& types_;
  const PrepareOptions& options_;
  std::vector<std::uint32_t> storage_;  // the value whose memory a value lives in
  std::vector<std::size_t> readers_;    // by value: the nodes that read it
  std::vector<std::size_t> made_by_;    // by storage: the node that made it
  std::vector<std::size_t> last_use_;   // by storage: the last node that reads it
  std::vector<double> size_;            // by storage, in bytes; parameters are counted apart
  std::vector<bool> held_;              // by storage: an input, to the end
  std::vector<bool> repeats_;           // by value: larger than its memory
  std::vector<bool> trained_;           // by value: has a gradient
};

}  // namespace

MemoryPlan plan_memory(const Graph& graph, const TypeTable& types, std::span<const double> saved,
                       const PrepareOptions& options) {
  const Liveness liveness(graph, types, options);
  MemoryPlan plan;
  plan.parameters = Bytes{parameter_bytes(graph, types)};
  plan.tables = Bytes{table_bytes(graph, types)};
  if (options.mode == Mode::kInference) {
    plan.activations = Bytes{liveness.inference_peak()};
    return plan;
  }
  const double buffers = plan.parameters.value() * optimizer_buffers(options.optimizer, options.runtime);
  const Liveness::TrainingPeak peak = liveness.training_peak(saved, buffers);
  plan.gradients = Bytes{peak.gradients};
  plan.optimizer_state = plan.parameters * optimizer_states(options.optimizer);
  plan.activations = Bytes{peak.activations};
  return plan;
}

Interval<Bytes> allocated_memory(const MemoryPlan& plan) {
  const Bytes allocated = plan.allocated();
  return {allocated, allocated * 0.98, allocated + plan.activations * 0.08};
}

Interval<Bytes> device_memory(const MemoryPlan& plan, const Gpu& gpu, Mode mode) {
  constexpr double kMiB = 1024.0 * 1024.0;
  // Contexts grow with the SMs: 107 MiB on a RTX 4060 Ti (34 SMs), 555 MiB on a RTX PRO 6000 (188), both bare;
  // loaded kernels add 100 to 300 MiB (llama.cpp PR 23604, InvokeAI issue 9413, pytorch issue 107667).
  const double bare = (8.0 + 2.91 * gpu.sm_count) * kMiB;
  // PyTorch hands cuBLAS 8.1 MiB, 32 MiB on compute capability 9.0 (aten/src/ATen/cuda/CublasHandlePool.cpp).
  const double workspace = gpu.compute_capability == "9.0" ? 32.0 * kMiB : 8519680.0;
  // Segments are 2 MiB and 20 MiB and are kept: reserved exceeds allocated by fragmentation.
  const double allocated = plan.allocated().value();
  const double slack = mode == Mode::kTraining ? 0.10 : 0.05;
  const auto total = [&](double kernels, double fragmentation, double workspaces) {
    return Bytes{allocated * (1.0 + fragmentation) + bare + kernels * kMiB + workspace + workspaces};
  };
  return {total(200.0, slack, 0.0), total(50.0, 0.0, 0.0), total(400.0, 3.0 * slack, 0.25 * plan.activations.value())};
}

namespace {

// Of profiles that the catalogue has no figure for, as many slices of the largest one that it has.
std::optional<Bytes> memory_of(const MigProfile& profile, const Gpu& gpu) {
  if (profile.memory) return profile.memory;
  const MigProfile* known = nullptr;
  for (const MigProfile& other : gpu.mig_profiles) {
    if (other.memory && (known == nullptr || other.memory_slices > known->memory_slices)) known = &other;
  }
  if (known == nullptr) return std::nullopt;
  return *known->memory * (static_cast<double>(profile.memory_slices) / known->memory_slices);
}

}  // namespace

std::optional<std::string> smallest_mig_profile(const Gpu& gpu, Bytes memory) {
  const MigProfile* best = nullptr;
  Bytes least{0};
  for (const MigProfile& profile : gpu.mig_profiles) {
    const std::optional<Bytes> own = memory_of(profile, gpu);
    if (!own || memory > *own) continue;
    if (best == nullptr || *own < least || (*own == least && profile.compute_slices < best->compute_slices)) {
      best = &profile;
      least = *own;
    }
  }
  if (best == nullptr) return std::nullopt;
  return std::string(best->name);
}

}  // namespace joulecast
