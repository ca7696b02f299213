// SPDX-License-Identifier: Apache-2.0
// Activations, softmax, dropout.
#include <map>

#include "operators.h"

namespace joulecast::runner {
namespace {

using Function = at::Tensor (*)(const at::Tensor&);

// Those without parameters, as torch.nn has them by default.
const std::map<std::string_view, Function>& plain() {
  static const std::map<std::string_view, Function> all{
      {"relu", [](const at::Tensor& x) { return at::relu(x); }},
      {"relu6", [](const at::Tensor& x) { return at::hardtanh(x, 0, 6); }},
      {"leaky_relu", [](const at::Tensor& x) { return at::leaky_relu(x); }},
      {"elu", [](const at::Tensor& x) { return at::elu(x); }},
      {"selu", [](const at::Tensor& x) { return at::selu(x); }},
      {"celu", [](const at::Tensor& x) { return at::celu(x); }},
      {"gelu", [](const at::Tensor& x) { return at::gelu(x); }},
      {"gelu_tanh", [](const at::Tensor& x) { return at::gelu(x, "tanh"); }},
      {"quick_gelu", [](const at::Tensor& x) { return x * at::sigmoid(1.702 * x); }},
      {"silu", [](const at::Tensor& x) { return at::silu(x); }},
      {"hardswish", [](const at::Tensor& x) { return at::hardswish(x); }},
      {"hardsigmoid", [](const at::Tensor& x) { return at::hardsigmoid(x); }},
      {"sigmoid", [](const at::Tensor& x) { return at::sigmoid(x); }},
      {"tanh", [](const at::Tensor& x) { return at::tanh(x); }},
      {"softplus", [](const at::Tensor& x) { return at::softplus(x); }},
      {"softsign", [](const at::Tensor& x) { return x / (x.abs() + 1); }},
      {"mish", [](const at::Tensor& x) { return at::mish(x); }},
      {"log_sigmoid", [](const at::Tensor& x) { return at::log_sigmoid(x); }},
      {"threshold", [](const at::Tensor& x) { return at::threshold(x, 0, 0); }},
      {"shrink", [](const at::Tensor& x) { return at::softshrink(x); }},
      {"glu", [](const at::Tensor& x) { return at::glu(x, -1); }},
  };
  return all;
}

Kernel clip(const StepContext& context) {
  const std::optional<double> low = context.number(1), high = context.number(2);
  if ((context.has(1) && !low) || (context.has(2) && !high)) refuse(context, "bounds that depend on data");
  const auto scalar = [](const std::optional<double>& bound) {
    return bound ? std::optional<at::Scalar>(*bound) : std::nullopt;
  };
  return one_input(context,
                   [low = scalar(low), high = scalar(high)](const at::Tensor& x) { return at::clamp(x, low, high); });
}

Kernel prelu(const StepContext& context) {
  return [x = context.in(0), slope = context.in(1), y = context.out()](Slots& slots) {
    slots[y] = at::prelu(slots[x], slots[slope].flatten());
  };
}

Kernel activation(const StepContext& context) {
  const std::string kind = context.fields().text("kind", "relu");
  if (kind == "clip") return clip(context);
  if (kind == "prelu") return prelu(context);
  const auto at = plain().find(kind);
  if (at == plain().end()) refuse(context, kind);
  return one_input(context, at->second);
}

Kernel softmax(const StepContext& context) {
  const std::int64_t axis = context.fields().integer("axis", -1);
  if (context.fields().flag("log"))
    return one_input(context, [axis](const at::Tensor& x) { return at::log_softmax(x, axis); });
  return one_input(context, [axis](const at::Tensor& x) { return at::softmax(x, axis); });
}

Kernel dropout(const StepContext& context) {
  return one_input(context, [p = context.fields().real("probability", 0.5), training = context.training()](
                                const at::Tensor& x) { return at::dropout(x, p, training); });
}

// A random number a row decides whether the row survives, as torchvision's StochasticDepth in mode "row".
Kernel stochastic_depth(const StepContext& context) {
  const double survival = 1.0 - context.fields().real("probability");
  if (!context.training() || survival >= 1.0) return one_input(context, [](const at::Tensor& x) { return x; });
  std::vector<std::int64_t> rows(context.input(0).shape.size(), 1);
  rows.front() = context.input(0).shape.front();
  return one_input(context, [survival, rows](const at::Tensor& x) {
    at::Tensor noise = at::empty(rows, x.options()).bernoulli_(survival);
    if (survival > 0.0) noise.div_(survival);
    return x * noise;
  });
}

}  // namespace

std::vector<OperatorEntry> activation_operators() {
  return {
      {"activation", activation}, {"softmax", softmax}, {"dropout", dropout}, {"stochastic_depth", stochastic_depth}};
}

}  // namespace joulecast::runner
