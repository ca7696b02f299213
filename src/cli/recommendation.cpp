// SPDX-License-Identifier: Apache-2.0
#include "cli/recommendation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cli/interval_json.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/table.h"

namespace joulecast::cli {
namespace {

Outcome check_bounds(const RecommendationRequest& request) {
  if (request.within_s && !(*request.within_s > 0)) return usage("--within: no time above 0", "seconds: --within 0.05");
  if (request.slowdown_percent && !(*request.slowdown_percent >= 0))
    return usage("--slowdown: no percentage from 0 on", "percent: --slowdown 10");
  return {};
}

tl::expected<Objective, Failure> objective_of(const std::string& word) {
  if (word == "energy") return Objective::kEnergy;
  if (word == "time") return Objective::kTime;
  if (word == "edp") return Objective::kEdp;
  return usage(fmt::format("--best: '{}' is none of its words", printable(word)), "energy, time or edp");
}

// Of one example: less is better.
double score(const Candidate& candidate, Objective objective) {
  const auto batch = static_cast<double>(candidate.batch);
  switch (objective) {
    case Objective::kTime:
      return candidate.best.time.value.value() / batch;
    case Objective::kEnergy:
      return candidate.best.energy.value.value() / batch;
    case Objective::kEdp:
      return candidate.best.edp.value.value() / (batch * batch);
  }
  return 0.0;
}

struct Choice {
  bool limits = false, clocks = false;
};

tl::expected<Choice, Failure> choice_of(const std::string& word) {
  if (word == "limit") return Choice{.limits = true};
  if (word == "clock") return Choice{.clocks = true};
  if (word == "both") return Choice{.limits = true, .clocks = true};
  if (word == "none") return Choice{};
  return usage(fmt::format("--choose: '{}' is none of its words", printable(word)), "limit, clock, both or none");
}

constexpr std::size_t kSteps = 24;
// Where the catalogue does not know the least limit, and of clocks, whose least nobody lists.
constexpr double kLowestShare = 0.4;

// From `highest` down, `unit` apart at least.
std::vector<double> steps(double lowest, double highest, double unit) {
  std::vector<double> out;
  for (std::size_t i = 0; i < kSteps; ++i) {
    const double at = highest - (highest - lowest) * static_cast<double>(i) / (kSteps - 1);
    const double whole = i == 0 ? highest : std::ceil(at / unit) * unit;
    if (out.empty() || whole < out.back()) out.push_back(whole);
  }
  return out;
}

// The default setting first.
std::vector<Setting> settings_of(const Gpu& gpu, const Choice& choice) {
  constexpr double kMegahertz = 1e6;
  const Watts lowest = gpu.min_power_limit.value_or(gpu.power_limit * kLowestShare);
  std::vector<Setting> out(1);
  const std::optional<Hertz> clock = gpu.boost_clock ? gpu.boost_clock : gpu.base_clock;
  const auto limits = choice.limits ? steps(lowest.value(), gpu.power_limit.value(), 5) : std::vector<double>{0};
  const auto clocks = choice.clocks && clock ? steps(clock->value() * kLowestShare, clock->value(), 15 * kMegahertz)
                                             : std::vector<double>{0};
  for (const double at_clock : clocks) {
    for (const double limit : limits) {
      Setting& setting = out.emplace_back();
      if (at_clock > 0) setting.sm_clock = Hertz{at_clock};
      if (limit > 0) setting.power_limit = Watts{limit};
    }
  }
  return out;
}

class Search {
 public:
  Search(const RecommendationRequest& request, Objective objective, Choice choice, const PreparedRequest& asked)
      : request_(request), objective_(objective), choice_(choice), asked_(asked) {
    if (asked.settings) measured_ = asked.settings->measured;
  }

