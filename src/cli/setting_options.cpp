// SPDX-License-Identifier: Apache-2.0
#include "cli/setting_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "cli/options.h"
#include "cli/output.h"

namespace joulecast::cli {
namespace {

constexpr const char* kMeasuredHint =
    "--measured setting=150W,time=0.120,power=140 (seconds and watts; one may be left out)";

// A positive number, or nothing.
std::optional<double> positive(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0.0) || value > 1e12) return std::nullopt;
  return value;
}

// The pieces between the separators.
std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    out.push_back(text.substr(0, end));
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

// Each once.
tl::expected<std::vector<double>, Failure> numbers(const std::vector<std::string>& lists, const char* option,
                                                   const char* example) {
  std::vector<double> out;
  for (const std::string& list : lists) {
    for (const std::string_view piece : pieces(list, ',')) {
      const auto value = positive(piece);
      if (!value) return usage(fmt::format("{}: '{}' is no number above 0", option, printable(piece)), example);
      if (std::find(out.begin(), out.end(), *value) == out.end()) out.push_back(*value);
    }
  }
  return out;
}

// One of "setting=..", "time=..", "power=..".
Outcome read_field(std::string_view field, MeasuredRun& out, bool& has_setting) {
  const std::size_t equals = field.find('=');
  const std::string_view key = field.substr(0, equals);
  const std::string_view text = equals == std::string_view::npos ? std::string_view() : field.substr(equals + 1);
  if (key == "setting") {
    if (has_setting) return usage("--measured: 'setting' comes twice", kMeasuredHint);
    auto setting = parse_setting(std::string(text));
    if (!setting) return tl::unexpected(std::move(setting).error());
    out.setting = *setting;
    has_setting = true;
    return {};
  }
  const auto value = positive(text);
  if (!value || (key != "time" && key != "power"))
    return usage(fmt::format("--measured: '{}' cannot be read", printable(field)), kMeasuredHint);
  if (key == "time" ? out.time.has_value() : out.power.has_value())
    return usage(fmt::format("--measured: '{}' comes twice", key), kMeasuredHint);
  if (key == "time") out.time = Seconds{*value};
  if (key == "power") out.power = Watts{*value};
  return {};
}

tl::expected<MeasuredRun, Failure> measured_run(const std::string& text) {
  MeasuredRun out;
  bool has_setting = false;
  for (const std::string_view field : pieces(text, ',')) {
    if (auto ok = read_field(field, out, has_setting); !ok) return tl::unexpected(std::move(ok).error());
  }
  if (!has_setting || (!out.time && !out.power))
    return usage(fmt::format("--measured: '{}' needs a setting, and a time or a power", printable(text)),
                 kMeasuredHint);
  return out;
}

}  // namespace

tl::expected<Setting, Failure> parse_setting(const std::string& text) {
  Setting out;
  if (text == "default") return out;
  for (const std::string_view piece : pieces(text, '/')) {
    const bool clock = piece.ends_with("MHz");
    const bool limit = piece.ends_with("W");
    const auto value = clock || limit ? positive(piece.substr(0, piece.size() - (clock ? 3 : 1))) : std::nullopt;
    if (!value || (clock && out.sm_clock) || (limit && out.power_limit)) {
      return usage(fmt::format("'{}' is no setting", printable(text)), "900MHz, 150W, 900MHz/150W or default");
    }
    if (clock) out.sm_clock = Hertz{*value * 1e6};
    if (limit) out.power_limit = Watts{*value};
  }
  return out;
}

tl::expected<std::optional<SettingRequest>, Failure> setting_request(const SettingOptions& options) {
  if (options.clocks.empty() && options.limits.empty() && options.measured.empty()) return std::nullopt;
  auto clocks = numbers(options.clocks, "--sm-clock", "megahertz: --sm-clock 900,1200");
  if (!clocks) return tl::unexpected(std::move(clocks).error());
  auto limits = numbers(options.limits, "--power-limit", "watts: --power-limit 150,200");
  if (!limits) return tl::unexpected(std::move(limits).error());
  SettingRequest out;
  for (std::size_t c = 0; c < std::max<std::size_t>(1, clocks->size()); ++c) {
    for (std::size_t l = 0; l < std::max<std::size_t>(1, limits->size()); ++l) {
      Setting& setting = out.settings.emplace_back();
      if (!clocks->empty()) setting.sm_clock = Hertz{(*clocks)[c] * 1e6};
      if (!limits->empty()) setting.power_limit = Watts{(*limits)[l]};
    }
  }
  for (const std::string& text : options.measured) {
    auto run = measured_run(text);
    if (!run) return tl::unexpected(std::move(run).error());
    out.measured.push_back(*run);
  }
  return out;
}

void add_measured(CLI::App& app, SettingOptions& options) {
  app.add_option("--measured", options.measured, "what was measured: setting=150W,time=S,power=W (repeatable)")
      ->type_name("RUN")
      ->expected(1)
      ->take_all();
}

void add_settings(CLI::App& app, SettingOptions& options) {
  app.add_option("--sm-clock", options.clocks, "SM clocks to predict at, with commas between")
      ->type_name("MHZ,..")
      ->expected(1)
      ->take_all();
  app.add_option("--power-limit", options.limits, "power limits to predict at, with commas between")
      ->type_name("W,..")
      ->expected(1)
      ->take_all();
  add_measured(app, options);
}

}  // namespace joulecast::cli
