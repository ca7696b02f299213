// SPDX-License-Identifier: Apache-2.0
#include "import/guessed_shapes.h"

#include <fmt/format.h>

#include <algorithm>

namespace joulecast {
namespace {

constexpr std::string_view kAsRead = ", as the network reads it";

std::string beginning(std::string_view input) {
  return fmt::format("the file does not say the shape of input '{}': taken as ", input);
}

}  // namespace

std::string note_of(const GuessedShape& guessed) {
  return fmt::format("{}{}{}", beginning(guessed.input), guessed.shape, kAsRead);
}

bool is_shape_guessed(const Graph& graph, std::string_view input) {
  const std::string begin = beginning(input);
  return std::any_of(graph.notes.begin(), graph.notes.end(), [&](const GraphNote& note) {
    return note.text.starts_with(begin) && note.text.ends_with(kAsRead);
  });
}

std::string advice_on(const std::vector<GuessedShape>& guessed) {
  constexpr std::size_t kShown = 4;
  std::string taken, options;
  for (std::size_t i = 0; i < std::min(kShown, guessed.size()); ++i) {
    taken += fmt::format("{}{} was taken to be {}", i > 0 ? ", " : "", guessed[i].input, guessed[i].shape);
    options += fmt::format(" --shapes {}:AxBxC", guessed[i].input);
  }
  if (guessed.size() > kShown) taken += fmt::format(", and {} more likewise", guessed.size() - kShown);
  if (guessed.empty()) return {};
  return fmt::format("{}; give what {} with{}", taken, guessed.size() == 1 ? "it is" : "they are", options);
}

}  // namespace joulecast
