// SPDX-License-Identifier: Apache-2.0
// Reading a table of TOML key by key, collecting everything that is wrong with it.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "scenario.h"

namespace joulecast::nvml {

//   Table table(root, "gpu", errors);
//   table.number("idle_w", spec.idle_w);   // stays as it is where the key is absent
//   table.finish();                        // what was not asked for is an error
class Table {
 public:
  Table(const toml::table& table, std::string place, std::vector<std::string>& errors)
      : table_(table), place_(std::move(place)), errors_(errors) {}

  [[nodiscard]] bool has(const char* key) const { return table_.contains(key); }

  void number(const char* key, double& out) {
    if (const toml::node* node = take(key)) {
      const auto value = node->value<double>();
      if (value && node->is_number() && std::isfinite(*value)) {
        out = *value;
      } else {
        fault(key, "expected a number");
      }
    }
  }

  // A count or a size: a whole number, never negative.
  template <typename T>
  void whole(const char* key, T& out) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    const auto value = node->is_integer() ? node->value<std::int64_t>() : std::nullopt;
    if (value && *value >= 0 && static_cast<std::uint64_t>(*value) <= std::numeric_limits<T>::max()) {
      out = static_cast<T>(*value);
    } else {
      fault(key, "expected a whole number in range");
    }
  }

  // A number that is stored as a multiple of something smaller: watts as milliwatts, seconds as nanoseconds.
  template <typename T>
  void scaled(const char* key, double factor, T& out) {
    if (!has(key)) return;
    double value = 0;
    number(key, value);
    const double wanted = std::round(value * factor);
    if (wanted < 0 || wanted > 9e18 || wanted > static_cast<double>(std::numeric_limits<T>::max())) {
      fault(key, "out of range");
    } else {
      out = static_cast<T>(wanted);
    }
  }

  void text(const char* key, std::string& out) { plain(key, "text", out); }
  void flag(const char* key, bool& out) { plain(key, "true or false", out); }

  void clocks(const char* key, std::vector<std::uint32_t>& out) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    out.clear();
    if (const toml::array* list = node->as_array()) {
      for (const toml::node& entry : *list) {
        const auto value = entry.value<std::int64_t>();
        if (value && *value > 0 && *value < 100'000) out.push_back(static_cast<std::uint32_t>(*value));
      }
      if (!out.empty() && out.size() == list->size()) return;
    }
    fault(key, "expected a list of clocks in MHz");
  }

  void texts(const char* key, std::vector<std::string>& out) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list == nullptr) return fault(key, "expected a list of texts");
    for (const toml::node& entry : *list) out.push_back(entry.value_or(std::string()));
  }

  // The table of that name, or each table of a list of them.
  template <typename Read>
  void each(const char* key, const Read& read) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    if (const toml::table* one = node->as_table()) return inner(*one, key, read);
    const toml::array* list = node->as_array();
    if (list == nullptr) return fault(key, "expected a table");
    for (const toml::node& entry : *list) {
      const toml::table* one = entry.as_table();
      if (one == nullptr) return fault(key, "expected tables");
      inner(*one, key, read);
    }
  }

  void fault(const char* key, const std::string& what) {
    const toml::node* node = table_.get(key);
    const auto line = node == nullptr ? table_.source().begin.line : node->source().begin.line;
    errors_.push_back(fmt::format("line {}: {}{}: {}", line, place_, key, what));
  }

  void finish() {
    for (const auto& [key, node] : table_) {
      if (known_.count(std::string(key.str())) == 0) fault(std::string(key.str()).c_str(), "unknown key");
    }
  }

 private:
  const toml::node* take(const char* key) {
    known_.insert(key);
    return table_.get(key);
  }

  template <typename T>
  void plain(const char* key, const char* kind, T& out) {
    const toml::node* node = take(key);
    if (node == nullptr) return;
    if (const auto* value = node->as<T>()) {
      out = value->get();
    } else {
      fault(key, fmt::format("expected {}", kind));
    }
  }

  template <typename Read>
  void inner(const toml::table& one, const char* key, const Read& read) {
    Table table(one, place_ + key + ".", errors_);
    read(table);
    table.finish();
  }

  const toml::table& table_;
  std::string place_;
  std::vector<std::string>& errors_;
  std::set<std::string> known_;
};

}  // namespace joulecast::nvml
