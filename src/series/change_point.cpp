// SPDX-License-Identifier: Apache-2.0
#include "series/change_point.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "series/moments.h"

namespace joulecast::series {
namespace {

// Sums before each reading, of distances from the series' mean so that squares lose nothing.
struct Prefix {
  std::vector<double> sum{0}, squares{0};

  explicit Prefix(const std::vector<double>& values) {
    const double centre = *mean(values);
    CompensatedSum plain, square;
    for (const double value : values) {
      plain.add(value - centre);
      square.add((value - centre) * (value - centre));
      sum.push_back(plain.value());
      squares.push_back(square.value());
    }
  }
  [[nodiscard]] double mean_of(std::size_t first, std::size_t end) const {
    return (sum[end] - sum[first]) / static_cast<double>(end - first);
  }
  [[nodiscard]] double error_of(std::size_t first, std::size_t end) const {
    return squares[end] - squares[first] - mean_of(first, end) * (sum[end] - sum[first]);
  }
};

// Of what scatters, from differences of neighbours, which a few changes of level hardly touch.
double variance_of(const std::vector<double>& values) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < values.size(); ++i) differences.push_back(std::abs(values[i] - values[i - 1]));
  const double usual = median(differences).value_or(0.0) / 0.6745;
  return usual * usual / 2;
}

// Means of stretches of `length` readings each.
std::vector<double> means_of_stretches(const std::vector<double>& values, std::size_t length) {
  std::vector<double> out;
  for (std::size_t first = 0; first + length <= values.size(); first += length) {
    CompensatedSum sum;
    for (std::size_t i = first; i < first + length; ++i) sum.add(values[i]);
    out.push_back(sum.value() / static_cast<double>(length));
  }
  return out;
}

// A reading's. Readings that hang together (repeated polls of a register, running means, a load that comes and goes)
// scatter more in their means than neighbours tell; so means of ever longer stretches are looked at, from the shortest
// segment on, as long as there are enough.
double noise_variance(const Series& series, Seconds shortest) {
  constexpr std::size_t kFewest = 8;
  const std::size_t count = series.value.size();
  double out = variance_of(series.value);
  if (count < kFewest) return out;
  const double gap = duration(series).value() / static_cast<double>(count - 1);
  const double stretch = std::ceil(shortest.value() / gap);
  if (!(stretch < static_cast<double>(count))) return out;
  for (auto length = static_cast<std::size_t>(stretch); length * kFewest <= count; length *= 2) {
    out = std::max(out, variance_of(means_of_stretches(series.value, length)) * static_cast<double>(length));
  }
  return out;
}

class Splitter {
 public:
  Splitter(const Series& series, const ChangePointOptions& options)
      : series_(series),
        options_(options),
        prefix_(series.value),
        centre_(*mean(series.value)),
        // Each split spends two parameters: Schwarz's criterion, with some distance.
        least_gain_(4 * noise_variance(series, options.shortest_segment) *
                    std::log(static_cast<double>(series.value.size()) + 1)) {}

  // A work list instead of recursion: a long recording has many changes.
  std::vector<Segment> split() {
    std::vector<std::pair<std::size_t, std::size_t>> open{{0, series_.value.size()}};
    std::vector<Segment> done;
    while (!open.empty()) {
      const auto [first, end] = open.back();
      open.pop_back();
      if (const std::optional<std::size_t> at = best_split(first, end)) {
        open.emplace_back(*at, end);
        open.emplace_back(first, *at);
      } else {
        done.push_back({first, end - 1, centre_ + prefix_.mean_of(first, end)});
      }
    }
    return done;
  }

 private:
  [[nodiscard]] bool differ(std::size_t first, std::size_t at, std::size_t end) const {
    const double left = centre_ + prefix_.mean_of(first, at), right = centre_ + prefix_.mean_of(at, end);
    return std::abs(left - right) > options_.smallest_change * std::max(std::abs(left), std::abs(right));
  }

  [[nodiscard]] std::optional<std::size_t> best_split(std::size_t first, std::size_t end) const {
    const double shortest = options_.shortest_segment.value();
    const double whole = prefix_.error_of(first, end);
    double best_gain = least_gain_;
    std::optional<std::size_t> best;
    for (std::size_t at = first + 1; at < end; ++at) {
      if (series_.time_s[at] - series_.time_s[first] < shortest) continue;
      if (series_.time_s[end - 1] - series_.time_s[at] < shortest) break;
      const double gain = whole - prefix_.error_of(first, at) - prefix_.error_of(at, end);
      if (gain > best_gain && differ(first, at, end)) {
        best_gain = gain;
        best = at;
      }
    }
    return best;
  }

  const Series& series_;
  const ChangePointOptions& options_;
  Prefix prefix_;
  double centre_;
  double least_gain_;
};

bool same_level(double a, double b, double share) {
  return std::abs(a - b) <= share * std::max(std::abs(a), std::abs(b));
}

// The level that most time is spent on.
double main_level(const Series& series, const std::vector<Segment>& parts, double share) {
  double longest = -1, level = 0;
  for (const Segment& candidate : parts) {
    double time = 0;
    for (const Segment& part : parts) {
      if (same_level(part.level, candidate.level, share)) time += series.time_s[part.last] - series.time_s[part.first];
    }
    if (time > longest) {
      longest = time;
      level = candidate.level;
    }
  }
  return level;
}

}  // namespace

Result<std::vector<Segment>> segments(const Series& series, const ChangePointOptions& options) {
  JC_RETURN_IF_ERROR(check(series));
  if (!(options.shortest_segment > Seconds{0}) || !(options.smallest_change > 0)) {
    return invalid("change points: the shortest segment and the smallest change must be positive");
  }
  return Splitter(series, options).split();
}

Result<SteadyPart> steady_part(const Series& series, const ChangePointOptions& options) {
  JC_ASSIGN_OR_RETURN(const std::vector<Segment> parts, segments(series, options));
  const double level = main_level(series, parts, options.smallest_change);
  const auto on_level = [&](const Segment& part) { return same_level(part.level, level, options.smallest_change); };
  const auto first = std::find_if(parts.begin(), parts.end(), on_level);
  const auto last = std::find_if(parts.rbegin(), parts.rend(), on_level);
  SteadyPart result;
  const auto begin = static_cast<std::ptrdiff_t>(first->first), end = static_cast<std::ptrdiff_t>(last->last) + 1;
  result.steady.time_s.assign(series.time_s.begin() + begin, series.time_s.begin() + end);
  result.steady.value.assign(series.value.begin() + begin, series.value.begin() + end);
  result.level = *mean(result.steady.value);
  result.from = Seconds{result.steady.time_s.front()};
  result.to = Seconds{result.steady.time_s.back()};
  result.cut_head = result.from - Seconds{series.time_s.front()};
  result.cut_tail = Seconds{series.time_s.back()} - result.to;
  result.head_readings = first->first;
  result.tail_readings = series.time_s.size() - 1 - last->last;
  if (2 * duration(result.steady) < duration(series)) add(result.warnings, Warning::kShortWindow);
  return result;
}

}  // namespace joulecast::series
