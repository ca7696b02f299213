// SPDX-License-Identifier: Apache-2.0
#include "analysis/steady.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/channel_series.h"
#include "series/channel.h"
#include "series/energy.h"
#include "series/sampling.h"

namespace joulecast {
namespace {

using series::Series;

// Readings within the command; cut() would add two that nobody read.
Series inside(const Series& power, const Phase& command) {
  Series out;
  for (std::size_t i = 0; i < power.time_s.size(); ++i) {
    if (power.time_s[i] < seconds_of(command.begin) || power.time_s[i] > seconds_of(command.end)) continue;
    out.time_s.push_back(power.time_s[i]);
    out.value.push_back(power.value[i]);
  }
  return out;
}

// One reading an update: polls of a register that did not change are no readings of their own.
void add_channel(SteadyRun& out, const Series& steady) {
  const auto updates = series::changes(steady);
  const Series& each = updates && updates->value.size() > 1 ? *updates : steady;
  const auto channel = series::channel(each.value);
  out.readings = each.value.size();
  out.power_w = each.value.front();
  if (!channel) return;
  out.power_w = channel->mean;
  out.deviation_w = channel->standard_deviation;
  out.outside = channel->outside.size();
  out.kept_power_w = channel->kept_mean;
  series::add(out.warnings, channel->warnings);
}

void add_idle(SteadyRun& out, double idle_power_w) {
  if (out.account.energy.empty() || out.account.energy.front().coverage < kLeastCoverage) return;
  const SourceEnergy& best = out.account.energy.front();
  const series::Energy energy{best.energy, best.standard_error, Seconds{out.seconds()}, best.method, {}};
  out.idle_share = series::split_idle(energy, Watts{idle_power_w}, Watts{0}).idle_share;
}

}  // namespace

Result<SteadyRun> steady_run(const Recording& recording, const Accountant& accountant, const std::string& device,
                             const Phase& command, std::optional<double> idle_power_w,
                             const series::ChangePointOptions& options) {
  const auto channel = power_channel(recording, device);
  if (!channel) return not_found(fmt::format("{}: no readings of power", device));
  const Series power = inside(accountant.power(*channel), command);
  constexpr std::size_t kFewest = 8;
  if (power.time_s.size() < kFewest) {
    return invalid(fmt::format("{}: {} readings of power are too few to find a steady part in; measure longer", device,
                               power.time_s.size()));
  }
  JC_ASSIGN_OR_RETURN(const series::SteadyPart part, series::steady_part(power, options));
  SteadyRun out;
  out.device = device;
  out.source = recording.channels[*channel].source;
  // What was not cut reaches to the command's own ends, where no reading is.
  const double begin = seconds_of(command.begin);
  const double end = seconds_of(command.end);
  const double from = part.head_readings > 0 ? part.from.value() : begin;
  const double to = part.tail_readings > 0 ? part.to.value() : end;
  out.from_s = from - begin;
  out.to_s = to - begin;
  out.cut_head_s = from - begin;
  out.cut_tail_s = end - to;
  out.head_readings = part.head_readings;
  out.tail_readings = part.tail_readings;
  out.warnings = part.warnings;
  if (!(to > from)) return invalid(fmt::format("{}: no steady part", device));
  constexpr double kMicro = 1e6;
  out.account = accountant.account(device, std::llround(from * kMicro), std::llround(to * kMicro));
  add_channel(out, part.steady);
  if (idle_power_w) add_idle(out, *idle_power_w);
  return out;
}

}  // namespace joulecast
