// SPDX-License-Identifier: Apache-2.0
// The keys of a plan in TOML; docs/formats/sweep-plan.md is about them.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>

#include "measure/sweep_plan.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace joulecast {
namespace {

constexpr const char* kFound = "found";
constexpr double kMilli = 1000;

// Takes key after key out of a table; what is left over in the end nobody knows.
class PlanTable {
 public:
  explicit PlanTable(const toml::table& table) : table_(table) {}

  const toml::node* take(const char* key) {
    known_.insert(key);
    return table_.get(key);
  }

  void fault(const toml::node& node, const std::string& key, const std::string& what) {
    if (error_.empty()) error_ = fmt::format("line {}: {}: {}", node.source().begin.line, key, what);
  }

  void text(const char* key, std::string& out) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    if (const auto value = node->value_exact<std::string>()) {
      out = *value;
    } else {
      fault(*node, key, "expected a text");
    }
  }

  void number(const char* key, double& out) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (value && std::isfinite(*value) && *value >= 0) {
      out = *value;
    } else {
      fault(*node, key, "expected a number, 0 or more");
    }
  }

  template <typename T>
  void whole(const char* key, T& out) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    const auto value = node->is_integer() ? node->value<std::int64_t>() : std::nullopt;
    if (value && *value >= 0) {
      out = static_cast<T>(*value);
    } else {
      fault(*node, key, "expected a whole number, 0 or more");
    }
  }

  // `expected`: "a list of watts".
  template <typename Read>
  void each(const char* key, const char* expected, const Read& read) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list == nullptr) return fault(*node, key, fmt::format("expected {}", expected));
    for (const toml::node& entry : *list) read(entry);
  }

  // A list of nothing is no choice: whether it was meant for "not swept" or forgotten, nobody knows.
  template <typename Read>
  void choices(const char* key, const char* expected, const Read& read) {
    each(key, expected, read);
    const toml::node* node = table_.get(key);
    if (node != nullptr && node->is_array() && node->as_array()->empty()) {
      fault(*node, key, "the list is empty; leave the key out where this is not swept");
    }
  }

  Result<void> finish() {
    for (const auto& [key, node] : table_) {
      if (known_.count(std::string(key.str())) == 0) fault(node, std::string(key.str()), "unknown key");
    }
    if (!error_.empty()) return invalid(error_);
    return {};
  }

 private:
  const toml::table& table_;
  std::set<std::string> known_;
  std::string error_;
};

bool is_found(const toml::node& node) {
  return node.value_exact<std::string>() == kFound;
}

