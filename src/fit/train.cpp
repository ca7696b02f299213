// SPDX-License-Identifier: Apache-2.0
#include "fit/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/output_file.h"
#include "dataset/metrics.h"
#include "fit/benches.h"
#include "fit/booster.h"
#include "fit/calibration_file.h"
#include "fit/checkpoint.h"
#include "fit/fit.h"
#include "fit/intervals.h"
#include "fit/piece_keys.h"
#include "fit/report.h"
#include "fit/rows.h"
#include "fit/settings/judge.h"
#include "fit/settings_piece.h"
#include "fit/spread.h"
#include "predict/compose.h"
#include "predict/describe.h"
#include "predict/pack/writer.h"
#include "predict/pack_names.h"

namespace joulecast {
namespace {

// Fewer convolutions than this are no network.
constexpr int kConvolutions = 20;

void add_gpus(Group group, const std::vector<Sample>& samples, Numbers& gpus, Numbers& ranges) {
  double& largest = ranges[std::string(name(group))];
  std::map<std::string, int> convolutions;
  for (const std::string& key : measured_keys(samples)) gpus[key] = 1.0;
  for (const Sample& s : samples) {
    gpus[fmt::format("architecture/{}", s.gpu->architecture)] = 1.0;
    largest = std::max(largest, work_size(s.work));
    // Whole networks of convolutions were measured there: only then is a network inside. Bare loops are of one kind.
    if (group == Group::kConv && s.situation.bench() == Bench::kModules) ++convolutions[std::string(s.gpu->id)];
  }
  for (const auto& [gpu, count] : convolutions) {
    if (count >= kConvolutions) gpus["measured/" + gpu] = 1.0;
  }
}

Numbers compose_numbers() {
  const ComposeConstants c;
  return {{"host_inference", c.host_inference},
          {"host_training", c.host_training},
          {"functional_inference_s", c.functional_inference},
          {"functional_training_s", c.functional_training},
          {"benchmark_call_s", c.benchmark_call},
          {"parameter_call_s", c.parameter_call},
          {"sharpness", c.sharpness},
          {"power_ceiling", c.power_ceiling}};
}

// Those that `out` does not have yet. Without a calibration file nothing is known about whole networks: a factor of
// three, whatever is predicted.
void add_network_intervals(Numbers& out) {
  for (const char* what : {"time", "power", "energy"}) {
    for (const char* support : {"inside", "edge", "outside"})
      out.try_emplace(fmt::format("network/{}/{}", what, support), std::log(3.0));
  }
}

Numbers law_numbers(Group group, const PowerLaw& law) {
  const auto key = [&](std::string_view part) { return pack_names::power_law(name(group), part); };
  return {{key("compute"), law.compute}, {key("memory"), law.memory}, {key("gpu"), law.gpu}};
}

// Adds those of a piece to those of the pack.
Result<void> add_laws_of(const Pack& piece, Numbers& laws) {
  JC_ASSIGN_OR_RETURN(const TableView table, piece.table(pack_names::kPowerLaws));
  for (std::size_t i = 0; i < table.size(); ++i) laws[std::string(table.key(i))] = table.value(i);
  return {};
}

constexpr const char* kHeldOut = "held-out";
constexpr const char* kSpread = "spread";  // in it

Json held_out_json(const HeldOut& held) {
  return {{"time", held.time}, {"power", held.power}};
}
Json held_out_json(const HeldOutSpread& held) {
  return {{"time", held.time}, {"power", held.power}, {"energy", held.energy}};
}

// The numbers that `json` holds under this key: one a sample, or none in a quick fit.
Result<std::vector<double>> numbers_of(const Json& json, const char* split, const char* what, std::size_t samples) {
  const auto found = json.find(split);
  if (found == json.end() || !found->is_object() || !found->contains(what) || !(*found)[what].is_array())
    return invalid("a piece without held-out numbers");
  std::vector<double> out;
  for (const Json& value : (*found)[what]) {
    if (!value.is_number()) return invalid("a held-out number that is none");
    out.push_back(value.get<double>());
  }
  if (!out.empty() && out.size() != samples) return invalid("a piece of other rows");
  return out;
}

Result<HeldOutSpread> held_out_spread_of(const Json& json, std::size_t samples) {
  HeldOutSpread out;
  JC_ASSIGN_OR_RETURN(out.time, numbers_of(json, kSpread, "time", samples));
  JC_ASSIGN_OR_RETURN(out.power, numbers_of(json, kSpread, "power", samples));
  JC_ASSIGN_OR_RETURN(out.energy, numbers_of(json, kSpread, "energy", samples));
  return out;
}

Result<HeldOut> held_out_of(const Json& json, const char* split, std::size_t samples) {
  HeldOut out;
  JC_ASSIGN_OR_RETURN(out.time, numbers_of(json, split, "time", samples));
  JC_ASSIGN_OR_RETURN(out.power, numbers_of(json, split, "power", samples));
  return out;
}

// Fits piece after piece and gathers what the pack holds.
class Training {
 public:
  // `calibration`: null, or a calibration file.
  Training(const TrainOptions& options, const Rows& rows, Json calibration, const Progress& progress)
      : judging_(options.quick ? Judging::kQuick : Judging::kFull),
        method_(options.method),
        how_(fmt::format("{}, {}, {}", name(options.method), options.quick ? "quick" : "full", booster_version())),
        rows_(rows),
        calibration_(std::move(calibration)),
        progress_(progress),
        checkpoint_(options.out, progress),
        pace_(progress, total_cost()),
        intervals_(interval_factors(calibration_)) {}

