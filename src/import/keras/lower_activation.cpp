// SPDX-License-Identifier: Apache-2.0
// Activations, as layers and as what other layers end with.
#include <algorithm>
#include <array>
#include <utility>

#include "import/keras/lowerings.h"

namespace joulecast::keras {
namespace {

constexpr std::array<std::pair<std::string_view, ActivationKind>, 19> kActivations{{
    {"relu", ActivationKind::kRelu},
    {"relu6", ActivationKind::kRelu6},
    {"sigmoid", ActivationKind::kSigmoid},
    {"tanh", ActivationKind::kTanh},
    {"elu", ActivationKind::kElu},
    {"selu", ActivationKind::kSelu},
    {"celu", ActivationKind::kCelu},
    {"gelu", ActivationKind::kGelu},
    {"silu", ActivationKind::kSilu},
    {"swish", ActivationKind::kSilu},
    {"softplus", ActivationKind::kSoftplus},
    {"softsign", ActivationKind::kSoftsign},
    {"hard_sigmoid", ActivationKind::kHardSigmoid},
    {"hard_silu", ActivationKind::kHardSwish},
    {"hard_swish", ActivationKind::kHardSwish},
    {"leaky_relu", ActivationKind::kLeakyRelu},
    {"mish", ActivationKind::kMish},
    {"log_sigmoid", ActivationKind::kLogSigmoid},
    {"hard_tanh", ActivationKind::kClip},
}};

Tensor activated(LayerContext& layer, const Tensor& x, ActivationKind kind) {
  std::vector<ValueId> inputs{layer.node().canvas().arranged(x, x.layout)};
  if (kind == ActivationKind::kClip) {
    inputs.push_back(layer.node().real_scalar(-1.0));
    inputs.push_back(layer.node().real_scalar(1.0));
  }
  return layer.add(Activation{kind}, std::move(inputs), x.layout);
}

}  // namespace

Result<Tensor> activation_named(LayerContext& layer, const Tensor& x, std::string_view name) {
  if (name.empty() || name == "linear") return x;
  if (name == "softmax") return layer.apply("Softmax", {x});
  if (name == "log_softmax") return layer.apply("LogSoftmax", {x});
  if (name == "exponential") return layer.apply("Exp", {x});
  const auto* const it =
      std::find_if(kActivations.begin(), kActivations.end(), [&](const auto& entry) { return entry.first == name; });
  if (it != kActivations.end()) return activated(layer, x, it->second);
  return layer.opaque(x, name);
}

// A name, the object of a function, or a layer.
Result<Tensor> LayerContext::activate_by(const Tensor& x, const Json& activation) {
  if (activation.is(JsonKind::kText)) return activation_named(*this, x, activation.text());
  if (!activation.is(JsonKind::kObject)) return x;
  const Json* name = activation.find("config");
  const Json* class_name = activation.find("class_name");
  if (class_name == nullptr) return wrong("activation", "has no class");
  if (name != nullptr && name->is(JsonKind::kText)) return activation_named(*this, x, name->text());
  if (config_of(activation) == nullptr) return opaque(x, class_name->text());
  JC_ASSIGN_OR_RETURN(Layer * part, part_of(layer(), "activation", activation));
  JC_ASSIGN_OR_RETURN(const std::vector<Tensor> out, call(*part, {x}));
  return out.empty() ? Tensor{} : out[0];
}

Result<Tensor> LayerContext::activate(const Tensor& x, std::string_view key) {
  const Json* found = config().find(key);
  return found == nullptr ? Result<Tensor>(x) : activate_by(x, *found);
}

Result<void> lower_activation(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.activate(layer.input()));
  return layer.finish(out);
}

// The class of an operator that is an activation ("Relu6").
Result<void> lower_activation_class(LayerContext& layer) {
  std::string name;
  for (const char c : layer.layer().class_name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !name.empty()) name += '_';
    name += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  JC_ASSIGN_OR_RETURN(const Tensor out, activation_named(layer, layer.input(), name));
  return layer.finish(out);
}

Result<void> lower_relu(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const double most, layer.real("max_value", 0.0));
  JC_ASSIGN_OR_RETURN(const double slope, layer.real("negative_slope", 0.0));
  const Tensor& x = layer.input();
  if (slope != 0.0) return layer.finish(activated(layer, x, ActivationKind::kLeakyRelu));
  if (most == 0.0) return layer.finish(activated(layer, x, ActivationKind::kRelu));
  if (most == 6.0) return layer.finish(activated(layer, x, ActivationKind::kRelu6));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("ClipByValue", {x, layer.number(0.0), layer.number(most)}));
  return layer.finish(out);
}

Result<void> lower_leaky_relu(LayerContext& layer) {
  return layer.finish(activated(layer, layer.input(), ActivationKind::kLeakyRelu));
}

Result<void> lower_elu(LayerContext& layer) {
  return layer.finish(activated(layer, layer.input(), ActivationKind::kElu));
}

// A slope for each entry but the batch; shared axes have one.
Result<void> lower_prelu(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const IntList shared, layer.integers("shared_axes"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  Shape shape;
  for (std::size_t i = 1; i < rank; ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    const bool one = std::find(shared.begin(), shared.end(), axis) != shared.end();
    JC_ASSIGN_OR_RETURN(const std::int64_t extent, one ? Result<std::int64_t>(1) : layer.extent(layer.input(), axis));
    shape.push_back(extent);
  }
  JC_ASSIGN_OR_RETURN(const Tensor slope, layer.weight("alpha", shape));
  const tensorflow::Arranged both = tensorflow::arrange(layer.node(), std::array{layer.input(), slope});
  return layer.finish(layer.add(Activation{ActivationKind::kPRelu}, both.values, both.layout));
}

// Of keras.applications' ConvNeXt: a factor for each channel.
Result<void> lower_layer_scale(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t channels, layer.extent(layer.input(), -1));
  JC_ASSIGN_OR_RETURN(const Tensor scale, layer.weight("gamma", Shape{channels}));
  const tensorflow::Arranged both = tensorflow::arrange(layer.node(), std::array{layer.input(), scale});
  return layer.finish(layer.add(Binary{BinaryKind::kMul}, both.values, both.layout));
}

Result<void> lower_softmax(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, layer.integer("axis", -1));
  const Tensor& x = layer.input();
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(x));
  const auto place = tensorflow::axis_of(axis, rank);
  if (!place) return layer.wrong("axis", "is none of the input");
  const auto held = static_cast<std::int64_t>(x.layout.in_value(*place));
  return layer.finish(layer.add(Softmax{held, false}, {layer.node().canvas().arranged(x, x.layout)}, x.layout));
}

}  // namespace joulecast::keras
