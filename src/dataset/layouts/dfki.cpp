// SPDX-License-Identifier: Apache-2.0
// The same prompts on six GPUs, of DFKIEI/LLM-Energy. Energies are CarbonTracker's: GPU and processor, times 1.59.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("model")));
  if (out.at.gpu.ends_with('?')) {
    out.at.gpu.pop_back();
    add_caution(out.from.anomaly, "gpu-guessed");
  }
  out.mode = "inference";
  out.per = "run of all prompts";
  out.at.scope = PowerScope::kHost;
  out.at.campaign = row.text("campaign");
  out.at.software = "transformers generate";
  out.batch = row.extent("batch_default");
  add_details(out, row, {"run", "queries", "input_tokens", "output_tokens", "output_tokens_per_s"});
  out.readings.time = row.quantity<Seconds>("total_time_s");
  out.readings.energy = row.quantity<Joules>("carbontracker_energy_with_pue_j");
  out.readings.power = row.quantity<Watts>("mean_power_with_pue_w");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout dfki_layout() {
  return {"dfki_llm",
          {"campaign", "model", "gpu", "run", "batch_default", "output_tokens", "total_time_s",
           "carbontracker_energy_with_pue_j"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "DFKIEI/LLM-Energy@1564fa11eb",
           .licence = "no licence file",
           .protocol = "CarbonTracker: GPU and processor, times a PUE of 1.58 or 1.59"}};
}

}  // namespace joulecast
