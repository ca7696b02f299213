// SPDX-License-Identifier: Apache-2.0
// JSON of model files as values over one copy of the text: bounded, without recursion, and without what nobody reads.
//
//   JC_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(text, {"stack_trace"}));
//   JC_ASSIGN_OR_RETURN(const std::int64_t groups, document.root().integer("groups"));
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "joulecast/result.h"

namespace joulecast {

struct JsonMember;

// In the order of Json::Value.
enum class JsonKind : std::uint8_t { kNull, kBool, kInteger, kReal, kText, kArray, kObject };

// Valid as long as its document.
class Json {
 public:
  struct Array {
    std::span<const JsonMember> members;
  };
  struct Object {
    std::span<const JsonMember> members;
  };
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string_view, Array, Object>;

  Json() = default;
  explicit Json(Value value) : value_(value) {}

  [[nodiscard]] JsonKind kind() const { return static_cast<JsonKind>(value_.index()); }
  [[nodiscard]] bool is(JsonKind wanted) const { return kind() == wanted; }
  // These are empty, false or 0 for any other kind. Integers beyond 64 bits are reals.
  [[nodiscard]] std::span<const JsonMember> members() const;  // of an array or object, in the file's order
  [[nodiscard]] std::string_view text() const { return or_else<std::string_view>({}); }
  [[nodiscard]] std::int64_t whole() const { return or_else<std::int64_t>(0); }
  [[nodiscard]] double real() const { return or_else<double>(0.0); }
  [[nodiscard]] bool truth() const { return or_else(false); }

  // The value of a key of an object; nullptr where there is none, or null is there.
  [[nodiscard]] const Json* find(std::string_view key) const;

  // These name the key in their errors: it is missing, or is of another kind.
  [[nodiscard]] Result<const Json*> at(std::string_view key) const;
  [[nodiscard]] Result<std::span<const JsonMember>> array(std::string_view key) const;
  [[nodiscard]] Result<std::span<const JsonMember>> object(std::string_view key) const;
  [[nodiscard]] Result<std::string_view> string(std::string_view key) const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view key) const;

 private:
  template <typename T>
  [[nodiscard]] T or_else(T absent) const {
    const T* found = std::get_if<T>(&value_);
    return found == nullptr ? absent : *found;
  }

  Value value_;
};

struct JsonMember {
  std::string_view key;  // empty in arrays
  Json value;
};

class JsonDocument {
 public:
  [[nodiscard]] const Json& root() const { return root_; }

 private:
  friend class JsonBuilder;
  std::span<const JsonMember> keep(std::span<const JsonMember> members);

  Json root_;
  std::vector<char> text_;  // with the escapes of strings undone where they stand
  std::vector<std::vector<JsonMember>> blocks_;
};

// Values under a key in `skipped` are left out, whatever they are. Errors: kInvalidInput with the place for text that
// is no JSON; kUnsupported for more than 4 million values, 200 levels, or a gibibyte.
Result<JsonDocument> parse_json(std::string_view text, std::initializer_list<std::string_view> skipped = {});

}  // namespace joulecast
