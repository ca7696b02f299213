// SPDX-License-Identifier: Apache-2.0
// Published measurements of operations and networks, as the table readers give them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/units.h"
#include "joulecast/workload.h"

namespace joulecast {

// How a memory reading relates to what was needed.
enum class MemoryRelation : std::uint8_t {
  kEqual,
  kAtMost,  // it ran in this much
  kAbove,   // it did not
};

// What was read off clock and power sensor. Absent: the table does not say. `..._std` is the standard deviation over
// the repeats, `..._error` the standard error of the value itself.
struct Readings {
  std::optional<Seconds> time, time_std, time_error;   // of one iteration
  std::optional<Watts> power, power_std, power_error;  // mean while it ran
  std::optional<Joules> energy, energy_std, energy_error;
  std::optional<Bytes> memory, memory_error;
  std::string memory_kind;  // "max-allocated", "reserved", "smi", ...; kinds do not mix
  MemoryRelation memory_relation = MemoryRelation::kEqual;
  std::optional<std::int64_t> repeats;
};

// What the power and energy readings contain.
enum class PowerScope : std::uint8_t {
  kGpu,      // the boards of the GPUs that ran it, added up
  kHost,     // those and an estimate of processor and memory, some tools with a factor for cooling
  kMachine,  // everything behind the plug
};
std::string_view name(PowerScope scope);         // "gpu", "gpu+host", "machine"
std::string_view name(MemoryRelation relation);  // "=", "<=", ">"
std::optional<PowerScope> parse_power_scope(std::string_view text);
std::optional<MemoryRelation> parse_memory_relation(std::string_view text);

// Under what it was measured. A setting that is absent is the device's default.
struct Circumstances {
  std::string gpu;        // as the table calls it; Catalogue::find() knows the usual spellings
  std::string gpu_label;  // where the table's word for the GPU says more, a setting say: that word; else empty
  Mode mode = Mode::kInference;
  Precision precision = Precision::kFp32;
  std::optional<Runtime> runtime;  // absent for runtimes we have no word for; `software` names them
  std::string software;            // "pytorch 2.1", "vllm 0.22.0"; empty where the table does not say
  std::optional<Watts> power_limit;
  std::optional<Hertz> sm_clock, memory_clock;
  std::string mig_profile;  // where a slice of the GPU ran it
  PowerScope scope = PowerScope::kGpu;
  std::string campaign;  // rows of different campaigns of one table were measured under other conditions
  // The GPU was in a state of lower power and clock that the log does not name.
  bool low_power = false;
};

// Who published a measurement, under what licence, and how it was made.
struct Origin {
  std::string source, licence, protocol;
};

// Where a row comes from, and whether it should be learned from.
struct Provenance {
  std::string table;     // name of the layout
  std::string file;      // its name without folders
  std::size_t line = 0;  // in the file
  std::size_t part = 0;  // which of the rows the line gave
  std::shared_ptr<const Origin> origin;
  std::string upstream;  // where the publisher's own files have it
  bool primary = true;   // false for trials and repeats that a better run replaced
  std::string anomaly;   // words of cautions.h and of the table itself, with ',' between; empty if nothing is odd
  std::string split;     // "train" or "test" where the publisher drew a line
};

struct MeasuredOperation {
  // One node; its inputs have fixed extents. Rows of the same operation share it.
  std::shared_ptr<const Graph> graph;
  Circumstances at;
  Readings readings;
  Provenance from;
  std::string label;   // for people: "Conv2d(3, 32, kernel_size=(3, 3))"
  std::string group;   // the same for the same operation on the same shapes, wherever and however measured
  std::string kernel;  // where the table names it

  bool inplace = false;
  bool train_state_module = false;     // inference, but batch norm and stochastic depth work as in training
  bool gradients_accumulated = false;  // training: gradients are added to, inputs' included, and not overwritten
  bool input_gradient = true;          // training: the gradient of its input is computed
  bool inputs_skipped = false;         // a recurrent layer without the product of its inputs (CUDNN_SKIP_INPUT)
  std::string details;                 // what else the table says (details.h)
  // Copies of the weight used in turn: 1 lets a small weight stay in the cache.
  int weight_copies = 1;
};

struct MeasuredNetwork {
  Circumstances at;
  Readings readings;  // of one step over the whole batch
  Provenance from;
  std::string model;  // as the table calls it
  std::optional<std::int64_t> batch, image_size, sequence_length;
  std::optional<std::int64_t> channels;  // of the image
  std::string optimizer;                 // of training; empty where the table does not say
  int gpu_count = 1;                     // `batch` is the sum over them
  bool compiled = false, channels_last = false;
  bool norms_in_halves = false;  // under autocast, which leaves norms in FP32
  bool kernels_alone = false;    // the time is the sum of its kernels', without what lies between them
  std::string details;           // what else the table says (details.h)
};

// What we cannot predict (yet), but keep: operators that are none of ours, runs that are not one step of a network.
struct MeasuredOther : MeasuredNetwork {  // `model` holds the name, of an operation too
  bool network = false;                   // of a network or a part of it, not of an operation
  std::string per;                        // what one time and energy is of: "token", "epoch", ...; empty: one execution
  std::string reason;                     // why it is not an operation or step of ours
  // These stand for at.mode and at.precision, for which we may have no word. Empty where the table does not say.
  std::string mode, precision;
};

}  // namespace joulecast
