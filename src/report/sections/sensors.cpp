// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "report/html.h"
#include "report/missed_updates.h"
#include "report/sections/sections.h"
#include "report/text.h"
#include "series/sampling.h"

namespace joulecast::report {
namespace {

constexpr const char* kNothing = "–";

// Readings at one time are one.
series::Series polls_of(const RunView& run, std::size_t channel) {
  series::Series out;
  for (const Reading& reading : run.recording.readings[channel]) {
    const double time = run.seconds(reading.time);
    if (!out.time_s.empty() && time <= out.time_s.back()) continue;
    out.time_s.push_back(time);
    out.value.push_back(static_cast<double>(reading.value));
  }
  return out;
}

std::string optional_quantity(const std::optional<double>& value, const char* unit) {
  return value ? quantity(*value, unit) : kNothing;
}

std::vector<std::string> row(const RunView& run, std::size_t i) {
  const SensorCheck& check = run.sensors[i];
  std::vector<std::string> out{check.channel.device, check.channel.source,

                               std::to_string(run.recording.readings[i].size())};
  if (const auto sampling = series::sampling_of(polls_of(run, i))) {
    out.insert(out.end(),
               {fmt::format("{:.3g} Hz", sampling->rate.value()), quantity(sampling->usual_gap.value(), "s"),
                quantity(sampling->jitter.value(), "s"), fmt::format("{:.2f}", sampling->coefficient_of_variation),
                quantity(sampling->longest_gap.value(), "s")});
  } else {
    out.insert(out.end(), 5, kNothing);
  }
  const std::optional<std::size_t> missed =
      check.period_s ? std::optional(missed_updates(run.recording.readings[i], *check.period_s)) : std::nullopt;
  out.insert(out.end(), {missed ? std::to_string(*missed) : kNothing, std::to_string(check.failures),
                         optional_quantity(check.period_s, "s"), optional_quantity(check.window_s, "s"),
                         check.seen ? fmt::format("{:.0f} %", *check.seen * 100) : kNothing,
                         check.sensor_class.empty() ? kNothing : check.sensor_class});
  return out;
}

// What classes mean, each once.
std::string meanings(const std::vector<SensorCheck>& sensors) {
  std::map<std::string, std::string> by_class;
  for (const SensorCheck& sensor : sensors) {
    if (!sensor.sensor_class.empty()) by_class[sensor.sensor_class] = sensor.meaning;
  }
  std::vector<std::pair<std::string, std::string>> out;
  out.reserve(by_class.size());
  for (const auto& [letter, meaning] : by_class) out.emplace_back("Class " + letter, meaning);
  return definition_list(out);
}

}  // namespace

std::string sensors_section(const RunView& run) {
  HtmlTable table({{"device"},
                   {"source"},

                   {"readings", true},
                   {"rate", true},
                   {"usual gap", true},
                   {"jitter", true},
                   {"variation", true},
                   {"longest gap", true},
                   {"missed", true},
                   {"failed", true},
                   {"updates every", true},
                   {"window", true},
                   {"seen", true},
                   {"class"}});
  for (std::size_t i = 0; i < run.sensors.size(); ++i) {
    const Signal signal = run.sensors[i].channel.signal;
    if (signal == Signal::kPower || signal == Signal::kEnergy) table.add(row(run, i));
  }
  if (table.empty()) return {};
  constexpr std::size_t kMany = 12;
  const std::size_t count = table.size();
  return fmt::format("<details{}><summary>{} sources of power and energy</summary>\n", count > kMany ? "" : " open",
                     count) +
         table.html() + "</details>\n" +
         element(
             "p",
             "Jitter is the deviation of the gaps, variation is jitter over the mean gap: both are large where the "
             "recorder read fast at first, to see how often the sensor updates, and slower then. Missed are updates "
             "between two readings that none saw; failed are attempts without an answer; seen is the share of the "
             "time that is in some reading's window.",
             "caption") +
         meanings(run.sensors);
}

}  // namespace joulecast::report
