// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_account.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/channel_series.h"
#include "analysis/sensor_check.h"
#include "analysis/stretch_energy.h"
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

// Of polls that come faster than the sensor updates, the first of each update: equation 3.1 and the standard error take
// readings for independent. A value that stays is one reading an update as any other.
Series one_an_update(const Series& polls, double period) {
  const auto sampling = series::sampling_of(polls);
  if (!sampling) return polls;
  const double least = period - sampling->usual_gap.value() / 2;
  Series out;
  for (std::size_t i = 0; i < polls.time_s.size(); ++i) {
    if (!out.time_s.empty() && polls.time_s[i] - out.time_s.back() < least) continue;
    out.time_s.push_back(polls.time_s[i]);
    out.value.push_back(polls.value[i]);
  }
  return out;
}

std::vector<double> updates_within(const Series& power, std::optional<double> period, std::vector<Phase> stretches) {
  std::sort(stretches.begin(), stretches.end(), [](const Phase& a, const Phase& b) { return a.begin < b.begin; });
  std::vector<double> out;
  if (period) out = values_within(one_an_update(power, *period), stretches);
  return out.size() < 2 ? values_within(power, stretches) : out;
}

// `stretches` in the order of their begins, apart from each other. As the summary adds them up.
void add_answer(IterationAccount& out, const Accountant& accountant, const RunSummary& summary,
                const std::vector<Phase>& stretches) {
  const auto energies = energies_of(accountant, out.device, stretches);
  if (!energies) return;
  const StretchEnergy sum = sum_of_stretches(accountant, out.device, stretches, *energies);
  const auto n = static_cast<double>(out.iterations);
  out.answer = sum.energy / n;
  out.answer_source = sum.source;
  // Readings without scatter, and those that alias, do not tell it.
  if (sum.standard_error > Joules{0} && !aliases(summary, out.device, sum.source)) {
    out.answer_standard_error = sum.standard_error / n;
  }
}

Result<IterationAccount> account_of(const Recording& recording, const Accountant& accountant, const RunSummary& summary,
                                    const std::string& device, const std::vector<Phase>& stretches,
                                    const series::TimedRun& run) {
  const auto channel = power_channel(recording, device);
  if (!channel) return not_found(fmt::format("{}: no readings of power", device));
  const std::vector<double> power =
      updates_within(accountant.power(*channel), update_period_of(recording, *channel), stretches);
  IterationAccount out;
  out.device = device;
  out.source = recording.channels[*channel].source;
  auto values = series::per_iteration(power, run);
  if (!values) return tl::unexpected(std::move(values.error()).in(device));
  out.values = *std::move(values);
  out.power_scatter_known = out.values.kept_deviation > Watts{0} && !aliases(summary, device, out.source);
  return out;
}

}  // namespace

Result<IterationAccount> iterations_of_commands(const Recording& recording, const Accountant& accountant,
                                                const RunSummary& summary, const std::string& device,
                                                std::size_t iterations) {
  std::vector<double> times;
  times.reserve(summary.commands.size());
  for (const Phase& command : summary.commands) times.push_back(command.seconds());
  const Spread time = spread(times);
  const series::TimedRun run{Seconds{time.mean}, Seconds{time.deviation.value_or(0)}, iterations};
  JC_ASSIGN_OR_RETURN(IterationAccount out, account_of(recording, accountant, summary, device, summary.commands, run));
  out.iterations = iterations * summary.commands.size();
  out.time_scatter_known = time.deviation.has_value();
  add_answer(out, accountant, summary, summary.commands);
  return out;
}

Result<IterationAccount> iterations_of_phases(const Recording& recording, const Accountant& accountant,
                                              const RunSummary& summary, const std::string& device,
                                              const std::string& name) {
  std::vector<Phase> phases;
  std::vector<double> times;
  for (Phase& phase : phases_of(recording).phases) {
    if (phase.name != name || phase.open || phase.end <= phase.begin || began_in(phase, summary.failed)) continue;
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
  JC_ASSIGN_OR_RETURN(IterationAccount out, account_of(recording, accountant, summary, device, apart, run));
  out.iterations = time.count;
  out.time_scatter_known = phases.size() > 1;
  add_answer(out, accountant, summary, apart);
  return out;
}

}  // namespace joulecast
