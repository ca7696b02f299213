// SPDX-License-Identifier: Apache-2.0
// Reading messages of protobuf's wire format: what is done where a field is met, with the type on the wire checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string_view>

#include "joulecast/result.h"

namespace joulecast::protobuf {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Field number and wire type together: a known number with another wire type is skipped as protobuf does with
// unknown fields, and never read as what it is not.
constexpr std::uint32_t text_field(std::uint32_t number) {
  return protozero::tag_and_type(number, pbf_wire_type::length_delimited);
}
constexpr std::uint32_t varint_field(std::uint32_t number) {
  return protozero::tag_and_type(number, pbf_wire_type::varint);
}
constexpr std::uint32_t float_field(std::uint32_t number) {
  return protozero::tag_and_type(number, pbf_wire_type::fixed32);
}
constexpr std::uint32_t double_field(std::uint32_t number) {
  return protozero::tag_and_type(number, pbf_wire_type::fixed64);
}

inline std::string_view view(pbf_reader& r) {
  const auto v = r.get_view();
  return {v.data(), v.size()};
}

// What is done where one field of a message is met: Result<void>(pbf_reader&).
template <typename Action>
struct Field {
  std::uint32_t tag;
  Action action;
};
template <typename Action>
Field(std::uint32_t, Action) -> Field<Action>;

// All fields of a message; those that are not listed are skipped. Throws protozero's exceptions.
template <typename... Actions>
Result<void> read_fields(pbf_reader r, const Field<Actions>&... fields) {
  while (r.next()) {
    const std::uint32_t tag = r.tag_and_type();
    Result<void> done;
    const bool known = ((tag == fields.tag && (done = fields.action(r), true)) || ...);
    if (!done) return done;
    if (!known) r.skip();
  }
  return {};
}

inline auto text(std::uint32_t number, std::string_view& out) {
  return Field{text_field(number), [&out](pbf_reader& r) -> Result<void> {
                 out = view(r);
                 return {};
               }};
}

template <typename Integer>
auto integer(std::uint32_t number, Integer& out) {
  return Field{varint_field(number), [&out](pbf_reader& r) -> Result<void> {
                 out = static_cast<Integer>(r.get_int64());
                 return {};
               }};
}

// `read` gives Result<void> for a message of the field.
template <typename Read>
auto message(std::uint32_t number, Read read) {
  return Field{text_field(number), [read](pbf_reader& r) -> Result<void> { return read(r.get_message()); }};
}

}  // namespace joulecast::protobuf
