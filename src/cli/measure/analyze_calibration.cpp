// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

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

// A fit knows its errors by readings that scatter around the line: those that alias do not.
struct FittedLine {
  CardLine card;
  bool aliases = false;
};

std::vector<FittedLine> judged(std::vector<CardLine> lines, const std::vector<ReadRun>& runs, const FitWord& word) {
  std::vector<FittedLine> out;
  for (CardLine& line : lines) {
    const bool aliased = std::any_of(
        runs.begin(), runs.end(), [&](const ReadRun& run) { return aliases(run.summary, word.device, line.source); });
    out.push_back({std::move(line), aliased});
  }
  return out;
}

std::vector<std::string> doubts_about(const FittedLine& one) {
  std::vector<std::string> out;
  if (series::has(one.card.line.warnings, series::Warning::kFewSamples))
    out.push_back(fmt::format("{}: fewer than four steady stretches: the line is a guess", one.card.source));
  if (one.aliases)
    out.push_back(fmt::format("{}: its readings alias: nothing tells how far off the line is", one.card.source));
  return out;
}

template <typename Value>
Value unless_aliased(const FittedLine& one, const Value& error) {
  return one.aliases ? Value() : error;
}

std::string with_error(double value, const std::optional<double>& error, int digits) {
  return error ? fmt::format("{:.{}f} ± {:.{}f}", value, digits, *error, digits)
               : fmt::format("{:.{}f}", value, digits);
}

std::optional<double> plain(const std::optional<Watts>& watts) {
  return watts ? std::optional(watts->value()) : std::nullopt;
}

std::string text(const std::vector<FittedLine>& lines, const FitWord& word) {
  using Align = Table::Align;
  Table table({{"source"},
               {"gain", Align::kRight},
               {"offset W", Align::kRight},
               {"R2", Align::kRight},
               {"scatter W", Align::kRight},
               {"points", Align::kRight}});
  constexpr int kGainDigits = 4;
  for (const FittedLine& one : lines) {
    const series::CalibrationLine& line = one.card.line;
    table.add({one.card.source, with_error(line.gain, unless_aliased(one, line.gain_standard_error), kGainDigits),
               with_error(line.offset.value(), unless_aliased(one, plain(line.offset_standard_error)), 2),
               line.r2 ? fmt::format("{:.5f}", *line.r2) : "-",
               line.residual_deviation ? fmt::format("{:.2f}", line.residual_deviation->value()) : "-",
               std::to_string(line.points)});
  }
  return fmt::format("{} against {}: reading = gain * true power + offset\n", printable(word.device),
                     printable(word.meter)) +
         table.text(2);
}

Json json(const FittedLine& fitted, const FitWord& word) {
  const CardLine& one = fitted.card;
  const series::CalibrationLine& line = one.line;
  const auto number = [](const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); };
  return {{"device", word.device},
          {"uuid", one.uuid.empty() ? Json(nullptr) : Json(one.uuid)},
          {"name", one.name},
          {"source", one.source},
          {"meter", one.meter},
          {"gain", json_number(line.gain)},
          {"gain_standard_error", number(unless_aliased(fitted, line.gain_standard_error))},
          {"offset_w", json_number(line.offset.value())},
          {"offset_standard_error_w", number(plain(unless_aliased(fitted, line.offset_standard_error)))},
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
    const std::vector<FittedLine> fitted = judged(*std::move(lines), runs, *word);
    if (!options.json) output.write(text(fitted, *word));
    for (const FittedLine& one : fitted) {
      for (const std::string& doubt : doubts_about(one)) output.note(doubt);
      list.push_back(json(one, *word));
      all.push_back(one.card);
    }
  }
  if (options.json) output.write(json_text({{"schema", "joulecast.calibration-fit/1"}, {"lines", list}}));
  return options.save ? save(all, output) : Outcome();
}

}  // namespace joulecast::cli
