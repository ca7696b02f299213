// SPDX-License-Identifier: Apache-2.0
// Sweeps of power limits and clocks: Zeus (ml-energy/zeus, NSDI'23), Perseus (its branch kronos, SOSP'24), the boards
// of Guerreiro et al. (hpc-ulisboa/gpupowermodel, TPDS 2019), Caffe's networks on Pascal (blackjack2015/dlbench_dvfs),
// a B300 under a load that draws all it can (sinkers/gpu-power-lab).
#include "predict/settings/setting_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dataset/details.h"

namespace joulecast::settings {
namespace {

using Detail = std::pair<std::string, std::string>;

std::string detail(const std::vector<Detail>& details, std::string_view key) {
  const auto found = std::find_if(details.begin(), details.end(), [&](const Detail& d) { return d.first == key; });
  return found == details.end() ? std::string() : found->second;
}

// The boards behind the short names: 250 W, 250 W and 260 W are the default limits of these.
std::string_view zeus_board(std::string_view name) {
  if (name == "V100") return "v100-pcie-16gb";
  if (name == "P100") return "p100-pcie-16gb";
  if (name == "RTX6000" || name == "RTX 6000") return "quadro-rtx-6000";
  return name;
}

// One measurement a cell. The optimizer hardly changes the work of a step, so its column tells repeats apart.
Result<void> read_zeus(const MeasuredOther& row, SettingRow& out) {
  if (!row.batch) return invalid("a sweep without a batch size");
  JC_ASSIGN_OR_RETURN(const auto details, parse_details(row.details));
  out.gpu = zeus_board(row.at.gpu);
  out.workload = row.model;
  out.variant = fmt::format("{} batch {}", detail(details, "dataset"), *row.batch);
  out.repeat = row.optimizer;
  return {};
}

// Several GPUs; those with a limit per stage mix settings.
Result<void> read_perseus_limits(const MeasuredOther& row, SettingRow& out) {
  JC_ASSIGN_OR_RETURN(const auto details, parse_details(row.details));
  if (detail(details, "policy") != "global") return unsupported("limits that differ between the GPUs");
  if (!row.batch) return invalid("a pipeline without a batch size");
  out.gpu = row.at.gpu;
  out.workload = row.model;
  out.variant = fmt::format("batch {} on {} GPUs, {}x{}x{}", *row.batch, row.gpu_count, detail(details, "dp"),
                            detail(details, "tp"), detail(details, "pp"));
  out.power = out.power / static_cast<double>(row.gpu_count);
  return {};
}

// "bloom stage 0" and "forward of a stage".
Result<void> read_perseus_clocks(const MeasuredOther& row, SettingRow& out) {
  constexpr std::string_view kStage = " stage ";
  constexpr std::string_view kOfAStage = " of a stage";
  const std::size_t at = row.model.rfind(kStage);
  if (at == std::string::npos || !row.per.ends_with(kOfAStage)) return invalid("no stage of a pipeline");
  const std::string stage = row.model.substr(at + kStage.size());
  if (stage != "0" && stage != "7") return unsupported("stages 1 to 6 are copies of the first one");
  out.gpu = row.at.gpu;
  out.workload = fmt::format("{} {}", row.model.substr(0, at), row.per.substr(0, row.per.size() - kOfAStage.size()));
  out.variant = "stage " + stage;
  return {};
}

// Power alone, without times. Only the default memory clocks of the two boards that were swept finely are of use: the
// Titan V's powers do not follow its clock, the others have three or four clocks.
Result<void> read_guerreiro(const MeasuredOther& row, SettingRow& out) {
  out.gpu = row.at.gpu.substr(0, row.at.gpu.find(" ("));  // the chip's name stands in parentheses
  const double memory_clock = row.at.memory_clock ? row.at.memory_clock->value() / 1e6 : 0.0;
  const bool fine =
      (out.gpu == "GTX Titan X" && memory_clock == 3505.0) || (out.gpu == "Titan Xp" && memory_clock == 5705.0);
  if (!fine) return unsupported("a board or memory clock that was not swept finely");
  out.workload = row.model;
  out.variant = fmt::format("memory at {:.0f} MHz", memory_clock);
  return {};
}

// Steps at core clocks, of each memory clock a sweep; campaigns differ by a quarter in the same one. Some tables tell
// by how much they moved clocks, not from where.
Result<void> read_dlbench(const MeasuredOther& row, SettingRow& out) {
  if (!row.at.sm_clock || !row.at.memory_clock) return unsupported("an offset to a clock that is not named");
  out.gpu = row.at.gpu;
  out.workload = row.model;
  out.variant = fmt::format("{}, memory at {:.0f} MHz", row.at.campaign, row.at.memory_clock->value() / 1e6);
  return {};
}

// The rungs "cap-450w" and so on, of the same work each. Their clock is what they ran at, not what was asked for.
Result<void> read_b300(const MeasuredOther& row, SettingRow& out) {
  constexpr std::string_view kRung = " cap-";
  const std::size_t at = row.model.find(kRung);
  if (at == std::string::npos) return unsupported("a rung that is no power limit");
  JC_ASSIGN_OR_RETURN(const auto details, parse_details(row.details));
  out.gpu = row.at.gpu;
  out.workload = row.model.substr(0, at);
  out.variant = fmt::format("{} of {}, {} times", row.precision, detail(details, "size"), detail(details, "work_done"));
  out.sm_clock.reset();
  return {};
}

struct SweepLayout {
  std::string_view name;
  Result<void> (*read)(const MeasuredOther& row, SettingRow& out);
};
constexpr std::array kLayouts{SweepLayout{"zeus_power_limit_sweep", read_zeus},
                              SweepLayout{"perseus_powerlimit_pipeline", read_perseus_limits},
                              SweepLayout{"perseus_stage_clock_sweep", read_perseus_clocks},
                              SweepLayout{"guerreiro_dvfs", read_guerreiro},
                              SweepLayout{"dlbench_clocks", read_dlbench},
                              SweepLayout{"b300_power_ladder", read_b300}};

}  // namespace

std::optional<std::size_t> sweep_rank(std::string_view layout) {
  for (std::size_t i = 0; i < kLayouts.size(); ++i) {
    if (kLayouts[i].name == layout) return i;
  }
  return std::nullopt;
}

Result<SettingRow> setting_row(const MeasuredOther& row) {
  const auto rank = sweep_rank(row.from.table);
  if (!rank) return unsupported("no sweep of clocks or limits");
  if (!row.readings.power) return unsupported("no power");
  SettingRow out;
  out.gpu_label = row.at.gpu;
  out.mode = row.mode == name(Mode::kTraining) ? Mode::kTraining : Mode::kInference;
  out.precision = parse_precision(row.precision);
  out.batch = row.batch;
  out.power_limit = row.at.power_limit;
  out.sm_clock = row.at.sm_clock;
  out.time = row.readings.time;
  out.power = *row.readings.power;
  out.gpu_count = row.gpu_count;
  out.from = row.from;
  JC_RETURN_IF_ERROR(kLayouts.at(*rank).read(row, out));
  return out;
}

}  // namespace joulecast::settings
