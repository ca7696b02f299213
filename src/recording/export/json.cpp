// SPDX-License-Identifier: Apache-2.0
// One object. Readings themselves only where they are asked for: they are most of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/csv.h"
#include "recording/export/exporters.h"
#include "recording/export/timeline.h"
#include "recording/import/wall_time.h"

namespace joulecast {
namespace {

using Json = nlohmann::ordered_json;

// Division rounds once; a factor of 1e-6 would leave dust in the last digits.
constexpr double kMicrosecondsOfSecond = 1e6;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class JsonExport {
 public:
  JsonExport(const RunSource& run, const Put& put) : run_(run), outline_(run.outline()), put_(put) {}

  void write(const ExportOptions& options) {
    const UtcClock clock(outline_.clocks);
    member("schema", "joulecast.recording-export/1", "{");
    member("joulecast", options.version);
    member("start_utc", clock.known() ? Json(utc_text(clock.utc(run_.span().begin))) : Json(nullptr));
    member("duration_s", seconds(run_.span().end));
    member("head", outline_.head);
    member("end", outline_.end);
    member("complete", outline_.damage.complete);
    member("damaged_bytes", outline_.damage.damaged + outline_.damage.cut_off);
    member("channels", channels());
    member("events", events());
    member("absences", absences());
    member("notes", outline_.notes);
    if (options.samples) samples();
    put_("\n}\n");
  }

 private:
  void member(std::string_view key, const Json& value, std::string_view before = ",") {
    put_(fmt::format("{}\n  \"{}\": {}", before, key, text_of(value)));
  }

  [[nodiscard]] double seconds(MonotonicUs time) const {
    return static_cast<double>(time - run_.span().begin) / kMicrosecondsOfSecond;
  }

  [[nodiscard]] Json channels() const;
  [[nodiscard]] Json events() const;
  [[nodiscard]] Json absences() const;
  void samples() const;

  const RunSource& run_;
  const Recording& outline_;
  const Put& put_;
};

// Of a channel's readings. Their mean is no mean over time: readings may come at any pace.
struct Extent {
  std::int64_t lowest = 0, highest = 0;
  MonotonicUs first = 0, last = 0;
  bool any = false;
};

Json JsonExport::channels() const {
  std::vector<Extent> extents(outline_.channels.size());
  run_.each([&](std::uint32_t channel, std::span<const Reading> readings) {
    Extent& extent = extents[channel];
    if (!extent.any) extent = {readings[0].value, readings[0].value, readings[0].time, readings[0].time, true};
    for (const Reading& reading : readings) {
      extent.lowest = std::min(extent.lowest, reading.value);
      extent.highest = std::max(extent.highest, reading.value);
    }
    extent.last = readings.back().time;
  });
  Json out = Json::array();
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const Channel& channel = outline_.channels[i];
    const Extent& extent = extents[i];
    const auto si = [&](std::int64_t value) { return parse_number(si_text({0, value}, channel.signal)).value_or(0); };
    const auto there = [&](double value) { return extent.any ? Json(value) : Json(nullptr); };
    out.push_back({{"device", channel.device},
                   {"source", channel.source},
                   {"signal", info(channel.signal).key},
                   {"window_s", channel.window_s ? Json(*channel.window_s) : Json(nullptr)},
                   {"n", run_.counts()[i]},
                   {"first_s", there(seconds(extent.first))},
                   {"last_s", there(seconds(extent.last))},
                   {"lowest", there(si(extent.lowest))},
                   {"highest", there(si(extent.highest))}});
  }
  return out;
}

Json JsonExport::events() const {
  constexpr std::array kKinds{"begin", "end", "mark"};
  Json out = Json::array();
  for (const Event& event : outline_.events) {
    out.push_back({{"time_s", seconds(event.time)},
                   {"kind", kKinds[static_cast<std::size_t>(event.kind)]},
                   {"name", event.name},
                   {"track", event.track},
                   {"details", event.details}});
  }
  return out;
}

Json JsonExport::absences() const {
  Json out = Json::array();
  for (const AbsenceRecord& record : outline_.absences) {
    out.push_back({{"time_s", seconds(record.time)},
                   {"channel", record.channel},
                   {"why", name(record.absence)},
                   {"n", record.count},
                   {"text", record.text}});
  }
  return out;
}

void JsonExport::samples() const {
  put_(",\n  \"sample_columns\": [\"channel\",\"time_s\",\"value\"],\n  \"samples\": [");
  bool first = true;
  run_.each([&](std::uint32_t channel, std::span<const Reading> readings) {
    std::string text;
    for (const Reading& reading : readings) {
      const MonotonicUs since = reading.time - run_.span().begin;
      fmt::format_to(std::back_inserter(text), "{}\n    [{},{}.{:06},{}]", first ? "" : ",", channel, since / 1'000'000,
                     since % 1'000'000, si_text(reading, outline_.channels[channel].signal));
      first = false;
    }
    put_(text);
  });
  put_("\n  ]");
}

}  // namespace

Result<void> export_json(const RunSource& run, const ExportOptions& options, const Put& put) {
  JsonExport(run, put).write(options);
  return {};
}

}  // namespace joulecast
