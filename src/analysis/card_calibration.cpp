// SPDX-License-Identifier: Apache-2.0
#include "analysis/card_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "analysis/channel_series.h"
#include "series/blocks.h"
#include "series/sampling.h"

#include "analysis/run_device.h"

namespace joulecast {
namespace {

using series::Series;

Result<void> check_recordings(const std::vector<const Recording*>& recordings, const std::string& device,
                              const std::string& meter) {
  std::set<std::string> cards;
  for (const Recording* recording : recordings) {
    for (const std::string& wanted : {device, meter}) {
      if (power_channel(*recording, wanted)) continue;
      return not_found(fmt::format("'{}' has no readings of power in a recording", wanted));
    }
    cards.insert(uuid_of(*recording, device));
  }
  if (cards.size() < 2) return {};
  return invalid(fmt::format("{} is another card in another recording; a line is of one card", device));
}

// A slow meter needs long blocks, and the slower classes longer to settle.
series::BlockOptions blocks_for(const Series& reference) {
  series::BlockOptions out;
  if (const auto sampling = series::sampling_of(reference)) out.block = std::max(out.block, 2 * sampling->usual_gap);
  out.settle = std::max(out.settle, 2 * out.block);
  return out;
}

// A level counts from where it has settled to a block before its end, and blocks begin anywhere in it.
Seconds least_level(const series::BlockOptions& options) {
  return (std::ceil(options.settle / options.block) + 3) * options.block;
}

Result<series::CalibrationLine> fit_source(const std::vector<const Recording*>& recordings, const std::string& device,
                                           const std::string& meter, const std::string& source) {
  std::vector<double> readings;
  std::vector<double> references;
  Seconds needed{0};
  for (const Recording* recording : recordings) {
    const auto own = power_channel(*recording, device, source);
    if (!own) continue;
    Series reading = power_series(*recording, *own);
    // Means of the time since the last step: held from the step before.
    if (recording->channels[*own].signal == Signal::kEnergy && reading.time_s.size() > 1) {
      reading.time_s.pop_back();
      reading.value.erase(reading.value.begin());
    }
    const Series reference = power_series(*recording, *power_channel(*recording, meter));
    const series::BlockOptions options = blocks_for(reference);
    needed = std::max(needed, least_level(options));
    JC_ASSIGN_OR_RETURN(const series::Blocks blocks, series::steady_blocks(reading, reference, options));
    readings.insert(readings.end(), blocks.reading.begin(), blocks.reading.end());
    references.insert(references.end(), blocks.reference.begin(), blocks.reference.end());
  }
  if (references.size() < 2) {
    return invalid(fmt::format("{} steady stretches: a line needs idleness and load, each steady for {:.0f} s",
                               references.size(), needed.value()));
  }
  return series::fit_calibration(readings, references);
}

}  // namespace

Result<std::vector<CardLine>> fit_card(const std::vector<const Recording*>& recordings, const std::string& device,
                                       const std::string& meter) {
  JC_RETURN_IF_ERROR(check_recordings(recordings, device, meter));
  std::vector<std::string> sources;
  for (const Recording* recording : recordings) {
    for (std::size_t i = 0; i < recording->channels.size(); ++i) {
      const Channel& channel = recording->channels[i];
      const bool ours = channel.device == device && tells_energy(channel) && recording->readings[i].size() > 2;
      if (ours && std::find(sources.begin(), sources.end(), channel.source) == sources.end())
        sources.push_back(channel.source);
    }
  }
  std::vector<CardLine> out;
  for (const std::string& source : sources) {
    auto line = fit_source(recordings, device, meter, source);
    if (!line) return tl::unexpected(std::move(line.error()).in(fmt::format("{} {}", device, source)));
    out.push_back(
        {uuid_of(*recordings.front(), device), name_of(*recordings.front(), device), source, meter, *std::move(line)});
  }
  return out;
}

}  // namespace joulecast
