// SPDX-License-Identifier: Apache-2.0
#include "import/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "import/text.h"

namespace joulecast {
namespace {

constexpr std::size_t kMaxValues = 4'000'000;
constexpr std::size_t kMaxDepth = 200;

std::string_view name(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return "true or false";
    case JsonKind::kInteger:
      return "an integer";
    case JsonKind::kReal:
      return "a number";
    case JsonKind::kText:
      return "a string";
    case JsonKind::kArray:
      return "a list";
    case JsonKind::kObject:
      return "an object";
  }
  return "";
}

Result<const Json*> of_kind(const Json& object, std::string_view key, JsonKind kind) {
  JC_ASSIGN_OR_RETURN(const Json* value, object.at(key));
  if (value->kind() != kind) return invalid(fmt::format("'{}' is {}, not {}", key, name(value->kind()), name(kind)));
  return value;
}

}  // namespace

std::span<const JsonMember> Json::members() const {
  if (const auto* array = std::get_if<Array>(&value_)) return array->members;
  const auto* object = std::get_if<Object>(&value_);
  return object == nullptr ? std::span<const JsonMember>() : object->members;
}

const Json* Json::find(std::string_view key) const {
  if (!is(JsonKind::kObject)) return nullptr;
  for (const JsonMember& member : members()) {
    if (member.key == key) return member.value.is(JsonKind::kNull) ? nullptr : &member.value;
  }
  return nullptr;
}

Result<const Json*> Json::at(std::string_view key) const {
  if (!is(JsonKind::kObject)) return invalid(fmt::format("is {}, not an object with '{}'", name(kind()), key));
  const Json* found = find(key);
  if (found == nullptr) return invalid(fmt::format("'{}' is missing", key));
  return found;
}

Result<std::span<const JsonMember>> Json::array(std::string_view key) const {
  JC_ASSIGN_OR_RETURN(const Json* value, of_kind(*this, key, JsonKind::kArray));
  return value->members();
}
Result<std::span<const JsonMember>> Json::object(std::string_view key) const {
  JC_ASSIGN_OR_RETURN(const Json* value, of_kind(*this, key, JsonKind::kObject));
  return value->members();
}
Result<std::string_view> Json::string(std::string_view key) const {
  JC_ASSIGN_OR_RETURN(const Json* value, of_kind(*this, key, JsonKind::kText));
  return value->text();
}
Result<std::int64_t> Json::integer(std::string_view key) const {
  JC_ASSIGN_OR_RETURN(const Json* value, of_kind(*this, key, JsonKind::kInteger));
  return value->whole();
}

// What nlohmann's parser calls, in the order of the text.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonBuilder(std::initializer_list<std::string_view> skipped) : skipped_(skipped) {}

  bool null() override { return add(Json{}); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX)) return number_float(static_cast<double>(value), {});
    return add(Json(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(Json(value)); }
  bool string(string_t& value) override {
    if (skipping()) return add(Json{});
    return add(Json(std::string_view(document_.texts_.emplace_back(std::move(value)))));
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool key(string_t& value) override {
    if (skip_depth_ > 0) return true;
    skip_next_ = std::find(skipped_.begin(), skipped_.end(), value) != skipped_.end();
    if (!skip_next_) key_ = *document_.keys_.insert(std::move(value)).first;
    return true;
  }
  bool start_object(std::size_t /*elements*/) override { return start(JsonKind::kObject); }
  bool start_array(std::size_t /*elements*/) override { return start(JsonKind::kArray); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    error_ = Error{ErrorCode::kInvalidInput, fmt::format("is no JSON from byte {} on", position)};
    return false;
  }

  [[nodiscard]] Result<JsonDocument> take() {
    if (error_) return tl::unexpected(*std::move(error_));
    if (!stack_.empty()) document_.root_ = stack_[0].value;
    return std::move(document_);
  }

 private:
  struct Open {
    JsonKind kind;
    std::string_view key;
    std::size_t first;  // of its members on the stack
  };

  [[nodiscard]] bool skipping() const { return skip_depth_ > 0 || skip_next_; }

  bool refuse(std::string text) {
    error_ = Error{ErrorCode::kUnsupported, std::move(text)};
    return false;
  }
  bool add(const Json& value) {
    if (skip_depth_ > 0) return true;
    if (std::exchange(skip_next_, false)) return true;
    if (++values_ > kMaxValues) return refuse(fmt::format("has more than {} values", kMaxValues));
    stack_.push_back({std::exchange(key_, {}), value});
    return true;
  }
  bool start(JsonKind kind) {
    if (skipping()) {
      skip_next_ = false;
      ++skip_depth_;
      return true;
    }
    if (open_.size() >= kMaxDepth) return refuse(fmt::format("is nested more than {} deep", kMaxDepth));
    open_.push_back({kind, std::exchange(key_, {}), stack_.size()});
    return true;
  }
  bool end() {
    if (skip_depth_ > 0) {
      --skip_depth_;
      return true;
    }
    const Open done = open_.back();
    open_.pop_back();
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(done.first);
    std::span<const JsonMember> members;
    if (first != stack_.end()) members = document_.lists_.emplace_back(first, stack_.end());
    stack_.erase(first, stack_.end());
    key_ = done.key;
    return add(done.kind == JsonKind::kArray ? Json(Json::Array{members}) : Json(Json::Object{members}));
  }

  std::vector<std::string_view> skipped_;
  JsonDocument document_;
  std::vector<JsonMember> stack_;
  std::vector<Open> open_;
  std::string_view key_;
  std::size_t values_ = 0, skip_depth_ = 0;
  bool skip_next_ = false;
  std::optional<Error> error_;
};

namespace {

// Python writes Infinity and NaN, which JSON has not: numbers as long instead. What stands in strings stays.
std::optional<std::string> without_python_numbers(std::string_view text) {
  if (text.find("Infinity") == text.npos && text.find("NaN") == text.npos) return std::nullopt;
  std::string out(text);
  bool quoted = false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (quoted && out[i] == '\\') {
      ++i;
    } else if (out[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && out.compare(i, 8, "Infinity") == 0) {
      out.replace(i, 8, "1.70e308");
    } else if (!quoted && out.compare(i, 3, "NaN") == 0) {
      out.replace(i, 3, "0.0");
    }
  }
  return out;
}

}  // namespace

Result<JsonDocument> parse_json(std::string_view text, std::initializer_list<std::string_view> skipped) {
  const auto parse = [&](std::string_view json) {
    JsonBuilder builder(skipped);
    nlohmann::json::sax_parse(json.begin(), json.end(), &builder);
    return builder.take();
  };
  auto out = parse(text);
  if (out || out.error().code() == ErrorCode::kUnsupported) return out;
  const auto plain = without_python_numbers(text);
  return plain ? parse(*plain) : std::move(out);
}

}  // namespace joulecast
