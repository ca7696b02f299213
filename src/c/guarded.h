// SPDX-License-Identifier: Apache-2.0
// What every function of the C interface does around its work.
#pragma once

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "cli/outcome.h"
#include "cli/output.h"

namespace joulecast::c {

// For joulecast_string_free().
inline char* copied(const std::string& text) {
  auto* out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out != nullptr) std::memcpy(out, text.c_str(), text.size() + 1);
  return out;
}

inline std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

inline tl::unexpected<cli::Failure> no_handle() {
  return cli::usage("a handle is NULL", "what failed to open cannot be used");
}

inline void tell(char** error, const cli::Failure& failure) {
  if (error != nullptr) *error = copied(cli::failure_json(failure));
}

// What `work` gives, or `otherwise`. Nothing may be thrown into other languages: what is left are bugs and lack of
// memory.
template <typename Work>
auto guarded(char** error, const Work& work, typename decltype(work())::value_type otherwise = {}) noexcept ->
    typename decltype(work())::value_type {
  if (error != nullptr) *error = nullptr;
  try {
    auto result = work();
    if (result) return *result;
    tell(error, result.error());
  } catch (const std::exception& thrown) {
    tell(error, cli::Failure{{ErrorCode::kIo, thrown.what()}, ""});
  }
  return otherwise;
}

}  // namespace joulecast::c
