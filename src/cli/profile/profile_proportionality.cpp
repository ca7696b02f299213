// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/profile/profile_commands.h"
#include "cli/table.h"
#include "profile/journal.h"
#include "profile/runner.h"

namespace joulecast::cli {
namespace {

constexpr Seconds kLongest{3};
constexpr std::size_t kRepeats = 4;

// Of the operations the one with most arithmetic, and the one that moves least.
std::vector<const profile::PlannedCase*> extremes(const profile::Plan& plan) {
  const profile::PlannedCase* largest = nullptr;
  const profile::PlannedCase* smallest = nullptr;
  for (const profile::PlannedCase& one : plan.cases()) {
    if (one.request.work != profile::Work::kOperation) continue;
    if (largest == nullptr || one.flops > largest->flops) largest = &one;
    if (smallest == nullptr || one.bytes < smallest->bytes) smallest = &one;
  }
  if (largest == nullptr) return {};
  if (largest == smallest) return {largest};
  return {largest, smallest};
}

Result<std::vector<MeasuredDurations>> measure_all(const std::vector<const profile::PlannedCase*>& cases,
                                                   const profile::CampaignOptions& campaign, const std::string& log,
                                                   Seconds longest) {
  JC_ASSIGN_OR_RETURN(const auto environment, runner_environment(campaign));
  JC_ASSIGN_OR_RETURN(const auto runner, profile::RunnerProcess::start(campaign.runner, log, environment));
  const auto hello = runner->request(profile::hello_line(campaign), campaign.patience_at_start);
  if (!hello) return tl::unexpected<Error>(profile::not_ready(*runner, hello.error(), campaign.runner.front()));
  JC_RETURN_IF_ERROR(profile::check_runtime(*hello, campaign));
  std::vector<MeasuredDurations> out;
  for (const profile::PlannedCase* one : cases) {
    JC_ASSIGN_OR_RETURN(auto points, measure_durations(*runner, one->request, campaign.protocol, longest, kRepeats));
    JC_ASSIGN_OR_RETURN(auto line, profile::proportionality(points));
    out.push_back({profile::label(*one), std::move(points), std::move(line)});
  }
  return out;
}

Json durations_json(const MeasuredDurations& one) {
  Json points = Json::array();
  for (const auto& point : one.points) points.push_back({point.iterations, point.seconds});
  Json out = {{"operation", one.label},
              {"iteration_s", one.line.slope_s},
              {"offset_s", one.line.offset_s},
              {"relative_deviation", one.line.deviation},
              {"too_noisy", one.line.too_noisy},
              {"outliers", one.line.outliers.size()},
              {"points", points}};
  if (one.line.safe_s) out["safe_s"] = *one.line.safe_s;
  return out;
}

std::string safe_text(const profile::Proportionality& line) {
  if (line.too_noisy) return "too noisy to tell";
  return line.safe_s ? with_prefix(*line.safe_s, "s") : "nowhere";
}

std::string text_of(const std::vector<MeasuredDurations>& measured) {
  using Align = Table::Align;
  Table table({{"operation"},
               {"iteration", Align::kRight},
               {"a start", Align::kRight},
               {"scatter", Align::kRight},
               {"safe from", Align::kRight}});
  for (const MeasuredDurations& one : measured) {
    table.add({one.label, with_prefix(one.line.slope_s, "s"),
               one.line.offset_s > 0 ? with_prefix(one.line.offset_s, "s") : "none seen",
               fmt::format("{:.1f} %", 100 * one.line.deviation), safe_text(one.line)});
  }
  return table.text();
}

}  // namespace

Outcome proportionality_command(const profile::Plan& plan, const ProfileOptions& options,
                                const profile::CampaignOptions& campaign, Output& output) {
  const auto cases = extremes(plan);
  if (cases.empty()) return usage("profile: no operation to run for many durations", "a model, and no --only networks");
  auto journal = profile::open_folder(campaign);
  if (!journal) return tl::unexpected(campaign_failure(std::move(journal).error()));
  const auto measured =
      measure_all(cases, campaign, journal->path("runner.log"), Seconds{options.span_s.value_or(kLongest.value())});
  if (!measured) return tl::unexpected<Failure>(Error(measured.error()));
  if (options.json) {
    Json operations = Json::array();
    for (const MeasuredDurations& one : *measured) operations.push_back(durations_json(one));
    output.write(json_text({{"schema", "joulecast.proportionality/1"}, {"operations", operations}}));
  } else {
    output.write(text_of(*measured));
  }
  return write_article(proportionality_article(*measured), journal->path("proportionality.html"), output);
}

}  // namespace joulecast::cli
