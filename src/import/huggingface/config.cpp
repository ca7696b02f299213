// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/config.h"

#include <fmt/format.h>

#include "import/json.h"
#include "import/text.h"

namespace joulecast::huggingface {

Result<Config> Config::parse(std::string_view text) {
  constexpr std::size_t kLongest = std::size_t{1} << 20U;  // classifiers' thousands of labels fit
  if (text.size() > kLongest) return unsupported("is longer than any config.json");
  JC_ASSIGN_OR_RETURN(JsonDocument json, parse_json(text));
  if (!json.root().is(JsonKind::kObject)) return invalid("is no JSON object");
  return Config(std::make_shared<const JsonDocument>(std::move(json)));
}

bool Config::has(std::string_view key) const {
  return json_->root().find(key) != nullptr;
}

void Config::complain(std::string_view key, std::string_view what) {
  if (error_.empty()) error_ = fmt::format("'{}' {}", key, what);
}

std::int64_t Config::integer(std::string_view key, std::int64_t absent) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 24U;
  const auto* value = json_->root().find(key);
  if (value == nullptr) return absent;
  const bool good = value->is(JsonKind::kInteger) && value->whole() >= 1 && value->whole() <= kLargest;
  if (!good) complain(key, fmt::format("is no whole number from 1 to {}", kLargest));
  return good ? value->whole() : absent;
}

std::int64_t Config::layers(std::string_view key, std::int64_t absent) {
  constexpr std::int64_t kMost = 1024;
  const std::int64_t value = integer(key, absent);
  if (value <= kMost) return value;
  complain(key, fmt::format("is more than {}", kMost));
  return absent;
}

double Config::share(std::string_view key, double absent) {
  const auto* value = json_->root().find(key);
  if (value == nullptr) return absent;
  const double number = value->is(JsonKind::kInteger) ? static_cast<double>(value->whole()) : value->real();
  const bool good = (value->is(JsonKind::kInteger) || value->is(JsonKind::kReal)) && number >= 0 && number <= 1;
  if (!good) complain(key, "is no number from 0 to 1");
  return good ? number : absent;
}

bool Config::flag(std::string_view key, bool absent) {
  const auto* value = json_->root().find(key);
  if (value == nullptr) return absent;
  if (!value->is(JsonKind::kBool)) complain(key, "is neither true nor false");
  return value->is(JsonKind::kBool) ? value->truth() : absent;
}

std::string Config::text(std::string_view key, std::string_view absent) {
  const auto* value = json_->root().find(key);
  if (value == nullptr) return std::string(absent);
  if (!value->is(JsonKind::kText)) complain(key, "is no string");
  return value->is(JsonKind::kText) ? printable(value->text()) : std::string(absent);
}

std::string Config::architecture() {
  const auto* list = json_->root().find("architectures");
  if (list == nullptr || !list->is(JsonKind::kArray) || list->members().empty()) return {};
  return printable(list->members().front().value.text());
}

std::int64_t Config::labels() {
  const auto* names = json_->root().find("id2label");
  const bool named = names != nullptr && names->is(JsonKind::kObject) && !names->members().empty();
  if (named) return static_cast<std::int64_t>(names->members().size());
  return integer("num_labels", 2);
}

std::int64_t Config::divided(std::string_view key, std::int64_t whole, std::int64_t parts) {
  if (whole % parts == 0) return whole / parts;
  complain(key, fmt::format("of {} does not divide {}", parts, whole));
  return 1;
}

Result<void> Config::check() const {
  if (!error_.empty()) return invalid(error_);
  return {};
}

}  // namespace joulecast::huggingface
