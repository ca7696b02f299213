// SPDX-License-Identifier: Apache-2.0
// From a graph to time, power, energy and memory on a GPU, each with an interval.
//
//   JC_ASSIGN_OR_RETURN(Predictor predictor, Predictor::open(shipped_pack_path()));
//   JC_ASSIGN_OR_RETURN(Workload load, prepare(graph, {.batch = 32}, {.mode = Mode::kTraining}));
//   Prediction p = predictor.predict(load, gpu, {});
//   fmt::print("{} s, {} J\n", p.time.value.value(), p.energy.value.value());
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/cost.h"
#include "joulecast/gpu.h"
#include "joulecast/graph.h"
#include "joulecast/result.h"
#include "joulecast/workload.h"

namespace joulecast {

// How far a prediction is from what the predictor was fitted on.
enum class Support : std::uint8_t {
  kInside,   // the GPU was measured, and work of this kind and size too
  kEdge,     // one of both: an unseen GPU of a known generation, or sizes beyond the measured ones
  kOutside,  // neither, or FP16 that a GPU multiplies in FP32; physics with wide bounds
};
std::string_view name(Support support);  // "inside", "edge", "outside"

// A value with the bounds that hold it in `level` of all cases, by split conformal calibration.
template <typename Unit>
struct Interval {
  Unit value, lo, hi;
};
inline constexpr double kIntervalLevel = 0.9;

// Optimizers that differ in what they keep or move for every parameter.
enum class Optimizer : std::uint8_t { kSgd, kSgdMomentum, kAdam, kAdagrad, kRmsprop, kAdadelta };
std::string_view name(Optimizer optimizer);  // "sgd", "sgd-momentum", "adam", "adagrad", "rmsprop", "adadelta"
std::optional<Optimizer> parse_optimizer(std::string_view text);

struct PrepareOptions {
  Mode mode = Mode::kInference;
  // Of the network's matrix work. Absent: PyTorch's default, TF32 in convolutions and FP32 elsewhere.
  std::optional<Precision> precision;
  Runtime runtime = Runtime::kPytorchEager;
  Layout layout = Layout::kChannelsFirst;
  Optimizer optimizer = Optimizer::kSgd;
  AttentionKernels attention = AttentionKernels::kFusedOrFp32;
  bool norms_in_halves = false;  // of autocast: layer and group norms too, as timm's fast norms compute; else FP32
};

// Bytes in the allocator at the moment of the peak, by what they are (first version: liveness over the file's order,
// the caching allocator's rounding, no workspaces but cuBLAS's).
struct MemoryPlan {
  // Activations: or what the optimizer's step needs beside its state, where that is the peak.
  Bytes parameters, gradients, optimizer_state, activations;
  Bytes tables;  // of the parameters: of which a step reads a few rows
  [[nodiscard]] Bytes allocated() const { return parameters + gradients + optimizer_state + activations; }
};

// An operator nobody lowered, with its share of the network's bytes.
struct UnknownOperator {
  std::string name;
  std::int64_t count = 0;
  double byte_share = 0.0;
  double flops_at_most = 0.0;  // forward, of all of them: a guess that few operators exceed
};

struct LoweredOperation;

// A network bound to shapes and lowered for a runtime: everything a prediction needs that does not depend on the GPU.
struct Workload {
  PrepareOptions options;
  std::int64_t batch = 1;  // extent of the batch symbol; 1 where the graph has none
  std::vector<LoweredOperation> operations;
  MemoryPlan memory;
  Cost total;
  Bytes input;  // of the graph's inputs: what is copied to the GPU for a step
  std::int64_t parameter_tensors = 0;
  std::vector<UnknownOperator> unknown_operators;
  std::vector<std::string> notes;

