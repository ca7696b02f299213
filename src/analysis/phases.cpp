// SPDX-License-Identifier: Apache-2.0
#include "analysis/phases.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace joulecast {

namespace {

// The last of the open phases that the end closes; end() where there is none.
std::vector<std::size_t>::iterator closed_by(const Event& event, std::vector<std::size_t>& open,
                                             const std::vector<Phase>& phases) {
  const auto id = detail_of(event.details, "id");
  const auto last = [&](auto&& fits) {
    const auto at = std::find_if(open.rbegin(), open.rend(), [&](std::size_t i) {
      return phases[i].name == event.name && (!id || detail_of(phases[i].details, "id") == id) && fits(phases[i].track);
    });
    return at == open.rend() ? open.end() : std::prev(at.base());
  };
  const auto same = last([&](std::int64_t track) { return track == event.track; });
  // The recorder's own phases are nobody else's to end.
  if (same != open.end() || event.track == kRecorderTrack) return same;
  return last([](std::int64_t track) { return track != kRecorderTrack; });
}

// What nobody ended is over with the command that it began in, else with the recording.
void end_open(Phases& phases, const Recording& recording) {
  const auto span = recording.span();
  std::vector<Phase> commands;
  std::copy_if(phases.phases.begin(), phases.phases.end(), std::back_inserter(commands),
               [](const Phase& phase) { return phase.track == kRecorderTrack && !phase.open; });
  for (Phase& phase : phases.phases) {
    if (!phase.open || !span) continue;
    phase.end = std::max(phase.begin, span->end);
    for (const Phase& command : commands) {
      if (phase.begin >= command.begin && phase.begin <= command.end) phase.end = command.end;
    }
  }
}

// Warm-ups run the same program as what is measured: its phases there are not those that anyone asks for.
void drop_those_of_warmups(std::vector<Phase>& phases) {
  std::vector<Phase> warmups;
  std::copy_if(phases.begin(), phases.end(), std::back_inserter(warmups),
               [](const Phase& phase) { return phase.track == kRecorderTrack && phase.name == kWarmup; });
  std::erase_if(phases, [&](const Phase& phase) {
    return phase.track != kRecorderTrack && std::any_of(warmups.begin(), warmups.end(), [&](const Phase& warmup) {
             return phase.begin >= warmup.begin && phase.begin < warmup.end;
           });
  });
}

}  // namespace

Phases phases_of(const Recording& recording) {
  std::vector<Event> events = recording.events;
  // Marks carry their own time, so they may reach the file out of order.
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  Phases out;
  std::vector<std::size_t> open;
  for (const Event& event : events) {
    if (event.kind == EventKind::kBegin) {
      open.push_back(out.phases.size());
      out.phases.push_back({event.name, event.details, event.track, event.time, event.time, true});
    } else if (event.kind == EventKind::kEnd) {
      const auto at = closed_by(event, open, out.phases);
      if (at == open.end()) {
        ++out.stray_ends;
        continue;
      }
      out.phases[*at].end = event.time;
      out.phases[*at].open = false;
      open.erase(at);
    }
  }
  end_open(out, recording);
  drop_those_of_warmups(out.phases);
  return out;
}

std::vector<Phase> joined(std::vector<Phase> phases) {
  std::sort(phases.begin(), phases.end(), [](const Phase& a, const Phase& b) { return a.begin < b.begin; });
  std::vector<Phase> out;
  for (Phase& phase : phases) {
    if (!out.empty() && phase.begin < out.back().end) {
      out.back().end = std::max(out.back().end, phase.end);
    } else {
      out.push_back(std::move(phase));
    }
  }
  return out;
}

std::optional<std::string> detail_of(std::string_view details, std::string_view key) {
  while (!details.empty()) {
    const std::size_t tab = std::min(details.find('\t'), details.size());
    const std::string_view pair = details.substr(0, tab);
    if (pair.size() > key.size() && pair.starts_with(key) && pair[key.size()] == '=') {
      return std::string(pair.substr(key.size() + 1));
    }
    details.remove_prefix(std::min(tab + 1, details.size()));
  }
  return std::nullopt;
}

}  // namespace joulecast
