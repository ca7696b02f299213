// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/source_sampling.h"
#include "cli/measure/analyze_parts.h"
#include "cli/numbers.h"
#include "cli/table.h"

namespace joulecast::cli {
namespace {

using Align = Table::Align;
constexpr const char* kNothing = "-";
constexpr double kMicro = 1e6;  // readings have times of whole microseconds

std::string method_of(const SourceEnergy& energy) {
  if (energy.correction == Correction::kDesmeared) return "running mean undone";
  if (energy.correction == Correction::kOffEdges) return "trapezoid off the edge";
  return energy.method == series::EnergyMethod::kCounter ? "counter difference" : "trapezoid";
}

}  // namespace

std::string method_text(const RunSummary& summary) {
  Table table({{"device"}, {"energy is by"}, {"EDP", Align::kRight}, {"ED2P", Align::kRight}, {"idle", Align::kRight}});
  for (const DeviceSummary& device : summary.devices) {
    if (!device.energy_j) continue;
    const SourceEnergy& best = device.runs.front().energy.front();
    table.add({device.device, fmt::format("{} ({})", method_of(best), best.source), with_prefix(*device.edp_js, "J s"),
               with_prefix(*device.ed2p_js2, "J s²"), device.idle_share ? share(*device.idle_share, 1) : kNothing});
  }
  return table.row_count() == 0 ? std::string() : table.text(2) + "\n";
}

std::string sampling_text(const Recording& recording) {
  Table table({{"device"},
               {"source"},
               {"rate", Align::kRight},
               {"jitter", Align::kRight},
               {"CV", Align::kRight},
               {"max gap", Align::kRight},
               {"lost", Align::kRight},
               {"updates", Align::kRight}});
  for (const SourceSampling& one : sampling_of_sources(recording)) {
    const std::string updates = one.update_period_s ? with_prefix(*one.update_period_s, "s") : kNothing;
    if (!one.sampling) {
      table.add({one.channel.device, one.channel.source, kNothing, kNothing, kNothing, kNothing,
                 std::to_string(one.dropped), updates});
      continue;
    }
    const series::Sampling& sampling = *one.sampling;
    table.add({one.channel.device, one.channel.source, with_prefix(sampling.rate.value(), "Hz"),
               with_prefix(std::round(sampling.jitter.value() * kMicro) / kMicro, "s"),
               share(sampling.coefficient_of_variation, 1), with_prefix(sampling.longest_gap.value(), "s"),
               std::to_string(std::max<std::uint64_t>(sampling.lost, one.dropped)), updates});
  }
  return table.row_count() == 0 ? "  no source of power or energy\n" : table.text(2);
}

}  // namespace joulecast::cli