std::optional<std::uint32_t> clock_of(const toml::node& node) {
  const auto value = node.is_integer() ? node.value<std::int64_t>() : std::nullopt;
  constexpr std::int64_t kHighest = 100'000;
  if (!value || *value <= 0 || *value > kHighest) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> clock_pair(const toml::node& node) {
  const toml::array* list = node.as_array();
  if (list == nullptr || list->size() != 2) return std::nullopt;
  const auto first = clock_of((*list)[0]), second = clock_of((*list)[1]);
  if (!first || !second) return std::nullopt;
  return std::pair{*first, *second};
}

void read_limits(PlanTable& table, SweepPlan& plan) {
  table.choices("power_limits_w", "a list of watts: [200, 250, \"found\"]", [&](const toml::node& node) {
    if (is_found(node)) return plan.power_limits_mw.push_back(std::nullopt);
    const auto watts = node.is_number() ? node.value<double>() : std::nullopt;
    constexpr double kHighest = 1e6;
    if (!watts || !(*watts > 0) || *watts > kHighest) {
      return table.fault(node, "power_limits_w", "expected watts, or \"found\"");
    }
    plan.power_limits_mw.emplace_back(static_cast<std::uint32_t>(std::lround(*watts * kMilli)));
  });
}

void read_ranges(PlanTable& table, const char* key, std::vector<std::optional<ClockRange>>& out) {
  table.choices(key, "a list of MHz: [990, 1200, \"found\"]", [&](const toml::node& node) {
    if (is_found(node)) return out.push_back(std::nullopt);
    if (const auto clock = clock_of(node)) {
      out.push_back(ClockRange{*clock, *clock});
    } else if (const auto pair = clock_pair(node)) {
      out.push_back(ClockRange{pair->first, pair->second});
    } else {
      table.fault(node, key, "expected MHz, [from, to] in MHz, or \"found\"");
    }
  });
}

void read_application(PlanTable& table, SweepPlan& plan) {
  table.choices("application_clocks", "a list of [memory, sm] in MHz: [[877, 1380]]", [&](const toml::node& node) {
    if (is_found(node)) return plan.application_clocks.push_back(std::nullopt);
    const auto pair = clock_pair(node);
    if (!pair) return table.fault(node, "application_clocks", "expected [memory, sm] in MHz, or \"found\"");
    plan.application_clocks.push_back(ApplicationClocks{pair->first, pair->second});
  });
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

void read_command(PlanTable& table, SweepPlan& plan) {
  const toml::node* node = table.take("command");
  if (node == nullptr) return;
  if (const auto text = node->value_exact<std::string>()) {
    if (is_blank(*text)) return table.fault(*node, "command", "is empty");
    plan.command = {"sh", "-c", *text};
    return;
  }
  constexpr const char* kExpected =
      "a list of words, [\"python3\", \"train.py\"], or one text for the shell, \"python3 train.py\"";
  table.each("command", kExpected, [&](const toml::node& word) {
    const auto text = word.value_exact<std::string>();
    if (!text) return table.fault(word, "command", fmt::format("expected {}", kExpected));
    plan.command.push_back(*text);
  });
  const bool list = node->is_array();
  if (list && (plan.command.empty() || is_blank(plan.command.front()))) table.fault(*node, "command", "is empty");
}

// Numbers in their shortest form: write a text where it is to stand as it is ("0.10").
std::optional<std::string> word_of(const toml::node& node) {
  if (auto text = node.value_exact<std::string>()) return text;
  if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  return std::nullopt;
}

void read_parameters(PlanTable& table, SweepPlan& plan) {
  const toml::node* node = table.take("parameters");
  if (node == nullptr) return;
  const toml::table* lists = node->as_table();
  if (lists == nullptr) return table.fault(*node, "parameters", "expected a table: [parameters]");
  for (const auto& [key, list] : *lists) {
    SweepParameter parameter{std::string(key.str()), {}};
    const toml::array* values = list.as_array();
    if (values == nullptr) return table.fault(list, parameter.name, "expected a list of values");
    for (const toml::node& value : *values) {
      const auto word = word_of(value);
      if (!word) return table.fault(value, parameter.name, "expected texts or numbers");
      parameter.values.push_back(*word);
    }
    plan.parameters.push_back(std::move(parameter));
  }
}

void read_order(PlanTable& table, SweepPlan& plan) {
  std::string order = "random";
  table.text("order", order);
  if (order == "given") {
    plan.order = SweepOrder::kGiven;
  } else if (order != "random") {
    table.fault(*table.take("order"), "order", "expected \"random\" or \"given\"");
  }
  table.whole("seed", plan.seed);
}

void read_times(PlanTable& table, SweepPlan& plan) {
  table.number("baseline_s", plan.baseline_s);
  table.number("cooldown_s", plan.cooldown_s);
  table.number("cooldown_max_s", plan.cooldown_max_s);
  table.number("expected_s", plan.expected_s);
  if (table.take("cooldown_c") != nullptr) table.number("cooldown_c", plan.cooldown_c.emplace());
}

}  // namespace

Result<SweepPlan> parse_plan(std::string_view toml, const std::string& name) {
  const toml::parse_result parsed = toml::parse(toml);
  if (!parsed) {
    return invalid(fmt::format("line {}: {}", parsed.error().source().begin.line, parsed.error().description()));
  }
  PlanTable table(parsed.table());
  SweepPlan plan;
  plan.name = name;
  plan.output = name;
  read_command(table, plan);
  read_limits(table, plan);
  read_ranges(table, "sm_clocks_mhz", plan.sm_clocks);
  read_ranges(table, "memory_clocks_mhz", plan.memory_clocks);
  read_application(table, plan);
  read_parameters(table, plan);
  read_order(table, plan);
  read_times(table, plan);
  table.whole("repetitions", plan.repetitions);
  table.whole("warmup", plan.warmup);
  table.text("working_directory", plan.working_directory);
  table.text("output", plan.output);
  if (table.take("gpu") != nullptr) table.text("gpu", plan.gpus.emplace());
  table.each("slurm_options", "a list of texts: [\"--gres=gpu:1\"]", [&](const toml::node& node) {
    const auto text = node.value_exact<std::string>();
    if (!text) return table.fault(node, "slurm_options", "expected texts");
    plan.slurm_options.push_back(*text);
  });
  JC_RETURN_IF_ERROR(table.finish());
  JC_RETURN_IF_ERROR(check_plan(plan));
  return plan;
}

}  // namespace joulecast
