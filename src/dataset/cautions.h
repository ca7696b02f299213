// SPDX-License-Identifier: Apache-2.0
// What has to be known about a measurement before it is used: one word each, kept with the row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace joulecast {

// Which readings a caution makes unfit to learn from.
enum class Spoils : std::uint8_t { kNothing, kTime, kPower, kTimeAndPower, kMemory, kAll };

struct Caution {
  std::string_view word;
  Spoils spoils;
  std::string_view meaning;
};

// Every word our readers give, by name. Tables may bring others of their own.
std::span<const Caution> cautions();
// nullptr for a word that is none of ours.
const Caution* find_caution(std::string_view word);

// Adds a word to a list with ',' between, once. Requires: the word is one of cautions().
void add_caution(std::string& list, std::string_view word);
// Whether a list with ',' or ';' between has the word.
bool has_caution(std::string_view list, std::string_view word);

}  // namespace joulecast
