// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/channel_series.h"
#include "series/sampling.h"

namespace joulecast {
namespace {

using series::Series;

std::vector<double> values_within(const Series& power, const std::vector<Phase>& sorted) {
  std::vector<double> out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < power.time_s.size(); ++i) {
    while (next < sorted.size() && seconds_of(sorted[next].end) < power.time_s[i]) ++next;
    if (next < sorted.size() && seconds_of(sorted[next].begin) <= power.time_s[i]) out.push_back(power.value[i]);
  }
  return out;
}

// One reading an update: equation 3.1 and the standard error take them for independent. Where the value hardly changes
// nothing tells an update from a poll, and nothing scatters.
Result<std::vector<double>> updates_within(const Series& power, std::vector<Phase> stretches) {
  std::sort(stretches.begin(), stretches.end(), [](const Phase& a, const Phase& b) { return a.begin < b.begin; });
  JC_ASSIGN_OR_RETURN(const Series updates, series::changes(power));
  std::vector<double> out = values_within(updates, stretches);
  return out.size() < 2 ? values_within(power, stretches) : out;
}

// Energy of the whole stretches; absent where one of them has none.
void add_answer(IterationAccount& out, const Accountant& accountant, const std::vector<Phase>& stretches) {
  Joules sum;
  double variance = 0;
  for (const Phase& stretch : stretches) {
    const auto energy = answer(accountant.account(out.device, stretch.begin, stretch.end));
    if (!energy) return;
    sum += energy->energy;
    variance += std::pow(energy->standard_error.value(), 2);
    out.answer_source = energy->source;
  }
  const auto n = static_cast<double>(out.iterations);
  out.answer = sum / n;
  out.answer_standard_error = Joules{std::sqrt(variance)} / n;
}

Result<IterationAccount> account_of(const Recording& recording, const Accountant& accountant, const std::string& device,
                                    const std::vector<Phase>& stretches, const series::TimedRun& run) {
  const auto channel = power_channel(recording, device);
  if (!channel) return not_found(fmt::format("{}: no readings of power", device));
  JC_ASSIGN_OR_RETURN(const std::vector<double> power, updates_within(accountant.power(*channel), stretches));
  IterationAccount out;
  out.device = device;
  out.source = recording.channels[*channel].source;
  auto values = series::per_iteration(power, run);
  if (!values) return tl::unexpected(std::move(values.error()).in(device));
  out.values = *std::move(values);
  return out;
}

}  // namespace

Result<IterationAccount> iterations_of_commands(const Recording& recording, const Accountant& accountant,
                                                const std::string& device, const std::vector<Phase>& commands,
                                                std::size_t iterations) {
  std::vector<double> times;
  times.reserve(commands.size());
  for (const Phase& command : commands) times.push_back(command.seconds());
  const Spread time = spread(times);
  const series::TimedRun run{Seconds{time.mean}, Seconds{time.deviation.value_or(0)}, iterations};
  JC_ASSIGN_OR_RETURN(IterationAccount out, account_of(recording, accountant, device, commands, run));
  out.iterations = iterations * commands.size();
  out.time_scatter_known = time.deviation.has_value();
  add_answer(out, accountant, commands);
  return out;
}

Result<IterationAccount> iterations_of_phases(const Recording& recording, const Accountant& accountant,
                                              const std::string& device, const std::string& name) {
  std::vector<Phase> phases;
  std::vector<double> times;
  for (Phase& phase : phases_of(recording).phases) {
    if (phase.name != name || phase.open || phase.end <= phase.begin) continue;
    times.push_back(phase.seconds());
    phases.push_back(std::move(phase));
  }
  if (phases.empty()) return not_found(fmt::format("no phase '{}' with an end", name));
  Spread time = spread_of(phases, times);
  // Iterations that run side by side share the time and the energy.
  const std::vector<Phase> apart = joined(phases);
  if (apart.size() < phases.size()) {
    time.total = 0;
    for (const Phase& phase : apart) time.total += phase.seconds();
  }
  // The total's scatter if phases scatter on their own: deviation of one of them, times the root of how many.
  const double total_deviation = spread(times).deviation.value_or(0) * std::sqrt(static_cast<double>(phases.size()));
  const series::TimedRun run{Seconds{time.total}, Seconds{total_deviation}, time.count};
  JC_ASSIGN_OR_RETURN(IterationAccount out, account_of(recording, accountant, device, apart, run));
  out.iterations = time.count;
  out.time_scatter_known = phases.size() > 1;
  // Batches are shorter than a counter's step; what lies between the first and the last belongs to none of them, so
  // only phases that follow each other are held against the whole.
  const Phase whole{name, {}, 0, apart.front().begin, apart.back().end, false};
  constexpr double kFills = 0.95;
  if (time.total >= kFills * whole.seconds() && time.total <= whole.seconds() * (2 - kFills)) {
    add_answer(out, accountant, {whole});
  }
  return out;
}

}  // namespace joulecast
