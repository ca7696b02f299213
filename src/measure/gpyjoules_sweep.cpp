// SPDX-License-Identifier: Apache-2.0
// GPyJoules' tree of folders as a sweep: data root, experiment, benchmark, run, repetition.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/phases.h"
#include "analysis/said_once.h"
#include "measure/recorded_settings.h"
#include "measure/sweep_load.h"
#include "measure/sweep_measured.h"
#include "recording/import/gpyjoules.h"

namespace joulecast {
namespace {

// What a GPU can have, far away from what integers can.
std::optional<std::uint32_t> whole(const std::optional<double>& value, double unit) {
  constexpr double kMost = 1e9;
  if (!value || !(*value / unit >= 1) || !(*value / unit <= kMost)) return std::nullopt;
  return static_cast<std::uint32_t>(std::lround(*value / unit));
}

GpuSettings settings_of(const GpyjoulesSetting& setting) {
  constexpr double kMilli = 1e-3, kMega = 1e6;
  GpuSettings out;
  out.power_limit_mw = whole(setting.power_limit_w, kMilli);
  const auto memory = whole(setting.memory_clock_hz, kMega), sm = whole(setting.sm_clock_hz, kMega);
  if (memory && sm) out.application = ApplicationClocks{*memory, *sm};
  return out;
}

// GPyJoules reads before the program begins and after its end. False where nothing marks these: all of it counts then.
bool mark_command(Recording& recording) {
  const auto span = recording.span();
  if (!span) return false;
  MonotonicUs begin = span->begin, end = span->end;
  bool marked = false;
  for (const Phase& phase : phases_of(recording).phases) {
    if (phase.name != "experiment" || phase.open) continue;
    begin = phase.begin;
    end = phase.end;
    marked = true;
    break;
  }
  recording.events.push_back({begin, EventKind::kBegin, kRecorderTrack, "command", {}});
  recording.events.push_back({end, EventKind::kEnd, kRecorderTrack, "command", {}});
  return marked;
}

class Tree {
 public:
  explicit Tree(const std::vector<GpyjoulesRun>& runs) {
    for (const GpyjoulesRun& run : runs) experiments_.insert(run.experiment);
    for (const GpyjoulesRun& run : runs) {
      if (!settings_of(run.setting).empty()) named_.insert(group_of(run));
    }
  }

  // Why it does not count, or empty.
  std::string add(const GpyjoulesRun& from) {
    const GpuSettings settings = settings_of(from.setting);
    if (settings.empty() && named_.contains(group_of(from))) {
      return fmt::format("the name '{}' is no setting, as those of the others are (200W; 877MHz,1065MHz)", from.run);
    }
    auto recording = import_gpyjoules(from.path, {});
    if (!recording) return recording.error().text();
    const bool marked = mark_command(*recording);
    const auto summary = summarize(*recording);
    if (!summary) return summary.error().text();
    if (std::string why = not_held_in(*recording, settings); !why.empty()) {
      return "the setting did not last: " + why;
    }
    SweepMeasurement& run = out_.runs.emplace_back();
    run.id = id_of(from);
    run.group = group_of(from);
    run.setting = settings.empty() ? from.run : settings.text();
    run.limit_w = from.setting.power_limit_w;
    if (settings.application) run.clock_mhz = settings.application->sm_mhz;
    run.repetition = repetition_of(from);
    add_measured(run, *summary);
    if (out_.machines.empty()) out_.machines.push_back({{}, recording->head, {}});
    add_once(summary->doubts, out_.doubts);
    if (!marked) {
      out_.doubts.push_back(
          fmt::format("{}: no phase 'experiment' is marked: all of its recording counts, idle with it", run.id));
    }
    return {};
  }

  LoadedSweep loaded(const GpyjoulesTree& tree) {
    out_.left_out = tree.unread;
    for (const GpyjoulesRun& run : tree.runs) {
      if (const std::string why = add(run); !why.empty())
        out_.left_out.push_back(fmt::format("{}: {}", id_of(run), why));
    }
    settle_energy(out_);
    out_.doubts = said_once(out_.doubts);
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string group_of(const GpyjoulesRun& run) const {
    return experiments_.size() > 1 ? run.experiment + "/" + run.benchmark : run.benchmark;
  }
  [[nodiscard]] std::string id_of(const GpyjoulesRun& run) const {
    return fmt::format("{}/{}/{}", group_of(run), run.run, run.repetition);
  }
  // Names that are no numbers are counted.
  std::size_t repetition_of(const GpyjoulesRun& run) {
    const std::size_t count = ++count_[{group_of(run), run.run}];
    std::size_t out = 0;
    const char* const last = run.repetition.data() + run.repetition.size();
    const auto [end, error] = std::from_chars(run.repetition.data(), last, out);
    return error == std::errc() && end == last ? out : count;
  }

  std::set<std::string> experiments_;
  std::set<std::string> named_;  // groups with a setting in a folder's name
  std::map<std::pair<std::string, std::string>, std::size_t> count_;
  LoadedSweep out_;
};

}  // namespace

Result<LoadedSweep> load_gpyjoules_sweep(const std::string& folder) {
  JC_ASSIGN_OR_RETURN(const GpyjoulesTree tree, find_gpyjoules_runs(folder));
  if (tree.runs.size() < 2)
    return not_found(fmt::format("{}: no folder of a sweep, nor of several runs of GPyJoules", folder));
  return Tree(tree.runs).loaded(tree);
}

}  // namespace joulecast
