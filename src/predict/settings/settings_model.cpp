// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/settings_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace joulecast::settings {
namespace {

// Of the prior's weight, spread evenly: what no sweep has shown is possible too.
constexpr double kFlatShare = 0.3;

bool is_stacked(const Gpu& gpu) {
  return gpu.memory_type.starts_with("HBM");
}

double capability_of(const Gpu& gpu) {
  double value = 0.0;
  std::from_chars(gpu.compute_capability.data(), gpu.compute_capability.data() + gpu.compute_capability.size(), value);
  return value;
}

// What a generation's chips were made in, in nm: TSMC's 16 and 12 are one process, and the few chips that were made
// elsewhere count with the others. 0: no generation of which a board was swept.
int process_of(double capability) {
  if (capability < 3.0) return 0;
  if (capability < 6.0) return 28;
  if (capability < 8.0) return 16;
  if (capability < 8.05) return 7;
  return capability < 8.85 ? 8 : 5;
}

// A running mean over GPUs, constant by constant.
class Mean {
 public:
  void add(const GpuConstants& constants, std::size_t i, double weight) {
    sums_[i] += weight * constants.*kGpuConstants[i];
    weights_[i] += weight;
  }
  [[nodiscard]] GpuConstants mean() const {
    GpuConstants out;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (weights_[i] > 0.0) out.*kGpuConstants[i] = sums_[i] / weights_[i];
    }
    return out;
  }

 private:
  std::array<double, kGpuConstants.size()> sums_{}, weights_{};
};

// A single kernel at several clocks shows it.
bool shown_by_clocks(std::size_t constant) {
  const auto member = kGpuConstants[constant];
  return member == &GpuConstants::static_power || member == &GpuConstants::knee || member == &GpuConstants::slope;
}

bool follows_memory(std::size_t constant) {
  return kGpuConstants[constant] == &GpuConstants::static_power || kGpuConstants[constant] == &GpuConstants::low_power;
}

struct WidthKey {
  std::string_view name;
  std::size_t gpu, known;
};
constexpr WidthKey kWidthKeys[] = {
    {"swept/predicted", 0, 0}, {"swept/measured", 0, 1}, {"unswept/predicted", 1, 0}, {"unswept/measured", 1, 1}};

}  // namespace

bool SettingsModel::limited(const Gpu& gpu) const {
  const auto own = gpus_.find(gpu.id);
  return own != gpus_.end() && own->second.limited;
}

void SettingsModel::add(const Gpu& gpu, const GpuConstants& constants, bool limited) {
  gpus_[std::string(gpu.id)] = {constants, is_stacked(gpu), limited, capability_of(gpu)};
}

void SettingsModel::set_prior(std::vector<std::uint32_t> rows) {
  prior_ = grid_prior(rows, kFlatShare);
  prior_rows_ = std::move(rows);
}

GpuConstants SettingsModel::constants(const Gpu& gpu) const {
  const auto own = gpus_.find(gpu.id);
  return own != gpus_.end() ? own->second.constants : resembling(gpu);
}

GpuConstants SettingsModel::resembling(const Gpu& gpu) const {
  constexpr double kAlike = 4.0;
  Mean mean;
  const GpuConstants centre;
  for (std::size_t i = 0; i < kGpuConstants.size(); ++i) mean.add(centre, i, 1.0);
  for (const auto& [id, other] : gpus_) {
    const bool same_memory = other.stacked_memory == is_stacked(gpu);
    const bool same_process = process_of(other.capability) == process_of(capability_of(gpu));
    for (std::size_t i = 0; i < kGpuConstants.size(); ++i) {
      if (!other.limited && !shown_by_clocks(i)) continue;
      mean.add(other.constants, i, (follows_memory(i) ? same_memory : same_process) ? kAlike : 1.0);
    }
  }
  return mean.mean();
}

std::map<std::string, double> SettingsModel::numbers() const {
  std::map<std::string, double> out;
  for (const auto& [id, swept] : gpus_) {
    const std::string prefix = fmt::format("gpu/{}/", id);
    for (std::size_t i = 0; i < kGpuConstants.size(); ++i)
      out[prefix + std::string(kGpuConstantNames[i])] = swept.constants.*kGpuConstants[i];
    out[prefix + "limited"] = swept.limited ? 1.0 : 0.0;
    out[prefix + "stacked_memory"] = swept.stacked_memory ? 1.0 : 0.0;
    out[prefix + "capability"] = swept.capability;
  }
  for (const WidthKey& key : kWidthKeys) {
    const SettingWidths& widths = widths_[key.gpu][key.known];
    out[fmt::format("width/{}/time", key.name)] = widths.time;
    out[fmt::format("width/{}/power", key.name)] = widths.power;
    out[fmt::format("width/{}/energy", key.name)] = widths.energy;
  }
  for (std::size_t i = 0; i < prior_rows_.size(); ++i) out[fmt::format("prior/{:03}", i)] = prior_rows_[i];
  return out;
}

Result<void> SettingsModel::read_width(std::string_view key, double value) {
  for (const WidthKey& known : kWidthKeys) {
    SettingWidths& widths = widths_[known.gpu][known.known];
    const std::string prefix = fmt::format("width/{}/", known.name);
    if (!key.starts_with(prefix) || value < 0.0 || value > 100.0) continue;
    const std::string_view what = key.substr(prefix.size());
    double* const place = what == "time"     ? &widths.time
                          : what == "power"  ? &widths.power
                          : what == "energy" ? &widths.energy
                                             : nullptr;
    if (place == nullptr) continue;
    *place = value;
    return {};
  }
  return invalid(fmt::format("settings: '{}' is {}", key, value));
}

Result<void> SettingsModel::read(std::string_view key, double value) {
  const auto bad = [&] { return invalid(fmt::format("settings: '{}' is {}", key, value)); };
  if (key.starts_with("prior/")) {
    if (value < 0.0 || value >= static_cast<double>(kGridSize) || value != std::floor(value)) return bad();
    prior_rows_.push_back(static_cast<std::uint32_t>(value));
    return {};
  }
  if (key.starts_with("width/")) return read_width(key, value);
  const std::size_t end = key.rfind('/');
  if (!key.starts_with("gpu/") || end < 5) return bad();
  Swept& swept = gpus_[std::string(key.substr(4, end - 4))];
  const std::string_view what = key.substr(end + 1);
  if (what == "stacked_memory") {
    swept.stacked_memory = value != 0.0;
  } else if (what == "limited") {
    swept.limited = value != 0.0;
  } else if (what == "capability") {
    swept.capability = value;
  } else {
    const auto at = std::find(kGpuConstantNames.begin(), kGpuConstantNames.end(), what);
    if (at == kGpuConstantNames.end() || value < 0.0 || value > 10.0) return bad();
    swept.constants.*kGpuConstants[static_cast<std::size_t>(at - kGpuConstantNames.begin())] = value;
  }
  return {};
}

Result<SettingsModel> SettingsModel::from(const TableView& table) {
  SettingsModel out;
  for (std::size_t i = 0; i < table.size(); ++i) JC_RETURN_IF_ERROR(out.read(table.key(i), table.value(i)));
  for (const auto& [gpu, swept] : out.gpus_) {
    if (!possible(swept.constants)) return invalid(fmt::format("settings: no board is like '{}'", gpu));
  }
  out.set_prior(std::move(out.prior_rows_));
  return out;
}

}  // namespace joulecast::settings
