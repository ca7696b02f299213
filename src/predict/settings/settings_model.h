// SPDX-License-Identifier: Apache-2.0
// Everything fitted about settings: the constants of swept GPUs, and what workloads are like. In a pack it is the table
// "settings" (docs/formats/pack.md).
//
//   SettingsModel model = SettingsModel::from(pack.table("settings"));
//   const SettingLaw law(model.constants(gpu));
#pragma once

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

class SettingsModel {
 public:
  // Errors: kInvalidInput for keys or values that make no sense.
  static Result<SettingsModel> from(const TableView& table);
  [[nodiscard]] std::map<std::string, double> numbers() const;

  void add(const Gpu& gpu, const GpuConstants& constants);
  void set_prior(std::vector<std::uint32_t> rows);

  [[nodiscard]] bool swept(const Gpu& gpu) const { return gpus_.find(gpu.id) != gpus_.end(); }
  // Of a GPU that was never swept: the means of the swept ones. Static and low power follow the kind of memory, so
  // boards with the same kind count for these; voltage and clocks follow the chip, so those of the same compute
  // capability do.
  [[nodiscard]] GpuConstants constants(const Gpu& gpu) const;
  // Over hypothesis_grid().
  [[nodiscard]] const Weights& prior() const { return prior_; }

 private:
  struct Swept {
    GpuConstants constants;
    bool stacked_memory = false;
    double capability = 0.0;
  };
  Result<void> read(std::string_view key, double value);
  [[nodiscard]] GpuConstants resembling(const Gpu& gpu) const;

  std::map<std::string, Swept, std::less<>> gpus_;
  std::vector<std::uint32_t> prior_rows_;
  Weights prior_ = grid_prior({}, 1.0);
};

}  // namespace joulecast::settings
