// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <array>
#include <utility>

namespace joulecast::runner {
namespace {

constexpr std::array<std::pair<std::string_view, at::ScalarType>, 13> kElements{{
    {"f64", at::kDouble},
    {"f32", at::kFloat},
    {"f16", at::kHalf},
    {"bf16", at::kBFloat16},
    {"i64", at::kLong},
    {"i32", at::kInt},
    {"i16", at::kShort},
    {"i8", at::kChar},
    {"u8", at::kByte},
    {"bool", at::kBool},
    {"f8e4m3", at::kFloat8_e4m3fn},
    {"f8e5m2", at::kFloat8_e5m2},
    {"c64", at::kComplexFloat},
}};

at::ScalarType element(std::string_view name) {
  for (const auto& [known, type] : kElements) {
    if (known == name) return type;
  }
  throw Refusal("unsupported", "elements of type " + std::string(name));
}

constexpr std::array<std::pair<std::string_view, Kind>, 4> kKinds{{{"computed", Kind::kComputed},
                                                                   {"input", Kind::kInput},
                                                                   {"parameter", Kind::kParameter},
                                                                   {"constant", Kind::kConstant}}};

Kind kind(std::string_view name) {
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return kind;
  }
  throw Refusal("protocol", "'" + std::string(name) + "' is no kind of value");
}

// value KIND ELEMENT shape=32,3,224,224 [contents=1,2]
Value value_of(const std::vector<std::string_view>& words) {
  if (words.size() < 3) throw Refusal("protocol", "a value needs kind and element");
  const Fields fields(words);
  Value value{kind(words[1]), element(words[2]), fields.integers("shape"), {}};
  const std::string contents = fields.text("contents");
  for (const std::string_view number : split(contents, ',')) value.contents.push_back(to_real(number));
  return value;
}

std::vector<std::int64_t> ids(const std::string& text) {
  std::vector<std::int64_t> out;
  for (const std::string_view word : split(text, ',')) out.push_back(word == "_" ? kAbsent : to_integer(word));
  return out;
}

}  // namespace

void Program::add_line(std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.empty()) return;
  if (words[0] == "value") {
    values.push_back(value_of(words));
  } else if (words[0] == "node" && words.size() > 1) {
    Fields fields(words);
    std::vector<std::int64_t> in = ids(fields.text("in")), out = ids(fields.text("out"));
    steps.push_back({std::string(words[1]), std::move(in), std::move(out), std::move(fields)});
  } else if (words[0] == "output" && words.size() == 2) {
    outputs.push_back(to_integer(words[1]));
  } else {
    throw Refusal("protocol", "'" + std::string(words[0]) + "' begins no line of a program");
  }
}

void Program::check() const {
  const auto count = static_cast<std::int64_t>(values.size());
  const auto known = [&](std::int64_t id, bool optional) {
    if ((id == kAbsent && optional) || (id >= 0 && id < count)) return;
    throw Refusal("protocol", "a node or output names a value that is none");
  };
  for (const Step& step : steps) {
    for (const std::int64_t id : step.inputs) known(id, true);
    for (const std::int64_t id : step.outputs) known(id, true);
  }
  for (const std::int64_t id : outputs) known(id, false);
}

}  // namespace joulecast::runner