  Result<void> add_group(Group group);
  Result<void> add_settings();
  Result<void> write(const TrainOptions& options);

 private:
  // By the factors that the pack will have.
  [[nodiscard]] Bounds seen_bounds(Group group, const HeldOutSpread& spread) const {
    const std::string prefix = fmt::format("operation/{}/seen", name(group));
    return {intervals_.at(prefix + "/time"), intervals_.at(prefix + "/power"), intervals_.at(prefix + "/energy"),
            spread};
  }
  [[nodiscard]] double cost_of(Group group) const { return group_cost(group, samples_of(group), judging_); }
  [[nodiscard]] double total_cost() const {
    double sum = settings_cost(rows_.sweeps, judging_);
    for (std::size_t g = 0; g < kGroups; ++g) sum += cost_of(static_cast<Group>(g));
    return sum;
  }
  [[nodiscard]] const std::vector<Sample>& samples_of(Group group) const {
    return rows_.samples.groups[static_cast<std::size_t>(group)];
  }
  // Tells the pace of each model, as one of this piece.
  Step step_of(std::string piece) {
    return [this, piece = std::move(piece)](std::string_view what, double cost) {
      pace_.done(cost, fmt::format("{}: {}", piece, what));
    };
  }
  Result<PackWriter> fitted(Group group);
  Result<Piece> piece_for(Group group);
  Result<void> judge(Group group, const Piece& piece);
  [[nodiscard]] Json report(const TrainOptions& options) const;

