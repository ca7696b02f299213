// SPDX-License-Identifier: Apache-2.0
// Inputs whose shapes a file does not say: they are taken as the network reads them. A note tells so, and since notes
// are what travels with a graph, in its text form too, the note is how others know later.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph.h"

namespace joulecast {

struct GuessedShape {
  std::string input;
  std::string shape;  // for people
};

// "the file does not say the shape of input 'x': taken as batch x 64, as the network reads it"
std::string note_of(const GuessedShape& guessed);

// Whether a note of the graph says so of this input.
bool is_shape_guessed(const Graph& graph, std::string_view input);

// What to do where something does not fit, which may be the guess: "x was taken to be 8x64; give what it is with
// --shapes x:AxBxC". Empty where nothing was guessed.
std::string advice_on(const std::vector<GuessedShape>& guessed);

}  // namespace joulecast
