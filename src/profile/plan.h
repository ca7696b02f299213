// SPDX-License-Identifier: Apache-2.0
// What a campaign measures: the operations of networks, each different one once, and the networks themselves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataset/operation_text.h"
#include "joulecast/graph.h"
#include "joulecast/result.h"
#include "power/gpu_settings.h"
#include "profile/shards.h"
#include "profile/time_case.h"

namespace joulecast::profile {

// Under what something is measured.
struct Conditions {
  Mode mode = Mode::kInference;
  Precision precision = Precision::kFp32;
  GpuSettings settings;  // empty: as found
};

// The operator of a case that is an optimizer's step.
inline constexpr const char* kOptimizer = "optimizer";

struct PlannedCase {
  std::string id;  // the same for the same work, whoever asks for it: 16 hexadecimal digits
  CaseRequest request;
  OperationText operation;  // empty for networks; of an optimizer for people alone
  std::string network;      // name; empty for operations
  std::optional<std::int64_t> batch, image_size, sequence_length;  // of networks
  double flops = 0, bytes = 0;                                     // of one iteration, by the operators' costs
  GpuSettings settings;
};

// A network of the user's own, which the runner imports.
struct Module {
  std::string where;  // "PACKAGE.MODULE:CALLABLE" or "FILE.py:CALLABLE"
  struct Input {
    Shape shape;
    ElementType element = ElementType::kFloat32;
  };
  std::vector<Input> inputs;  // in the order of its forward
};
// "resnet18" of "torchvision.models:resnet18".
std::string callable_of(const Module& module);

// A network and what it is made of.
struct PlannedNetwork {
  std::string id, name;  // id of the case that is the whole network
  std::int64_t batch = 1;
  Mode mode = Mode::kInference;
  Precision precision = Precision::kFp32;
  GpuSettings settings;
  // Id of a case, and how often. In training the optimizer's step is one, for the whole network's has it as well.
  std::vector<std::pair<std::string, std::int64_t>> operations;
  std::vector<std::string> left_out;  // what no runner can do alone
};

class Plan {
 public:
  // A network at one batch, which the model or a shape may fix to another than is asked for: networks().back() has it.
  // Errors: those of infer_types().
  Result<void> add_network(const std::string& name, const Graph& graph, const Binding& binding, const Conditions& at);
  // A network whose operations nobody here knows: it is measured whole, at its inputs' batch.
  void add_module(const Module& module, const Conditions& at);
  // One operation of a table. Errors: those of parse_operation() and program_text().
  Result<std::string> add_operation(const OperationText& operation, const Conditions& at, bool input_gradient);

  // A model none of whose networks could be added, and why, with its file.
  void leave_out(std::string why) { left_out_.push_back(std::move(why)); }

  // Leaves out operations, or networks. Networks' lists then name cases that are not there.
  enum class Only : std::uint8_t { kOperations, kNetworks };
  void keep(Only only);
  // Leaves out what is other shards': which one a case belongs to follows from its id.
  void keep(const Shard& shard);

  [[nodiscard]] const std::vector<PlannedCase>& cases() const { return cases_; }
  [[nodiscard]] const std::vector<PlannedNetwork>& networks() const { return networks_; }
  // What could not be planned, for people, each once: "net.onnx: nobody knows how to run Foo".
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  void add_case(PlannedCase planned);
  void note(std::string text);
  // The optimizer's step of a network in training; its id. Nothing where there is nothing to learn.
  std::optional<std::string> add_optimizer(const Graph& graph, const TypeTable& types, const Conditions& at);
  void index_cases();

  std::vector<PlannedCase> cases_;
  std::map<std::string, std::size_t> places_;
  std::vector<PlannedNetwork> networks_;
  std::vector<std::string> notes_, left_out_;
};

}  // namespace joulecast::profile
