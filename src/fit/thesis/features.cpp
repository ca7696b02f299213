// SPDX-License-Identifier: Apache-2.0
#include "fit/thesis/features.h"

#include <algorithm>
#include <array>
#include <optional>

#include "dataset/module_repr.h"

namespace joulecast {
namespace {

// A number each. Those of kPairs may also be a pair, height and width, with fields of their own.
constexpr std::array<std::string_view, 15> kAttributes{
    "bias",    "in_channels", "out_channels", "kernel_size", "padding",      "stride", "in_features", "out_features",
    "inplace", "affine",      "eps",          "momentum",    "num_features", "p",      "output_size"};
constexpr std::array<std::string_view, 4> kPairs{"kernel_size", "padding", "stride", "output_size"};
constexpr std::size_t kInputExtents = 4;
constexpr float kAbsent = -1.0F;

// What a module's attributes are called that it prints without a name, and what it does not print.
struct Unprinted {
  std::string_view module;
  std::vector<std::string_view> positional;
  std::vector<ReprArgument> defaults;
};

ReprArgument number(std::string_view name, double value) {
  return {.name = std::string(name), .numbers = {value}, .tuple = false, .word = {}};
}
ReprArgument pair(std::string_view name, double value) {
  return {.name = std::string(name), .numbers = {value, value}, .tuple = true, .word = {}};
}

const std::vector<Unprinted>& unprinted() {
  static const std::vector<Unprinted> all{
      {"Conv2d", {"in_channels", "out_channels"}, {number("bias", 1), pair("padding", 0)}},
      {"Linear", {}, {number("bias", 1)}},
      {"BatchNorm2d", {"num_features"}, {number("bias", 1)}},
      {"LayerNorm", {"normalized_shape"}, {number("bias", 1)}},
      {"ReLU", {}, {number("inplace", 0)}},
      {"ReLU6", {}, {number("inplace", 0)}},
      {"SiLU", {}, {number("inplace", 0)}},
      {"Hardswish", {}, {number("inplace", 0)}},
      {"Dropout", {}, {number("inplace", 0)}},
  };
  return all;
}

// The module's attributes by the names that Python knows them by.
std::vector<ReprArgument> attributes_of(const ModuleRepr& module) {
  std::vector<ReprArgument> out = module.arguments;
  for (const Unprinted& known : unprinted()) {
    if (known.module != module.name) continue;
    for (std::size_t i = 0; i < std::min(out.size(), known.positional.size()); ++i) {
      if (out[i].name.empty()) out[i].name = known.positional[i];
    }
    for (const ReprArgument& argument : known.defaults) {
      if (module.find(argument.name) == nullptr) out.push_back(argument);
    }
  }
  for (const char* affine : {"affine", "elementwise_affine"}) {
    const ReprArgument* found = module.find(affine);
    if (found != nullptr && found->numbers == std::vector<double>{0.0}) std::erase(out, number("bias", 1));
  }
  return out;
}

class Row {
 public:
  void value(std::optional<double> value) {
    features_.push_back(value ? static_cast<float>(*value) : kAbsent);
    features_.push_back(value ? 1.0F : 0.0F);
  }
  void pair(const ReprArgument* argument) {
    const bool applies = argument != nullptr && argument->tuple && argument->numbers.size() >= 2;
    for (std::size_t i = 0; i < 2; ++i)
      features_.push_back(applies ? static_cast<float>(argument->numbers[i]) : kAbsent);
    features_.push_back(applies ? 1.0F : 0.0F);
  }
  std::vector<float> take() { return std::move(features_); }

 private:
  std::vector<float> features_;
};

const ReprArgument* find(const std::vector<ReprArgument>& attributes, std::string_view name) {
  for (const ReprArgument& argument : attributes) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

std::vector<float> features_of(const ModuleRepr& module, const Shape& input, std::optional<Hertz> clock) {
  const std::vector<ReprArgument> attributes = attributes_of(module);
  Row row;
  for (const std::string_view name : kAttributes) {
    const ReprArgument* found = find(attributes, name);
    const bool single = found != nullptr && !found->tuple && found->numbers.size() == 1;
    row.value(single ? std::optional(found->numbers.front()) : std::nullopt);
  }
  for (const std::string_view name : kPairs) row.pair(find(attributes, name));
  for (std::size_t i = 0; i < kInputExtents; ++i)
    row.value(i < input.size() ? std::optional(static_cast<double>(input[i])) : std::nullopt);
  row.value(clock ? std::optional(clock->value() / 1e6) : std::nullopt);
  return row.take();
}

}  // namespace

Result<ThesisRow> thesis_row(const MeasuredOperation& row) {
  if (!row.readings.time || !row.readings.power) return unsupported("no time or no power");
  const auto module = parse_module_repr(row.label);
  if (!module) return unsupported("no PyTorch module");
  const Node& node = row.graph->nodes[0];
  if (node.inputs.empty()) return unsupported("no input");
  const std::string& gpu = row.at.gpu_label.empty() ? row.at.gpu : row.at.gpu_label;
  return ThesisRow{.type = module->name,
                   .features = features_of(*module, row.graph->value(node.inputs[0]).type.shape, row.at.sm_clock),
                   .time = row.readings.time->value(),
                   .power = row.readings.power->value(),
                   .key = row.group,
                   .gpu = gpu,
                   .mode = row.at.mode};
}

std::vector<std::string> thesis_feature_names() {
  std::vector<std::string> out;
  const auto flagged = [&](const std::string& name) {
    out.push_back(name);
    out.push_back(name + "_applicable");
  };
  for (const std::string_view name : kAttributes) flagged(std::string(name));
  for (const std::string_view name : kPairs) {
    for (const char* part : {"_0", "_1", "_tuple_applicable"}) out.push_back(std::string(name) + part);
  }
  for (std::size_t i = 0; i < kInputExtents; ++i) flagged("input_size_" + std::to_string(i));
  flagged("clock_mhz");
  return out;
}

}  // namespace joulecast