  Workload();
  Workload(const Workload&);
  Workload(Workload&&) noexcept;
  Workload& operator=(Workload&&) noexcept;
  ~Workload();
};

// Errors: those of infer_types.
Result<Workload> prepare(const Graph& graph, const Binding& binding, const PrepareOptions& options);

// One line of a breakdown: equal operations together.
struct OperationEstimate {
  std::string label;  // "conv 64x3x7x7 s2" and the like
  std::int64_t count = 0;
  Seconds time;  // of all of them, GPU busy
  Joules energy;
  Seconds bound;  // the physical bound of `time`
};

struct Prediction {
  std::string gpu;                         // catalogue id
  Precision precision = Precision::kTf32;  // as it runs there: TF32 only where the chip has it
  Setting setting;
  HostMachine host;
  Interval<Seconds> time;
  Interval<Watts> power;
  Interval<Joules> energy;
  Interval<Bytes> memory;  // what nvidia-smi would show: allocator, context and libraries
  Interval<JouleSeconds> edp;
  bool fits = true;                        // `memory` against what the board has
  std::optional<std::string> mig_profile;  // the smallest slice the memory fits in
  Support support = Support::kOutside;
  Seconds gpu_busy, host_busy;                // side by side; the longer one sets the time
  bool host_bound = false;                    // it is the host's
  std::vector<OperationEstimate> operations;  // longest first, if asked for
};

struct PredictOptions {
  // For boards sold with another default limit or clock: peaks and powers scale with them. For what a board does when
  // its clock or limit is set, use SettingRequest.
  Setting setting;
  // Absent: not known. Then the reference machine's calls are taken, and the bounds hold on the published machines.
  std::optional<HostMachine> host;
  // Absent: the input lies on the GPU. Else every step copies it there first, at this rate (above 0), and nothing runs
  // meanwhile. TensorFlow's steps have a copy of their own, whatever stands here.
  std::optional<BytesPerSecond> input_copy = {};
  bool breakdown = false;
};

// A run that was measured under a setting; time, power or both.
struct MeasuredRun {
  Setting setting;  // what is absent was the default
  std::optional<Seconds> time;
  std::optional<Watts> power;
};

// Settings to predict, and what is known of others.
struct SettingRequest {
  std::vector<Setting> settings;  // what is absent is the default
  std::vector<MeasuredRun> measured;
};

// What a setting is to make least. kEdp: energy * time.
enum class Objective : std::uint8_t { kTime, kEnergy, kEdp };

// A setting for one workload on one GPU.
struct SettingChoice {
  Prediction usual;                // at the default setting
  std::optional<Prediction> best;  // at the chosen one; none where no setting was allowed
  bool gain = false;               // whether that one is likelier than not to save 2 % against the default one
  bool floored = false;            // a limit below half of the default one takes less, but nobody swept such
};

// What of a pack to use.
struct PackOptions {
  bool corrections = true;  // of single GPUs' levels, by `joulecast train --calibrate`
};

// Everything fitted, read from one pack. Immutable once open: any number of threads may predict with it.
class Predictor {
 public:
  // Errors: kNotFound, kIo, kInvalidInput (damaged), kUnsupported (made by a newer version).
  static Result<Predictor> open(const std::string& path);
  static Result<Predictor> open(const std::string& path, PackOptions options);

  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();

  // Errors: kUnsupported where the GPU's specification lacks what the precision needs.
  [[nodiscard]] Result<Prediction> predict(const Workload& workload, const Gpu& gpu,
                                           const PredictOptions& options) const;

  // The same at other clocks and power limits, one prediction a setting in their order. What was measured of this
  // workload on this GPU sharpens all of them; the breakdown stays that of the default setting and is left out.
  // Errors: also kInvalidInput for settings the GPU does not have and for measured values that are not above 0, and
  // kUnsupported for a pack without the table `settings`.
  [[nodiscard]] Result<std::vector<Prediction>> predict(const Workload& workload, const Gpu& gpu,
                                                        const PredictOptions& options,
                                                        const SettingRequest& request) const;

  // Which of these settings to choose. Of a workload some things are hidden, so it is the one whose regret is least in
  // the root mean square over all that they may be: what it takes more than the best of those that `allowed` takes,
  // which is asked with the prediction at a setting and that at the default one. Not that of the least prediction:
  // below the best setting lies a cliff, above it a slope. On a GPU whose limits nobody swept, limits below 0.475 of
  // the default one are chosen only where a limit up to 0.6 of it was measured, or nothing else is allowed. Requires:
  // the first setting is the default one. Errors: as above.
  using Allowed = std::function<bool(const Prediction& one, const Prediction& usual)>;
  [[nodiscard]] Result<SettingChoice> choose(const Workload& workload, const Gpu& gpu, const PredictOptions& options,
                                             const SettingRequest& request, Objective objective,
                                             const Allowed& allowed) const;

  // How far this network on this GPU is from what was measured.
  [[nodiscard]] Support support(const Workload& workload, const Gpu& gpu) const;

  // False where the pack has learnt the power of none of its operations: power is then the GPU's idle power, and energy
  // that for the time.
  [[nodiscard]] bool knows_power(const Workload& workload) const;

  // Checks every section of the pack, of which predictions read what they need. Errors: kInvalidInput (damaged), naming
  // the file.
  [[nodiscard]] Result<void> verify() const;

  // The report the pack was shipped with, as JSON text.
  [[nodiscard]] Result<std::string_view> report() const;

 private:
  struct Impl;
  explicit Predictor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Where the shipped pack is: $JOULECAST_PACK, else beside the program in a build tree, else in the install tree.
Result<std::string> shipped_pack_path();

}  // namespace joulecast