  Judging judging_;
  Method method_;
  std::string how_;  // every option that changes what is fitted to the same rows
  const Rows& rows_;
  Json calibration_;
  Progress progress_;
  Checkpoint checkpoint_;
  Pace pace_;
  PackWriter writer_;
  Numbers gpus_, ranges_, intervals_, trust_, power_laws_;
  std::vector<std::string> without_rows_;  // groups
  Json groups_ = Json::object();
  Json settings_ = nullptr;
  Cells random_, unseen_;
};

Result<PackWriter> Training::fitted(Group group) {
  const std::string group_name(name(group));
  JC_ASSIGN_OR_RETURN(const GroupFit found,
                      fit_group(group, samples_of(group), method_, judging_, progress_, step_of(group_name)));
  PackWriter out;
  JC_RETURN_IF_ERROR(out.add_forest("time/" + group_name, found.any.time));
  JC_RETURN_IF_ERROR(out.add_forest("power/" + group_name, found.any.power));
  JC_RETURN_IF_ERROR(out.add_forest("time-seen/" + group_name, found.seen.time));
  JC_RETURN_IF_ERROR(out.add_forest("power-seen/" + group_name, found.seen.power));
  JC_RETURN_IF_ERROR(out.add_table(std::string(pack_names::kPowerLaws), law_numbers(group, found.seen.law)));
  if (found.loops_time) JC_RETURN_IF_ERROR(out.add_forest("time-loops/" + group_name, *found.loops_time));
  HeldOutSpread spreads;
  if (!samples_of(group).empty()) {
    JC_ASSIGN_OR_RETURN(SpreadFit spread, fit_spread(group, samples_of(group), found.random));
    JC_RETURN_IF_ERROR(out.add_forest(pack_names::spread("time", group_name), spread.time));
    JC_RETURN_IF_ERROR(out.add_forest(pack_names::spread("power", group_name), spread.power));
    JC_RETURN_IF_ERROR(out.add_forest(pack_names::spread("energy", group_name), spread.energy));
    spreads = std::move(spread.held_out);
  }
  const Json held = {{"random", held_out_json(found.random)},
                     {"unseen_gpu", held_out_json(found.unseen_gpu)},
                     {kSpread, held_out_json(spreads)}};
  JC_RETURN_IF_ERROR(out.add_json(kHeldOut, held.dump()));
  return out;
}

// What held-out rows say.
Result<void> Training::judge(Group group, const Piece& piece) {
  JC_ASSIGN_OR_RETURN(const std::string_view text, piece.pack.json(kHeldOut));
  const Json json = Json::parse(text, nullptr, false);
  const std::vector<Sample>& samples = samples_of(group);
  JC_ASSIGN_OR_RETURN(const HeldOut random, held_out_of(json, "random", samples.size()));
  JC_ASSIGN_OR_RETURN(const HeldOut unseen, held_out_of(json, "unseen_gpu", samples.size()));
  JC_ASSIGN_OR_RETURN(const HeldOutSpread spread, held_out_spread_of(json, samples.size()));
  add_seen_factors(group, samples, random, spread, intervals_);
  random_.add(samples, random, seen_bounds(group, spread));
  if (nothing_left_out(group)) {
    borrow_unseen_factors(group, intervals_);
    return {};
  }
  add_unseen_factors(group, samples, unseen, intervals_);
  unseen_.add(samples, unseen, {1, 1, 1, unseen_factors_of(group, samples, intervals_)});
  return {};
}

// What takes no time is not kept.
Result<Piece> Training::piece_for(Group group) {
  const std::vector<Sample>& samples = samples_of(group);
  if (!samples.empty()) {
    return checkpoint_.piece(std::string(name(group)), key_of(group, samples, how_), [&] { return fitted(group); });
  }
  JC_ASSIGN_OR_RETURN(const PackWriter made, fitted(group));
  return piece_of(made);
}

Result<void> Training::add_group(Group group) {
  const std::string group_name(name(group));
  const std::vector<Sample>& samples = samples_of(group);
  JC_ASSIGN_OR_RETURN(const Piece piece, piece_for(group));
  if (piece.kept_before) pace_.skip(cost_of(group));
  if (samples.empty()) without_rows_.push_back(group_name);
  JC_RETURN_IF_ERROR(writer_.add_forests_of(piece.pack));
  JC_RETURN_IF_ERROR(add_laws_of(piece.pack, power_laws_));
  JC_ASSIGN_OR_RETURN(groups_[group_name], group_json(group, samples, piece.pack));
  add_gpus(group, samples, gpus_, ranges_);
  trust_[group_name] = trust_unseen(group);
  return judging_ == Judging::kFull ? judge(group, piece) : Result<void>();
}

Result<void> Training::add_settings() {
  const settings::SweepSet& set = rows_.sweeps;
  if (set.sweeps.empty()) return {};
  JC_ASSIGN_OR_RETURN(const Piece piece, checkpoint_.piece("settings", key_of(set, how_), [&] {
    progress_(fmt::format("settings: {} sweeps, {} workloads", set.sweeps.size(), settings::judged_workloads(set)));
    return fit_settings_piece(set, judging_, step_of("settings"));
  }));
  if (piece.kept_before) pace_.skip(settings_cost(set, judging_));
  JC_ASSIGN_OR_RETURN(const std::string_view text, piece.pack.json(pack_names::kSettings));
  settings_ = Json::parse(text, nullptr, false);
  JC_ASSIGN_OR_RETURN(const TableView table, piece.pack.table(pack_names::kSettings));
  Numbers numbers;
  for (std::size_t i = 0; i < table.size(); ++i) numbers[std::string(table.key(i))] = table.value(i);
  return writer_.add_table(std::string(pack_names::kSettings), numbers);
}

Json Training::report(const TrainOptions& options) const {
  const std::string folds =
      fmt::format("{} folds over distinct operations, {} of captured kernels' and {} of bare loops'", kFolds,
                  folds_of(Group::kGemmTensor), kLoopFolds);
  return {{"schema", "joulecast.pack-report/1"},
          {"made_by", "joulecast " JOULECAST_VERSION},
          {"quick", options.quick},
          {"method", name(options.method)},
          {"fitted_on", sources_json(rows_.samples.sources)},
          {"splits",
           {{"operations", folds},
            {"gpus", "each GPU left out in turn"},
            {"settings", "each workload left out in turn, on swept GPUs and with its GPU"}}},
          {"groups", groups_},
          {"groups_without_rows", without_rows_},
          {"held_out_operations", random_.json()},
          {"held_out_gpus", unseen_.json()},
          {"settings", settings_},
          {"calibration", calibration_}};
}

Result<void> Training::write(const TrainOptions& options) {
  add_network_intervals(intervals_);
  const std::string text = report(options).dump(1, ' ', false, Json::error_handler_t::replace);
  JC_RETURN_IF_ERROR(writer_.add_table(std::string(pack_names::kCompose), compose_numbers()));
  JC_RETURN_IF_ERROR(writer_.add_table(std::string(pack_names::kGpus), gpus_));
  JC_RETURN_IF_ERROR(writer_.add_table(std::string(pack_names::kRanges), ranges_));
  JC_RETURN_IF_ERROR(writer_.add_table(std::string(pack_names::kIntervals), intervals_));
  JC_RETURN_IF_ERROR(writer_.add_table(std::string(pack_names::kTrust), trust_));
  JC_RETURN_IF_ERROR(writer_.add_table(std::string(pack_names::kPowerLaws), power_laws_));
  JC_RETURN_IF_ERROR(writer_.add_json(std::string(pack_names::kReport), text));
  progress_("writing " + options.out);
  JC_RETURN_IF_ERROR(writer_.write(options.out));
  checkpoint_.remove();
  return {};
}

// What was typed wrongly is said before the hours of work, not after.
Result<void> check_paths(const TrainOptions& options) {
  JC_RETURN_IF_ERROR(PackWriter::check_writable(options.out));
  std::vector<std::string> inputs = options.tables;
  inputs.insert(inputs.end(), {options.without, options.calibration});
  return check_no_input(options.out, inputs);
}

}  // namespace

Result<void> train(const TrainOptions& options, const Progress& progress) {
  JC_RETURN_IF_ERROR(check_paths(options));
  JC_ASSIGN_OR_RETURN(Json calibration, read_calibration(options.calibration));
  JC_ASSIGN_OR_RETURN(const Rows rows, read_tables(options, progress));
  if (rows.empty()) return invalid("no row of the tables can be fitted on");
  Training training(options, rows, std::move(calibration), progress);
  for (std::size_t g = 0; g < kGroups; ++g) JC_RETURN_IF_ERROR(training.add_group(static_cast<Group>(g)));
  JC_RETURN_IF_ERROR(training.add_settings());
  return training.write(options);
}

}  // namespace joulecast