  // Errors: those of Predictor::choose(); kUnsupported where nothing is within the bounds.
  Result<Candidate> best_of(const Workload& load, const Gpu& gpu, const Predictor& predictor) const {
    JC_ASSIGN_OR_RETURN(SettingChoice found, chosen(load, gpu, predictor));
    const Prediction& usual = found.usual;
    if (!usual.fits) {
      return unsupported(fmt::format("{}, batch {}: needs more memory than the board has", gpu.id, load.batch));
    }
    if (!found.best) {
      return unsupported(fmt::format("{}, batch {}: not within {}: {} at its default setting", gpu.id, load.batch,
                                     with_prefix(*request_.within_s, "s"), with_prefix(usual.time.value.value(), "s")));
    }
    const bool as_usual = within(usual, usual) && !found.gain;
    return Candidate{load.batch, as_usual ? usual : *found.best, usual, as_usual, found.floored};
  }

 private:
  [[nodiscard]] Result<SettingChoice> chosen(const Workload& load, const Gpu& gpu, const Predictor& predictor) const {
    const auto allowed = [this](const Prediction& one, const Prediction& usual) { return within(one, usual); };
    if (choice_.limits || choice_.clocks || !measured_.empty())
      return predictor.choose(load, gpu, asked_.how, {settings_of(gpu, choice_), measured_}, objective_, allowed);
    JC_ASSIGN_OR_RETURN(Prediction one, predictor.predict(load, gpu, asked_.how));
    SettingChoice out{.usual = std::move(one), .best = {}};
    if (within(out.usual, out.usual)) out.best = out.usual;
    return out;
  }
  [[nodiscard]] bool within(const Prediction& one, const Prediction& usual) const {
    constexpr double kPercent = 0.01;
    if (request_.within_s && one.time.value.value() > *request_.within_s) return false;
    return !request_.slowdown_percent ||
           one.time.value <= usual.time.value * (1 + *request_.slowdown_percent * kPercent);
  }

