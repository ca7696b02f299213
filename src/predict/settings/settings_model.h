// SPDX-License-Identifier: Apache-2.0
// Everything fitted about settings: the constants of swept GPUs, and what workloads are like. In a pack it is the table
// "settings" (docs/formats/pack.md).
//
//   SettingsModel model = SettingsModel::from(pack.table("settings"));
//   const SettingLaw law(model.constants(gpu));
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/gpu.h"
#include "joulecast/result.h"
#include "predict/pack/pack.h"
#include "predict/settings/hypotheses.h"

namespace joulecast::settings {

// Half-widths of 90 % intervals (of logarithms) per unit of distance from what is known: changes of ln time and ln
// power, added up. Judged on workloads and GPUs left out.
struct SettingWidths {
  double time = 0.6, power = 0.6, energy = 0.6;
};

class SettingsModel {
 public:
  // Errors: kInvalidInput for keys or values that make no sense.
  static Result<SettingsModel> from(const TableView& table);
  [[nodiscard]] std::map<std::string, double> numbers() const;

  // `limited`: swept by limits, with whole networks.
  void add(const Gpu& gpu, const GpuConstants& constants, bool limited);
  void set_prior(std::vector<std::uint32_t> rows);

  [[nodiscard]] bool swept(const Gpu& gpu) const { return gpus_.find(gpu.id) != gpus_.end(); }
  [[nodiscard]] bool limited(const Gpu& gpu) const;
  // Of a GPU that was never swept: the means of the swept ones. Static and low power follow the kind of memory, so
  // boards with the same kind count four times for these; the rest follows the voltage that the chip's process wants,
  // so those of the same process do. What only limits on whole networks show (all but static power and voltage) is
  // taken from boards swept so.
  [[nodiscard]] GpuConstants constants(const Gpu& gpu) const;
  // Whether any setting but the default was measured makes them narrower.
  [[nodiscard]] const SettingWidths& widths(const Gpu& gpu, bool measured) const {
    return widths_[swept(gpu) ? 0 : 1][measured ? 1 : 0];
  }
  void set_widths(bool swept, bool measured, const SettingWidths& widths) {
    widths_[swept ? 0 : 1][measured ? 1 : 0] = widths;
  }
  // Over hypothesis_grid().
  [[nodiscard]] const Weights& prior() const { return prior_; }

 private:
  struct Swept {
    GpuConstants constants;
    bool stacked_memory = false, limited = false;
    double capability = 0.0;
  };
  Result<void> read(std::string_view key, double value);
  Result<void> read_width(std::string_view key, double value);
  [[nodiscard]] GpuConstants resembling(const Gpu& gpu) const;

  std::map<std::string, Swept, std::less<>> gpus_;
  std::array<std::array<SettingWidths, 2>, 2> widths_;  // [swept, not][nothing measured, something]
  std::vector<std::uint32_t> prior_rows_;
  Weights prior_ = grid_prior({}, 1.0);
};

}  // namespace joulecast::settings
