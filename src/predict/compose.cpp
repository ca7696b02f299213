// SPDX-License-Identifier: Apache-2.0
#include "predict/compose.h"

#include <algorithm>

#include "predict/law.h"

namespace joulecast {

// No kernel is shorter than about 3000 cycles from start to end: 2 us at 1.4 GHz, as the smallest captured ones take.
constexpr double kShortestKernelCycles = 3000.0;

double busy_in_network(const ComposePart& part, const Device& device, Mode mode) {
  if (part.gpu <= 0.0) return 0.0;  // a call without a kernel
  double busy = part.gpu;
  if (mode == Mode::kTraining) {
    busy = std::max(0.25 * busy, busy - part.accumulation);
    busy *= 1.0 - part.left_out;
  }
  return std::max(busy, kShortestKernelCycles / device.clock);
}

double captured_in_network(const ComposePart& part, const Device& device, Mode mode) {
  const double busy = busy_in_network(part, device, mode);
  if (busy <= 0.0) return 0.0;
  return part.time * std::min(1.0, busy / part.gpu) + (mode == Mode::kTraining ? part.host : 0.0);
}

namespace {

// On the profile's own machine; `part.host` is the profile's already.
double host_in_network(const ComposePart& part, const ComposeInput& input, const ComposeConstants& c) {
  if (part.call) return *part.call;
  const bool training = input.mode == Mode::kTraining;
  const bool older = input.host.profile == HostProfile::kOlder;
  if (part.functional) return (training ? c.functional_training : c.functional_inference) * (older ? 2.0 : 1.0);
  if (!training) return c.host_inference * part.host;
  return c.host_training * std::max(0.0, part.host - c.benchmark_call * (older ? 1.61 : 1.0));
}

// For how long all executions draw what the benchmark drew above idle. Its waits count, for a network waits as well,
// but not between the kernels of one call, and no longer than a call takes where a runtime makes cheaper ones.
double drawn_for(const ComposePart& part, double busy) {
  const double alone = part.time * (part.gpu > 0.0 ? std::min(1.0, busy / part.gpu) : 1.0);
  const double called = std::min(part.calls, part.count);
  return called * (part.call ? std::min(alone, std::max(busy, *part.call)) : alone) + (part.count - called) * busy;
}

// Of the joules that they draw above idle in `seconds`, those of the waits: as much as a GPU that is awake draws, and
// what is more than the limit while they run.
double drawn_waiting(const ComposePart& part, double busy, double seconds, const Device& device) {
  const double power = std::max(0.0, part.power - device.idle);
  const double running = part.count * busy;
  const double asleep = std::min(power, device.awake - device.idle) * std::max(0.0, seconds - running);
  return std::max(asleep, power * seconds - (device.limit - device.idle) * running);
}

// All waits together are no longer than the step that they are part of: its calls are quicker than the benchmark's.
// Joules that are too many by that, of waits of `waits` seconds in a step of `step`.
double overdrawn(const ComposeInput& input, const Device& device, double waits, double step) {
  double waiting = 0.0;
  for (const ComposePart& part : input.parts) {
    const double busy = busy_in_network(part, device, input.mode);
    waiting += drawn_waiting(part, busy, drawn_for(part, busy), device);
  }
  return waiting * (1.0 - step / waits);
}

// A GPU that waits for most of an operation's call falls into a lower state, in which its kernels draw less than behind
// each other: by half of what is left to the limit, as far as an A30's networks tell. Joules that all executions draw
// besides where it stays awake, beyond the `dynamic` ones; with these no more than the limit allows while they run.
double woken_for(const ComposePart& part, double busy, double dynamic, const Device& device) {
  constexpr double kShare = 0.5, kLow = 0.3, kHigh = 0.5;
  if (part.gpu <= 0.0 || part.gpu >= kHigh * part.time) return 0.0;
  const double duty = part.gpu / part.time;
  const double asleep = std::min(1.0, (kHigh - duty) / (kHigh - kLow));
  const double drawn = device.awake + std::max(0.0, part.power - device.awake) / duty;
  const double woken = part.count * busy * asleep * kShare * std::max(0.0, device.limit - drawn);
  return std::clamp((device.limit - device.idle) * part.count * busy - dynamic, 0.0, woken);
}

// Whether a network keeps the GPU awake, by the share of its time for which it is busy.
double awake_in(const Composition& whole) {
  constexpr double kLow = 0.3, kHigh = 0.6;
  const double duty = whole.time > 0.0 ? std::min(1.0, whole.gpu / whole.time) : 0.0;
  return std::clamp((duty - kLow) / (kHigh - kLow), 0.0, 1.0);
}

// Both have the optimizer's step, which nothing hides.
struct Step {
  double seconds, joules;  // beyond idle
};
Step optimizer_step(const ComposeInput& input, const Device& device) {
  const double seconds = input.optimizer_bytes / (0.9 * device.bandwidth);
  return {seconds, 0.8 * (device.limit - device.idle) * seconds};
}

// Starts are the GPU's own time: nothing runs beside them.
Composition compose_captured(const ComposeInput& input, const Device& device, const ComposeConstants& constants) {
  const Step step = optimizer_step(input, device);
  Composition out{.gpu = step.seconds, .beside = input.beside};
  double dynamic = step.joules;
  for (const ComposePart& part : input.parts) {
    const double seconds = part.count * captured_in_network(part, device, input.mode);
    out.gpu += seconds;
    dynamic += std::max(0.0, part.power - device.idle) * seconds;
  }
  out.time = out.gpu + out.beside;
  out.energy = std::min(dynamic + device.idle * out.time, constants.power_ceiling * device.limit * out.time);
  return out;
}

}  // namespace

Composition compose(const ComposeInput& input, const Device& device, const ComposeConstants& constants) {
  if (input.captured) return compose_captured(input, device, constants);
  Composition out;
  double dynamic = 0.0;
  double woken = 0.0;
  double waits = 0.0;
  for (const ComposePart& part : input.parts) {
    const double busy = busy_in_network(part, device, input.mode);
    out.gpu += part.count * busy;
    out.host += part.calls * host_in_network(part, input, constants);
    const double seconds = drawn_for(part, busy);
    const double drawn = std::max(0.0, part.power - device.idle) * seconds;
    dynamic += drawn;
    waits += seconds - part.count * busy;
    woken += woken_for(part, busy, drawn, device);
  }
  const Step step = optimizer_step(input, device);
  out.gpu += step.seconds;
  dynamic += step.joules;
  if (input.mode == Mode::kTraining) out.host += constants.parameter_call * input.parameter_tensors;
  out.host *= input.host.scale;
  out.beside = input.beside;
  out.time = joined(out.gpu, out.host, constants.sharpness) + out.beside;
  if (const double step_time = out.time - out.beside; waits > step_time)
    dynamic -= overdrawn(input, device, waits, step_time);
  dynamic += woken * awake_in(out);
  out.energy = std::min(dynamic + device.idle * out.time, constants.power_ceiling * device.limit * out.time);
  return out;
}

}  // namespace joulecast