  const RecommendationRequest& request_;
  Objective objective_;
  Choice choice_;
  const PreparedRequest& asked_;
  std::vector<MeasuredRun> measured_;
};

std::string setting_text(const Candidate& candidate) {
  if (candidate.as_usual) return "default";
  std::vector<std::string> parts;
  if (candidate.best.setting.power_limit != candidate.usual.setting.power_limit) {
    parts.push_back(fmt::format("{:.0f} W", candidate.best.setting.power_limit->value()));
  }
  if (candidate.best.setting.sm_clock != candidate.usual.setting.sm_clock) {
    parts.push_back(fmt::format("{:.0f} MHz", candidate.best.setting.sm_clock->value() / 1e6));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "-12.3 %" of a ratio.
std::string change(double ratio) {
  return fmt::format("{:+.1f} %", (ratio - 1) * 100);
}

Json candidate_json(const Candidate& one) {
  return {{"gpu", one.best.gpu},
          {"batch", one.batch},
          {"setting", one.as_usual ? Json(nullptr) : setting_json(one.best.setting)},
          {"time_s", interval_json(one.best.time)},
          {"power_w", interval_json(one.best.power)},
          {"energy_j", interval_json(one.best.energy)},
          {"edp_js", interval_json(one.best.edp)},
          {"memory_bytes", interval_json(whole_bytes(one.best.memory))},
          {"support", name(one.best.support)},
          {"default",
           {{"setting", setting_json(one.usual.setting)},
            {"time_s", interval_json(one.usual.time)},
            {"energy_j", interval_json(one.usual.energy)}}},
          {"time_ratio", json_number(one.time_ratio())},
          {"energy_ratio", json_number(one.energy_ratio())}};
}

Failure nothing_left(const std::vector<std::string>& left_out) {
  const std::string why = left_out.size() == 1 ? left_out.front()
                                               : fmt::format("none of {} GPUs and batches is left; the first: {}",
                                                             left_out.size(), left_out.front());
  return {{ErrorCode::kUnsupported, why}, "other GPUs, batches or bounds may do"};
}

}  // namespace

std::set<std::string> Recommendation::notes(std::size_t rows) const {
  std::set<std::string> out;
  std::vector<std::string_view> unlike, unswept;
  const auto add = [](std::vector<std::string_view>& list, const std::string& gpu) {
    if (std::find(list.begin(), list.end(), gpu) == list.end()) list.push_back(gpu);
  };
  for (std::size_t i = 0; i < shown(rows); ++i) {
    const Candidate& one = candidates[i];
    if (one.best.support == Support::kOutside) add(unlike, one.best.gpu);
    if (one.floored) add(unswept, one.best.gpu);
  }
  for (const std::string& text : assumed) out.insert(printable(text));
  if (!unlike.empty()) {
    out.insert(fmt::format("{}: nothing like it was measured; the value is physics, its bounds are wide",
                           fmt::join(unlike, ", ")));
  }
  if (!unswept.empty()) {
    out.insert(fmt::format(
        "{}: limits below half of the default are predicted to take less, but nobody swept such limits there; one "
        "that was measured (--measured) shows how far the clock falls",
        fmt::join(unswept, ", ")));
  }
  return out;
}

std::size_t Recommendation::shown(std::size_t rows) const {
  return rows == 0 ? candidates.size() : std::min(rows, candidates.size());
}

std::string Recommendation::json() const {
  Json all = Json::array();
  for (const Candidate& one : candidates) all.push_back(candidate_json(one));
  return json_text({{"schema", "joulecast.recommendation/1"},
                    {"model", model},
                    {"best", best},
                    {"candidates", std::move(all)},
                    {"left_out", left_out},
                    {"notes", notes(0)}});
}

std::string Recommendation::text(std::size_t rows) const {
  Table table({{"GPU", Table::Align::kLeft, 24},
               {"batch", Table::Align::kRight},
               {"setting", Table::Align::kLeft},
               {"time/ex.", Table::Align::kRight},
               {"energy/ex.", Table::Align::kRight},
               {"time", Table::Align::kRight},
               {"energy", Table::Align::kRight}});
  for (std::size_t i = 0; i < shown(rows); ++i) {
    const Candidate& one = candidates[i];
    const auto batch = static_cast<double>(one.batch);
    table.add({one.best.gpu, std::to_string(one.batch), setting_text(one),
               with_prefix(one.best.time.value.value() / batch, "s"),
               with_prefix(one.best.energy.value.value() / batch, "J"), change(one.time_ratio()),
               change(one.energy_ratio())});
  }
  std::string out = wrapped(fmt::format("{}: least {} of an example first; the last two columns compare with the same "
                                        "GPU and batch at the default setting",
                                        printable(model), best),
                            80, 2) +
                    "\n\n" + table.text();
  if (shown(rows) < candidates.size())
    out += fmt::format("and {} more: --top 0 shows all\n", candidates.size() - shown(rows));
  const auto lines = notes(rows);
  if (!lines.empty()) out += "\n";
  for (const std::string& line : lines) out += wrapped("note: " + line, 80, 6) + "\n";
  return out;
}

tl::expected<Recommendation, Failure> recommended(const RecommendationRequest& request, const std::string& model,
                                                  const Graph& network, const PredictionContext& context) {
  JC_RETURN_IF_FAILURE(check_bounds(request));
  JC_ASSIGN_OR_FAIL(const Objective objective, objective_of(request.best));
  JC_ASSIGN_OR_FAIL(const Choice choice, choice_of(request.choose));
  JC_ASSIGN_OR_FAIL(PreparedRequest asked, prepared(request.prediction, model, network, context.catalogue));
  doubt_measured_times(asked, context.predictor);
  const Search search(request, objective, choice, asked);
  Recommendation out{model, request.best, {}, {}, {}};
  bool wrong = false;
  for (const Workload& load : asked.loads) {
    out.assumed.insert(load.notes.begin(), load.notes.end());
    for (const Gpu* gpu : asked.gpus) {
      auto found = search.best_of(load, *gpu, context.predictor);
      if (found) {
        out.candidates.push_back(std::move(*found));
      } else {
        wrong = wrong || found.error().code() == ErrorCode::kInvalidInput;
        out.left_out.push_back(found.error().text());
      }
    }
  }
  if (wrong) JC_RETURN_IF_FAILURE(context.predictor.verify());  // a damaged pack is no GPU's fault
  if (out.candidates.empty()) return tl::unexpected(nothing_left(out.left_out));
  std::stable_sort(out.candidates.begin(), out.candidates.end(),
                   [&](const Candidate& a, const Candidate& b) { return score(a, objective) < score(b, objective); });
  return out;
}

}  // namespace joulecast::cli
