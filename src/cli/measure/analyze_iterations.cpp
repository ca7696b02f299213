// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/measure/analyze_parts.h"
#include "cli/numbers.h"

namespace joulecast::cli {
namespace {

std::string line(const char* what, const std::string& value, const std::string& error, const std::string& rest) {
  return fmt::format("    {:<16} {:>9}  {:<10} {}\n", what, value, error.empty() ? "" : "± " + error, rest);
}

std::string one_text(const IterationAccount& account) {
  const series::PerIteration& values = account.values;
  std::string out =
      fmt::format("  {}: {} iterations, power by {}\n", account.device, account.iterations, account.source);
  out += line("time", with_prefix(values.time.value(), "s"),
              account.time_scatter_known ? with_prefix(values.time_deviation.value(), "s") : "",
              account.time_scatter_known ? "(3.6), (3.8)" : "(3.6); scatter unknown: one run");
  out += line("power", with_prefix(values.kept_power.value(), "W"), with_prefix(values.kept_deviation.value(), "W"),
              fmt::format("(3.1)-(3.3), {} readings, {} outside", values.kept, values.dropped));
  out += line("energy", with_prefix(values.energy.value(), "J"), with_prefix(values.energy_deviation.value(), "J"),
              "(3.7), (3.9): scatter of readings");
  out += line("", "", with_prefix(values.energy_standard_error.value(), "J"), "standard error of the mean");
  if (account.answer) {
    out += line(("by " + account.answer_source).c_str(), with_prefix(account.answer->value(), "J"),
                with_prefix(account.answer_standard_error->value(), "J"), "standard error");
  }
  for (const series::Warning warning : values.warnings) {
    const std::string text = fmt::format("{} {}", series::warning_text(warning), series::warning_advice(warning));
    out += "    " + wrapped(text, 78, 4, 4) + "\n";
  }
  return out;
}

Json one_json(const IterationAccount& account) {
  const series::PerIteration& values = account.values;
  Json warnings = Json::array();
  for (const series::Warning warning : values.warnings) warnings.push_back(series::warning_name(warning));
  Json out{{"device", account.device},
           {"source", account.source},
           {"iterations", account.iterations},
           {"readings", values.kept + values.dropped},
           {"readings_outside", values.dropped},
           {"power_w", json_number(values.kept_power.value())},
           {"power_stddev_w", json_number(values.kept_deviation.value())},
           {"total_energy_j", json_number(values.total_energy.value())},
           {"total_energy_stddev_j", json_number(values.total_deviation.value())},
           {"time_s", json_number(values.time.value())},
           {"time_stddev_s", account.time_scatter_known ? json_number(values.time_deviation.value()) : Json(nullptr)},
           {"energy_j", json_number(values.energy.value())},
           {"energy_stddev_j", json_number(values.energy_deviation.value())},
           {"energy_standard_error_j", json_number(values.energy_standard_error.value())},
           {"warnings", warnings}};
  out["best_source"] = account.answer ? Json{{"source", account.answer_source},
                                             {"energy_j", json_number(account.answer->value())},
                                             {"standard_error_j", json_number(account.answer_standard_error->value())}}
                                      : Json(nullptr);
  return out;
}

}  // namespace

tl::expected<std::vector<IterationAccount>, Failure> iteration_accounts(const ReadRun& run,
                                                                        const AnalyzeOptions& options) {
  const Accountant accountant(run.recording, run.lines);
  std::vector<IterationAccount> out;
  std::optional<Error> first;
  for (const std::string& device : accountant.devices()) {
    auto one = options.per_iteration.empty()
                   ? iterations_of_commands(run.recording, accountant, device, run.summary.commands, options.iterations)
                   : iterations_of_phases(run.recording, accountant, device, options.per_iteration);
    if (one) {
      out.push_back(*std::move(one));
    } else if (!first) {
      first = std::move(one.error());
    }
  }
  if (!out.empty()) return out;
  if (!first) first = Error{ErrorCode::kNotFound, "no readings of power"};
  return tl::unexpected<Failure>(std::move(*first).in(run.path));
}

std::string iterations_text(const std::vector<IterationAccount>& accounts) {
  std::string out =
      "Per iteration; (3.x) are the equations of C. Nicolai, \"On energy modeling of\n"
      "deep neural network operations\", Heidelberg University:\n";
  for (const IterationAccount& account : accounts) out += one_text(account);
  return out + "\n";
}

Json iterations_json(const std::vector<IterationAccount>& accounts) {
  Json out = Json::array();
  for (const IterationAccount& account : accounts) out.push_back(one_json(account));
  return out;
}

}  // namespace joulecast::cli
