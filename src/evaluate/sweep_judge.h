// SPDX-License-Identifier: Apache-2.0
// Foretells sweeps of clocks and power limits, of which the highest setting is known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluate/evaluate.h"
#include "joulecast/gpu.h"
#include "joulecast/result.h"
#include "predict/settings/settings_model.h"
#include "predict/settings/sweep.h"

namespace joulecast {

class SweepJudge {
 public:
  // Errors: those of the pack's reader, but that a pack may lack a law of settings.
  static Result<SweepJudge> open(const std::string& pack, const Catalogue& catalogue);

  // Whether the row may be one setting of a sweep. The workload can be anything: of its operations nothing is asked.
  [[nodiscard]] bool takes(const MeasuredOther& row) const;
  // A row for each setting that the figures of settings are made of (judged_settings() in predict/settings/foretell.h).
  // `baseline` is the time of the known one: that no setting changes anything.
  // Requires: a sweep of rows it takes.
  [[nodiscard]] std::vector<JudgedRow> judge(const settings::Sweep& sweep) const;
  [[nodiscard]] const Catalogue& catalogue() const { return *catalogue_; }

 private:
  explicit SweepJudge(const Catalogue& catalogue) : catalogue_(&catalogue) {}

  std::optional<settings::SettingsModel> model_;
  const Catalogue* catalogue_;
};

}  // namespace joulecast
