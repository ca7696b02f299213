// SPDX-License-Identifier: Apache-2.0
#include "import/json.h"

#include <fmt/format.h>

#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "import/text.h"

namespace joulecast {
namespace {

constexpr std::size_t kMaxValues = 4'000'000;
constexpr std::size_t kMaxDepth = 200;
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;

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

namespace {

// Numbers come as text: std::from_chars is exact, and the parser's own arithmetic overflows on hostile exponents.
constexpr unsigned kParseFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                                 rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag |
                                 rapidjson::kParseNanAndInfFlag;

// Python writes Infinity and NaN, which JSON has not: a number as good as endless instead, and 0.
constexpr double kEndless = 1.7e308;

// An integer where it is written as one and 64 bits hold it, else a double; nothing where no double holds it.
std::optional<Json> number_of(std::string_view text) {
  const char* const end = text.data() + text.size();
  if (text.find_first_of("NI") != text.npos) {
    if (text == "NaN") return Json(0.0);
    return Json(text.starts_with('-') ? -kEndless : kEndless);
  }
  std::int64_t whole = 0;
  if (const auto done = std::from_chars(text.data(), end, whole); done.ec == std::errc{} && done.ptr == end) {
    return Json(whole);
  }
  double real = 0.0;
  const auto done = std::from_chars(text.data(), end, real);
  const bool tiny = text.find("e-") != text.npos || text.find("E-") != text.npos;  // below the least double: 0
  if (done.ec != std::errc{} && !tiny) return std::nullopt;
  return Json(real);
}

}  // namespace

// The parser stops at a zero, but takes all bytes that a character of UTF-8 says it has before it looks at them.
constexpr std::size_t kZeros = 4;

// What RapidJSON's parser calls, in the order of the text.
class JsonBuilder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, JsonBuilder> {
 public:
  JsonBuilder(std::string_view text, std::initializer_list<std::string_view> skipped) : skipped_(skipped) {
    document_.text_.reserve(text.size() + kZeros);
    document_.text_.assign(text.begin(), text.end());
    document_.text_.resize(text.size() + kZeros, '\0');
  }

  Result<JsonDocument> build() {
    rapidjson::Reader reader;
    rapidjson::InsituStringStream stream(document_.text_.data());
    const rapidjson::ParseResult done = reader.Parse<kParseFlags>(stream, *this);
    if (error_) return tl::unexpected(*std::move(error_));
    // A zero byte ends the text for the parser.
    if (done.IsError() || stream.Tell() + kZeros < document_.text_.size()) {
      return invalid(fmt::format("is no JSON from byte {} on", (done.IsError() ? done.Offset() : stream.Tell()) + 1));
    }
    if (!stack_.empty()) document_.root_ = stack_[0].value;
    return std::move(document_);
  }

  // NOLINTBEGIN(readability-identifier-naming): names of the parser
  bool Null() { return add(Json{}); }
  bool Bool(bool value) { return add(Json(value)); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    const std::optional<Json> value = number_of({text, length});
    return value ? add(*value) : refuse("has a number that no double holds");
  }
  bool String(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    return add(Json(std::string_view(text, length)));
  }
  bool Key(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    if (skip_depth_ > 0) return true;
    key_ = {text, length};
    skip_next_ = std::find(skipped_.begin(), skipped_.end(), key_) != skipped_.end();
    return true;
  }
  bool StartObject() { return start(JsonKind::kObject); }
  bool StartArray() { return start(JsonKind::kArray); }
  bool EndObject(rapidjson::SizeType /*members*/) { return end(); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return end(); }
  // NOLINTEND(readability-identifier-naming)

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
    const std::span<const JsonMember> members = document_.keep(std::span(stack_).subspan(done.first));
    stack_.resize(done.first);
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

std::span<const JsonMember> JsonDocument::keep(std::span<const JsonMember> members) {
  constexpr std::size_t kBlock = 1024;
  if (members.empty()) return {};
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < members.size()) {
    blocks_.emplace_back().reserve(std::max(kBlock, members.size()));
  }
  auto& block = blocks_.back();
  block.insert(block.end(), members.begin(), members.end());
  return std::span(block).last(members.size());
}

Result<JsonDocument> parse_json(std::string_view text, std::initializer_list<std::string_view> skipped) {
  if (text.size() > kMaxBytes) return unsupported(fmt::format("is JSON of more than {} bytes", kMaxBytes));
  return JsonBuilder(text, skipped).build();
}

}  // namespace joulecast
