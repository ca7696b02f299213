// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/measure/analyze_parts.h"
#include "cli/numbers.h"

namespace joulecast::cli {
namespace {

std::string line(const char* what, const std::string& value, const std::string& error, const std::string& rest) {
  return fmt::format("    {:<16} {:>9}  {:<10} {}\n", what, value, error, rest);
}

// "± 3 W"; "± ?" where nothing tells it.
std::string error_text(const std::optional<double>& error, const char* unit) {
  return error ? "± " + with_prefix(*error, unit) : "± ?";
}

std::optional<double> plain(const std::optional<Joules>& energy) {
  return energy ? std::optional(energy->value()) : std::nullopt;
}

template <typename Quantity>
std::optional<double> told(bool known, Quantity value) {
  return known ? std::optional(value.value()) : std::nullopt;
}

std::string answer_line(const IterationAccount& account) {
  if (!account.answer) return line("energy", "-", "", "no source covers enough of them");
  return line("energy", with_prefix(account.answer->value(), "J"),
              error_text(plain(account.answer_standard_error), "J"),
              fmt::format("by {}, standard error", account.answer_source));
}

// What the equations make of readings of power: a witness, where the answer is another source's.
std::string power_lines(const IterationAccount& account) {
  const series::PerIteration& values = account.values;
  const bool known = account.power_scatter_known;
  std::string out = fmt::format("    from readings of power by {}:\n", account.source);
  out +=
      line("  power", with_prefix(values.kept_power.value(), "W"), error_text(told(known, values.kept_deviation), "W"),
           fmt::format("(3.1)-(3.3), {} readings, {} outside", values.kept, values.dropped));
  out += line("  energy", with_prefix(values.energy.value(), "J"),
              error_text(told(known, values.energy_deviation), "J"), "(3.7), (3.9): scatter of readings");
  if (known) out += line("", "", error_text(values.energy_standard_error.value(), "J"), "standard error of the mean");
  return out;
}

std::string one_text(const IterationAccount& account) {
  const series::PerIteration& values = account.values;
  std::string out = fmt::format("  {}: {} iterations\n", account.device, account.iterations);
  out += line("time", with_prefix(values.time.value(), "s"),
              error_text(told(account.time_scatter_known, values.time_deviation), "s"),
              account.time_scatter_known ? "(3.6), (3.8)" : "(3.6); scatter unknown: one run");
  out += answer_line(account) + power_lines(account);
  for (const series::Warning warning : values.warnings) {
    const std::string text = fmt::format("{} {}", series::warning_text(warning), series::warning_advice(warning));
    out += "    " + wrapped(text, 78, 4, 4) + "\n";
  }
  return out;
}

Json number_or_null(const std::optional<double>& value) {
  return value ? json_number(*value) : Json(nullptr);
}

Json one_json(const IterationAccount& account) {
  const series::PerIteration& values = account.values;
  const bool known = account.power_scatter_known;
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
           {"total_energy_stddev_j", number_or_null(told(known, values.total_deviation))},
           {"time_s", json_number(values.time.value())},
           {"time_stddev_s", number_or_null(told(account.time_scatter_known, values.time_deviation))},
           {"energy_j", json_number(values.energy.value())},
           {"energy_stddev_j", number_or_null(told(known, values.energy_deviation))},
           {"energy_standard_error_j", number_or_null(told(known, values.energy_standard_error))},
           {"warnings", warnings}};
  out["best_source"] = account.answer ? Json{{"source", account.answer_source},
                                             {"energy_j", json_number(account.answer->value())},
                                             {"standard_error_j", number_or_null(plain(account.answer_standard_error))}}
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
                   ? iterations_of_commands(run.recording, accountant, run.summary, device, options.iterations)
                   : iterations_of_phases(run.recording, accountant, run.summary, device, options.per_iteration);
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
