// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <regex>
#include <set>

#include "measure/gpyjoules_plan.h"

namespace joulecast {
namespace {

constexpr double kWatts = 1e-3;
constexpr std::size_t kLongestId = 120;  // a file's name has 255 bytes, ours adds an ending

std::string range_id(const char* what, const ClockRange& range) {
  return range.low_mhz == range.high_mhz ? fmt::format("{}{}", what, range.low_mhz)
                                         : fmt::format("{}{}-{}", what, range.low_mhz, range.high_mhz);
}

std::string settings_id(const GpuSettings& settings) {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : "_") + text; };
  if (settings.power_limit_mw) add(fmt::format("{:g}W", *settings.power_limit_mw * kWatts));
  if (settings.sm_lock) add(range_id("sm", *settings.sm_lock));
  if (settings.memory_lock) add(range_id("mem", *settings.memory_lock));
  if (settings.application)
    add(fmt::format("app{},{}", settings.application->memory_mhz, settings.application->sm_mhz));
  return out.empty() ? "found" : out;
}

// FNV-1a: names that had to be changed must stay apart.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
  return hash;
}

std::string file_name_of(const std::string& text) {
  std::string out = text;
  for (char& letter : out) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || std::string_view("._=,+-").find(letter) != std::string::npos;
    if (!plain) letter = '-';
  }
  if (out.starts_with('.')) out.front() = '-';
  if (out.size() > kLongestId) out.resize(kLongestId);
  return out == text ? out : fmt::format("{}~{:08x}", out, hash_of(text));
}

std::string substituted(const std::string& text, const ParameterValues& values) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto hit = std::find_if(values.begin(), values.end(), [&](const auto& entry) {
      return text.compare(at, entry.first.size() + 2, "{" + entry.first + "}") == 0;
    });
    if (hit == values.end()) {
      out += text[at++];
    } else {
      out += hit->second;
      at += hit->first.size() + 2;
    }
  }
  return out;
}

// One way of choosing a value of each list; the last list turns fastest.
std::vector<ParameterValues> parameter_choices(const std::vector<SweepParameter>& parameters) {
  std::vector<ParameterValues> out(1);
  for (const SweepParameter& parameter : parameters) {
    std::vector<ParameterValues> longer;
    for (const ParameterValues& begun : out) {
      for (const std::string& value : parameter.values) {
        longer.push_back(begun);
        longer.back().emplace_back(parameter.name, value);
      }
    }
    out = std::move(longer);
  }
  return out;
}

template <typename T>
void multiply(std::vector<GpuSettings>& settings, std::optional<T> GpuSettings::*member,
              const std::vector<std::optional<T>>& choices) {
  if (choices.empty()) return;
  std::vector<GpuSettings> out;
  for (const GpuSettings& begun : settings) {
    for (const std::optional<T>& choice : choices) {
      out.push_back(begun);
      out.back().*member = choice;
    }
  }
  settings = std::move(out);
}

std::vector<GpuSettings> setting_choices(const SweepPlan& plan) {
  std::vector<GpuSettings> out(1);
  multiply(out, &GpuSettings::power_limit_mw, plan.power_limits_mw);
  multiply(out, &GpuSettings::sm_lock, plan.sm_clocks);
  multiply(out, &GpuSettings::memory_lock, plan.memory_clocks);
  multiply(out, &GpuSettings::application, plan.application_clocks);
  return out;
}

// Fisher and Yates by hand: what std::shuffle does is each library's own affair.
void shuffle(std::vector<SweepRun>& runs, std::mt19937_64& random) {
  for (std::size_t left = runs.size(); left > 1; --left) {
    const std::uint64_t bound = ~std::uint64_t{0} - ~std::uint64_t{0} % left;
    std::uint64_t draw = random();
    while (draw >= bound) draw = random();
    std::swap(runs[left - 1], runs[draw % left]);
  }
}

bool mentions(const std::vector<std::string>& command, const std::string& name) {
  return std::any_of(command.begin(), command.end(),
                     [&](const std::string& word) { return word.find("{" + name + "}") != std::string::npos; });
}

template <typename T>
bool has_doubles(const std::vector<T>& list) {
  for (auto at = list.begin(); at != list.end(); ++at) {
    if (std::find(at + 1, list.end(), *at) != list.end()) return true;
  }
  return false;
}

