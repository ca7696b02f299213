// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/profile/profile_commands.h"
#include "cli/table.h"
#include "profile/journal.h"
#include "profile/validation.h"

namespace joulecast::cli {
namespace {

constexpr double kPercent = 100;

// "395 ms ±2.9 %"
std::string with_error(const profile::ValueWithError& value, std::string_view unit) {
  return fmt::format("{} ±{:.1f} %", with_prefix(value.value, unit), kPercent * value.error / value.value);
}

// "+12.3 %"
std::string difference(double part, double whole) {
  return fmt::format("{:+.1f} %", kPercent * (part / whole - 1));
}

Table empty_table() {
  using Align = Table::Align;
  return Table({{"network"},
                {"batch", Align::kRight},
                {"mode"},
                {"in"},
                {"measured", Align::kRight},
                {"sum", Align::kRight},
                {"", Align::kRight}});
}

Json value_json(const profile::ValueWithError& value) {
  return {{"value", value.value}, {"standard_error", value.error}};
}

Json network_json(const profile::NetworkCheck& net) {
  Json out = {{"model", net.name},
              {"batch", net.batch},
              {"mode", std::string(name(net.mode))},
              {"precision", std::string(name(net.precision))},
              {"settings", net.settings.empty() ? Json(nullptr) : Json(net.settings.text())},
              {"missing_operations", net.missing},
              {"time_s", value_json(net.whole_s)},
              {"sum_s", value_json(net.sum_s)},
              {"composed_s", net.composed_s}};
  if (net.whole_j && net.sum_j) {
    out["energy_j"] = value_json(*net.whole_j);
    out["sum_j"] = value_json(*net.sum_j);
  }
  return out;
}

using Places = std::vector<std::size_t>;

Json names_json(const profile::Plan& plan, const Places& places) {
  Json out = Json::array();
  for (const std::size_t i : places) {
    const profile::PlannedNetwork& net = plan.networks()[i];
    out.push_back({{"model", net.name},
                   {"batch", net.batch},
                   {"mode", std::string(name(net.mode))},
                   {"precision", std::string(name(net.precision))},
                   {"settings", net.settings.empty() ? Json(nullptr) : Json(net.settings.text())}});
  }
  return out;
}

Json validation_json(const profile::Plan& plan, const profile::Validation& found) {
  Json networks = Json::array();
  for (const auto& net : found.networks) networks.push_back(network_json(net));
  Json out = {{"schema", "joulecast.validation/1"},
              {"networks", networks},
              {"complete", found.complete},
              {"unmeasured", names_json(plan, found.unmeasured)},
              {"without_operations", names_json(plan, found.without_operations)}};
  if (found.complete > 0) {
    out["mean_absolute_error"] = found.mean_absolute_error;
    out["mean_absolute_error_composed"] = found.mean_absolute_composed;
  }
  return out;
}

std::string table_of_times(const profile::Validation& found) {
  Table table = empty_table();
  for (const auto& net : found.networks) table.add(check_cells(net, net.whole_s, net.sum_s, "s"));
  return table.text();
}

std::string table_of_energies(const profile::Validation& found) {
  Table table = empty_table();
  for (const auto& net : found.networks) {
    if (net.whole_j && net.sum_j) table.add(check_cells(net, *net.whole_j, *net.sum_j, "J"));
  }
  return table.row_count() > 0 ? "\n" + table.text() : "";
}

// "not measured: small batch 4 inference fp32, ...": what was asked for and is not in the table. Many are counted.
void tell_left_out(const profile::Plan& plan, const Places& places, const char* why, Output& output) {
  constexpr std::size_t kShown = 8;
  if (places.empty()) return;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, places.size()); ++i) {
    const profile::PlannedNetwork& net = plan.networks()[places[i]];
    text += fmt::format("{}{} batch {} {} {}{}", i == 0 ? "" : ", ", net.name, net.batch, name(net.mode),
                        name(net.precision), net.settings.empty() ? "" : " at " + net.settings.text());
  }
  const std::size_t more = places.size() - std::min(kShown, places.size());
  output.note(fmt::format("{}: {}{}", why, text, more > 0 ? fmt::format(", and {} more", more) : ""));
}

}  // namespace

std::vector<std::string> check_cells(const profile::NetworkCheck& net, const profile::ValueWithError& whole,
                                     const profile::ValueWithError& sum, std::string_view unit) {
  const std::string at = net.settings.empty() ? "" : " at " + net.settings.text();
  return {printable(net.name) + at,
          fmt::format("{}", net.batch),
          std::string(name(net.mode)),
          std::string(name(net.precision)),
          with_error(whole, unit),
          with_error(sum, unit),
          net.missing > 0 ? fmt::format("lacks {}", net.missing) : difference(sum.value, whole.value)};
}

Outcome validate_command(const profile::Plan& plan, const ProfileOptions& options, Output& output) {
  const auto results = profile::Journal::read(options.output);
  if (!results) return tl::unexpected(campaign_failure(results.error()));
  const profile::Validation found = validate(plan, *results);
  if (found.networks.empty()) {
    return tl::unexpected<Failure>(Failure{
        {ErrorCode::kNotFound, fmt::format("{}: none of these networks was measured there", printable(options.output))},
        "the same models, batches, modes and precisions as in the campaign"});
  }
  tell_left_out(plan, found.unmeasured, "not measured", output);
  tell_left_out(plan, found.without_operations, "measured, but none of their operations", output);
  JC_RETURN_IF_FAILURE(write_article(validation_article(found), options.output + "/validation.html", output));
  if (options.json) {
    output.write(json_text(validation_json(plan, found)));
    return {};
  }
  output.write(table_of_times(found) + table_of_energies(found));
  if (found.complete > 0) {
    const bool training = std::any_of(found.networks.begin(), found.networks.end(),
                                      [](const auto& net) { return net.mode == Mode::kTraining; });
    if (training) output.write("\nTraining has the optimizer's step, in the network and in the sum.\n");
    output.write(
        fmt::format("\nMean absolute difference of the sum, over {} that lack{} nothing: {:.1f} %\n"
                    "The same with host and device side by side: {:.1f} %\n",
                    counted(found.complete, "network"), found.complete == 1 ? "s" : "",
                    kPercent * found.mean_absolute_error, kPercent * found.mean_absolute_composed));
  }
  return {};
}

}  // namespace joulecast::cli
