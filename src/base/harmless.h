// SPDX-License-Identifier: Apache-2.0
// Text of others - names of phases and devices, commands, words of files - made fit to be shown anywhere.
#pragma once

#include <string>
#include <string_view>

namespace joulecast {

// Valid UTF-8 in which nothing steers a terminal, turns the direction of what follows or hides: every byte that is no
// UTF-8, and every control and invisible formatting character, becomes U+FFFD. Tabs and line ends stay, and so do the
// joiners that words of some languages need.
std::string harmless_text(std::string_view text);

// The same in one line: tabs and line ends go too.
std::string harmless_line(std::string_view text, std::string_view instead = "\uFFFD");

}  // namespace joulecast
