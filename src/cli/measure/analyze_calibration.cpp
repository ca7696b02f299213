// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/measure/analyze_parts.h"
#include "cli/table.h"
#include "measure/calibration_store.h"
#include "measure/run_head.h"
#include "power/sensor.h"

namespace joulecast::cli {
namespace {

struct FitWord {
  std::string device, meter;
};

tl::expected<FitWord, Failure> fit_word(const std::string& word) {
  const std::size_t at = word.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == word.size()) {
    return usage(fmt::format("--fit-calibration {}: expected DEVICE=METER", word),
                 "such as gpu0=wall, of a recording by measure --meter 'wall=COMMAND'");
  }
  return FitWord{word.substr(0, at), word.substr(at + 1)};
}

std::string with_error(double value, const std::optional<double>& error, int digits) {
  return error ? fmt::format("{:.{}f} ± {:.{}f}", value, digits, *error, digits)
               : fmt::format("{:.{}f}", value, digits);
}

std::optional<double> plain(const std::optional<Watts>& watts) {
  return watts ? std::optional(watts->value()) : std::nullopt;
}

std::string text(const std::vector<CardLine>& lines, const FitWord& word) {
  using Align = Table::Align;
  Table table({{"source"},
               {"gain", Align::kRight},
               {"offset W", Align::kRight},
               {"R2", Align::kRight},
               {"scatter W", Align::kRight},
               {"points", Align::kRight}});
  constexpr int kGainDigits = 4;
  for (const CardLine& one : lines) {
    const series::CalibrationLine& line = one.line;
    table.add({one.source, with_error(line.gain, line.gain_standard_error, kGainDigits),
               with_error(line.offset.value(), plain(line.offset_standard_error), 2),
               line.r2 ? fmt::format("{:.5f}", *line.r2) : "-",
               line.residual_deviation ? fmt::format("{:.2f}", line.residual_deviation->value()) : "-",
               std::to_string(line.points)});
  }
  return fmt::format("{} against {}: reading = gain * true power + offset\n", printable(word.device),
                     printable(word.meter)) +
         table.text(2);
}

Json json(const CardLine& one, const FitWord& word) {
  const series::CalibrationLine& line = one.line;
  const auto number = [](const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); };
  return {{"device", word.device},
          {"uuid", one.uuid.empty() ? Json(nullptr) : Json(one.uuid)},
          {"name", one.name},
          {"source", one.source},
          {"meter", one.meter},
          {"gain", json_number(line.gain)},
          {"gain_standard_error", number(line.gain_standard_error)},
          {"offset_w", json_number(line.offset.value())},
          {"offset_standard_error_w", number(plain(line.offset_standard_error))},
          {"residual_deviation_w", number(plain(line.residual_deviation))},
          {"r2", number(line.r2)},
          {"points", line.points},
          {"centre_w", json_number(line.centre.value())}};
}

Outcome save(const std::vector<CardLine>& lines, Output& output) {
  const auto path = calibration_file();
  if (!path) return tl::unexpected<Failure>(Error(path.error()));
  std::vector<StoredLine> stored;
  stored.reserve(lines.size());
  for (const CardLine& line : lines) stored.push_back({line, iso_utc(utc_now())});
  if (const auto saved = save_calibration(*path, stored); !saved) return tl::unexpected<Failure>(Error(saved.error()));
  output.note(fmt::format("stored in {}; analyze and measure apply it with --calibrated", printable(*path)));
  return {};
}

}  // namespace

Outcome fit_calibration_command(const std::vector<ReadRun>& runs, const AnalyzeOptions& options, Output& output) {
  std::vector<const Recording*> recordings;
  recordings.reserve(runs.size());
  for (const ReadRun& run : runs) recordings.push_back(&run.recording);
  std::vector<CardLine> all;
  Json list = Json::array();
  for (const std::string& typed : options.fit_calibration) {
    const auto word = fit_word(typed);
    if (!word) return tl::unexpected<Failure>(Failure(word.error()));
    auto lines = fit_card(recordings, word->device, word->meter);
    if (!lines) {
      return tl::unexpected<Failure>(
          Failure{std::move(lines.error()), "record idleness and load: measure --baseline 30 --meter NAME=COMMAND -o"});
    }
    if (!options.json) output.write(text(*lines, *word));
    for (CardLine& line : *lines) {
      if (series::has(line.line.warnings, series::Warning::kFewSamples))
        output.note(fmt::format("{}: fewer than four steady stretches: the line is a guess", line.source));
      list.push_back(json(line, *word));
      all.push_back(std::move(line));
    }
  }
  if (options.json) output.write(json_text({{"schema", "joulecast.calibration-fit/1"}, {"lines", list}}));
  return options.save ? save(all, output) : Outcome();
}

}  // namespace joulecast::cli
