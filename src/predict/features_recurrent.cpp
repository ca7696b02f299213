// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, as cuDNN runs them: the product of a step and its gates wait for those of the step before. The
// weight's gradient is one product over all steps.
#include "predict/law.h"

namespace joulecast {
namespace {

// What a step takes beside its product: the kernels' starts and ends, in seconds, and cycles for each number of depth,
// which a few blocks read one behind the other. Fitted by tools/fit/recurrent.py on DeepBench's layers.
struct StepLaw {
  double fixed, depth_cycles;
};
struct PassLaws {
  StepLaw forward, backward;
};

const PassLaws& laws_for(const Device& device) {
  static const PassLaws older{{31e-6, 26}, {76e-6, 85}};
  static const PassLaws volta{{23e-6, 21}, {31e-6, 9}};
  return device.capability > 0.0 && device.capability < 7.0 ? older : volta;
}

double beside(const StepLaw& law, double depth, const Device& device) {
  return law.fixed + law.depth_cycles * depth / device.clock;
}

double weight_bytes(const GemmWork& step) {
  return static_cast<double>(step.columns * step.depth * step.element_bytes);
}

// The product of a step, whose weight is the same in every one: what of it fits stays in the L2. Its kernel has one
// weight to stream and hides all arithmetic behind that, or the other way round.
double product(const GemmWork& step, const Physics& p, const Device& device) {
  constexpr double kStreams = 0.95;
  const auto rows = static_cast<double>(step.rows), columns = static_cast<double>(step.columns);
  const auto depth = static_cast<double>(step.depth);
  const double tiled = tile_product(1.0, rows, columns, depth, step.arithmetic, device, {.layer = true}).time;
  return std::max(tiled, memory_time(p.bytes, weight_bytes(step), device, kStreams));
}

// From memory, of all steps: a weight that the L2 holds is read once.
double moved(const GemmWork& step, const Physics& p, double steps, const Device& device) {
  const double weight = weight_bytes(step);
  return steps * p.bytes - (weight < 0.6 * device.l2 ? (steps - 1.0) * weight : 0.0);
}

}  // namespace

Physics recurrent(const GemmWork& work, const Device& device, Situation situation, std::span<float> features) {
  const auto steps = static_cast<double>(work.steps);
  const auto depth = static_cast<double>(work.depth);
  // Nobody's host is in the way between steps.
  const Situation alone{.state = State::kEval, .host = Host::kBare};
  const PassLaws& laws = laws_for(device);
  GemmWork step = work;
  step.steps = 0;
  Physics p = physics_of(step, device, alone, features);
  p.gpu = steps * (beside(laws.forward, depth, device) + product(step, p, device));
  p.compute *= steps;
  p.bytes = moved(step, p, steps, device);
  if (situation.state == State::kTraining) {
    std::array<float, kMaxFeatures> unused{};
    GemmWork back = step;
    std::swap(back.columns, back.depth);
    const Physics input = physics_of(back, device, alone, unused);
    GemmWork gradient = step;
    gradient.rows = work.columns;
    gradient.columns = work.depth;
    gradient.depth = work.rows * work.steps;
    const Physics weight = physics_of(gradient, device, alone, unused);
    p.gpu += steps * (beside(laws.backward, depth, device) + product(back, input, device)) + weight.gpu;
    p.compute += steps * input.compute + weight.compute;
    p.bytes += moved(back, input, steps, device) + weight.bytes;
  }
  p.memory = p.bytes / device.bandwidth;
  p.host = host_floor(work, device, situation);
  p.bound = situation.host == Host::kCaptured ? p.gpu + p.host : joined(p.gpu, p.host, 4.0);
  return p;
}

}  // namespace joulecast
