// SPDX-License-Identifier: Apache-2.0
#include "predict/optimizer.h"

#include <array>

namespace joulecast {
namespace {

struct Traits {
  std::string_view name;
  double states;
  double buffers, passes;  // of foreach
  double tensorflow_passes;
};

// In the order of Optimizer. Foreach's passes, kernel by kernel (p: parameter, g: gradient, c: a number):
//   sgd           p += g                                                          3
//   sgd-momentum  m *= c; m += g; p += m                                          2 + 3 + 3
//   adam          m = lerp(m, g); v *= c; v += g g; s = sqrt v; s /= c; s += c;
//                 p += m / s                                                      3 + 2 + 3 + 2 + 2 + 2 + 4
//   adagrad       v += g g; s = sqrt v; s += c; n = c g; p += n / s               3 + 2 + 2 + 2 + 4
//   rmsprop       v *= c; v += g g; s = sqrt v; s += c; p += g / s                2 + 3 + 2 + 2 + 4
//   adadelta      v *= c; v += g g; s = v + c; s = sqrt s; d = a + c; d = sqrt d; d /= s; d *= g; a *= c; a += d d;
//                 p += d                                                          2 + 3 + 2 + 2 + 2 + 2 + 3 + 3 + 2 + 3
//                 + 3
// TensorFlow's, expression by expression: ApplyMomentum 3 + 3, ApplyAdagrad 3 + 4, ApplyRMSProp 3 + 4 + 3 (it always
// has a moment), ApplyAdadelta 3 + 5 + 4; ApplyAdam is one kernel since TensorFlow 2, of 4 + 3.
constexpr std::array<Traits, 6> kOptimizers{{{"sgd", 0, 0, 3, 3},
                                             {"sgd-momentum", 1, 0, 8, 6},
                                             {"adam", 2, 1, 18, 7},
                                             {"adagrad", 1, 2, 13, 7},
                                             {"rmsprop", 1, 1, 13, 10},
                                             {"adadelta", 2, 2, 27, 12}}};

const Traits& traits(Optimizer optimizer) {
  return kOptimizers[static_cast<std::size_t>(optimizer)];
}

}  // namespace

std::string_view name(Optimizer optimizer) {
  return traits(optimizer).name;
}

std::optional<Optimizer> parse_optimizer(std::string_view text) {
  for (std::size_t i = 0; i < kOptimizers.size(); ++i) {
    if (kOptimizers[i].name == text) return static_cast<Optimizer>(i);
  }
  return std::nullopt;
}

double optimizer_states(Optimizer optimizer) {
  return traits(optimizer).states;
}

double optimizer_buffers(Optimizer optimizer, Runtime runtime) {
  return runtime == Runtime::kTensorflow ? 0.0 : traits(optimizer).buffers;
}

double optimizer_passes(Optimizer optimizer, Runtime runtime) {
  return runtime == Runtime::kTensorflow ? traits(optimizer).tensorflow_passes : traits(optimizer).passes;
}

}  // namespace joulecast
