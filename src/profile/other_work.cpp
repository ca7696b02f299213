// SPDX-License-Identifier: Apache-2.0
#include "profile/other_work.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

#include "power/sensor.h"

namespace joulecast::profile {
namespace {

constexpr double kMicrosecond = 1e-6;
constexpr double kMuch = 0.05;
// Counters of ticks are read at some moment of a tick, four of them.
constexpr double kTicksOfDoubt = 0.03;

// The first numbers of a line; absent where it has fewer.
template <std::size_t N>
std::optional<std::array<std::int64_t, N>> numbers(std::string_view text) {
  std::array<std::int64_t, N> out{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::int64_t& one : out) {
    while (at != end && *at == ' ') ++at;
    const auto [next, error] = std::from_chars(at, end, one);
    if (error != std::errc{}) return std::nullopt;
    at = next;
  }
  return out;
}

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

double ticks_per_second() {
  return static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * kMicrosecond;
}

double own_seconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  return seconds_of(use.ru_utime) + seconds_of(use.ru_stime);
}

std::set<int> usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::set<int> out;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return out;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) out.insert(i);
  }
  return out;
}

}  // namespace

std::optional<ProcessorUse> processor_use(std::string_view stat, const std::set<int>& processors, double ticks_per_s) {
  constexpr std::string_view kWord = "cpu";
  ProcessorUse out;
  bool found = false;
  while (stat.starts_with(kWord)) {
    const std::size_t end = std::min(stat.find('\n'), stat.size());
    const std::string_view line = stat.substr(kWord.size(), end - kWord.size());
    stat.remove_prefix(std::min(end + 1, stat.size()));
    if (line.starts_with(' ')) continue;  // all of them together
    const auto counters = numbers<9>(line);
    if (!counters) return std::nullopt;
    const auto [number, user, nice, system, idle, waiting, interrupts, soft, stolen] = *counters;
    if (!processors.contains(static_cast<int>(number))) continue;
    found = true;
    out.busy_s += static_cast<double>(user + nice + system + interrupts + soft) / ticks_per_s;
    out.stolen_s += static_cast<double>(stolen) / ticks_per_s;
  }
  return found ? std::optional(out) : std::nullopt;
}

std::optional<double> process_seconds(std::string_view stat, double ticks_per_s) {
  // The name, which may be anything, ends with the last bracket; the state comes next.
  const std::size_t name = stat.rfind(") ");
  if (name == std::string_view::npos || name + 4 > stat.size()) return std::nullopt;
  constexpr std::size_t kBefore = 10, kTimes = 4;  // from the parent's id to the children's faults; then times
  const auto fields = numbers<kBefore + kTimes>(stat.substr(name + 4));
  if (!fields) return std::nullopt;
  std::int64_t sum = 0;
  for (std::size_t i = kBefore; i < fields->size(); ++i) sum += (*fields)[i];
  return static_cast<double>(sum) / ticks_per_s;
}

std::string other_work(const ProcessorUse& begin, const ProcessorUse& end, double seconds, std::size_t processors,
                       std::size_t threads) {
  const double wanted = static_cast<double>(threads) * seconds;
  const double spare = static_cast<double>(processors) * seconds - wanted;
  const double others = (end.busy_s - begin.busy_s) - (end.own_s - begin.own_s);
  std::string out;
  if (others > spare + kMuch * wanted + kTicksOfDoubt) out = "other processes";
  if (end.stolen_s - begin.stolen_s > kMuch * wanted + kTicksOfDoubt)
    out += out.empty() ? "the hypervisor" : ", the hypervisor";
  return out;
}

OtherWork::OtherWork(pid_t runner, std::int64_t threads)
    : runner_stat_(fmt::format("/proc/{}/stat", runner)),
      processors_(usable_processors()),
      threads_(threads > 0 ? std::min(static_cast<std::size_t>(threads), processors_.size()) : processors_.size()) {}

void OtherWork::look() {
  auto use = processor_use(text_of("/proc/stat"), processors_, ticks_per_second());
  const auto runner = process_seconds(text_of(runner_stat_), ticks_per_second());
  if (!use || !runner) return;
  use->own_s = *runner + own_seconds();
  looks_.push_back({monotonic_now(), *use});
}

std::string OtherWork::since(std::int64_t begin_us) const {
  const auto after = std::upper_bound(looks_.begin(), looks_.end(), begin_us,
                                      [](std::int64_t at, const Look& look) { return at < look.at_us; });
  if (after == looks_.begin() || after == looks_.end()) return {};
  const Look &first = *std::prev(after), &last = looks_.back();
  return other_work(first.use, last.use, static_cast<double>(last.at_us - first.at_us) * kMicrosecond,
                    processors_.size(), threads_);
}

}  // namespace joulecast::profile