Result<void> check_parameters(const SweepPlan& plan) {
  std::set<std::string> names;
  for (const SweepParameter& parameter : plan.parameters) {
    if (!names.insert(parameter.name).second) return invalid(fmt::format("parameter {}: twice", parameter.name));
    if (parameter.values.empty()) return invalid(fmt::format("parameter {}: no values", parameter.name));
    if (has_doubles(parameter.values)) return invalid(fmt::format("parameter {}: a value twice", parameter.name));
    if (!mentions(plan.command, parameter.name)) {
      return invalid(fmt::format("parameter {0}: the command has no {{{0}}}, so all its values would measure the same",
                                 parameter.name));
    }
  }
  return {};
}

}  // namespace

std::string SweepRun::group() const {
  std::string out;
  for (const auto& [name, value] : parameters) out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, value);
  return out;
}

std::string SweepRun::id() const {
  std::string out;
  for (const auto& [name, value] : parameters) out += fmt::format("{}={}_", name, value);
  return fmt::format("{}_r{:02}", file_name_of(out + settings_id(settings)), repetition);
}

std::vector<SweepRun> runs_of(const SweepPlan& plan) {
  std::vector<SweepRun> out;
  std::mt19937_64 random(plan.seed);
  for (std::size_t repetition = 1; repetition <= plan.repetitions; ++repetition) {
    std::vector<SweepRun> block;
    for (const ParameterValues& values : parameter_choices(plan.parameters)) {
      std::vector<std::string> command;
      command.reserve(plan.command.size());
      for (const std::string& word : plan.command) command.push_back(substituted(word, values));
      for (const GpuSettings& settings : setting_choices(plan))
        block.push_back({repetition, values, settings, command});
    }
    if (plan.order == SweepOrder::kRandom) shuffle(block, random);
    out.insert(out.end(), block.begin(), block.end());
  }
  return out;
}

namespace {

// Years of a machine's time; a plan of more is a slip.
constexpr double kMostRuns = 1e6;

double run_count(const SweepPlan& plan) {
  auto runs = static_cast<double>(plan.repetitions);
  for (const auto& [name, values] : plan.parameters) runs *= static_cast<double>(values.size());
  for (const std::size_t choices : {plan.power_limits_mw.size(), plan.sm_clocks.size(), plan.memory_clocks.size(),
                                    plan.application_clocks.size()}) {
    runs *= static_cast<double>(std::max<std::size_t>(choices, 1));
  }
  return runs;
}

}  // namespace

std::vector<std::string> unfilled_places(const SweepPlan& plan) {
  static const std::regex place(R"((^|[^$])\{([A-Za-z_][A-Za-z0-9_]*)\})");
  std::vector<std::string> out;
  for (const std::string& word : plan.command) {
    for (std::sregex_iterator at(word.begin(), word.end(), place), end; at != end; ++at) {
      const std::string name = (*at)[2];
      const bool known = std::any_of(plan.parameters.begin(), plan.parameters.end(),
                                     [&](const SweepParameter& parameter) { return parameter.name == name; });
      if (!known && std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    }
  }
  return out;
}

Result<void> check_plan(const SweepPlan& plan) {
  if (plan.command.empty() || plan.command.front().empty()) return invalid("command: none given");
  if (plan.repetitions == 0) return invalid("repetitions: at least 1");
  if (plan.output.empty()) return invalid("output: no folder given");
  JC_RETURN_IF_ERROR(check_parameters(plan));
  if (run_count(plan) > kMostRuns) return invalid(fmt::format("the plan has more than {:.0f} runs", kMostRuns));
  if (has_doubles(plan.power_limits_mw) || has_doubles(plan.sm_clocks) || has_doubles(plan.memory_clocks) ||
      has_doubles(plan.application_clocks)) {
    return invalid("a setting is listed twice; use repetitions to measure it more often");
  }
  if (!plan.application_clocks.empty() && !(plan.sm_clocks.empty() && plan.memory_clocks.empty())) {
    return invalid("application_clocks with sm_clocks_mhz or memory_clocks_mhz: locked clocks override the others");
  }
  return {};
}

Result<std::vector<SweepPlan>> read_plans(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".yaml" || ending == ".yml") return read_gpyjoules(path);
  std::ifstream file(path);
  if (!file) return not_found(fmt::format("{}: cannot be read", path));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto plan = parse_plan(text, std::filesystem::path(path).stem().string());
  if (!plan) return tl::unexpected<Error>(std::move(plan).error().in(path));
  return std::vector<SweepPlan>{*std::move(plan)};
}

}  // namespace joulecast
