// SPDX-License-Identifier: Apache-2.0
// How a verb ends.
#pragma once

#include <string>
#include <utility>

#include "joulecast/result.h"

namespace joulecast::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;
inline constexpr int kIncomplete = 3;  // done, but not with everything that was asked for

// An error as the program reports it: "joulecast: <text>", then "hint: <hint>" where there is one.
struct Failure {
  Error error;
  std::string hint;
  int exit_code = kFailure;

  Failure(Error e) : error(std::move(e)) {}  // NOLINT(google-explicit-constructor): so that JC_RETURN_IF_ERROR works
  Failure(Error e, std::string advice, int code = kFailure)
      : error(std::move(e)), hint(std::move(advice)), exit_code(code) {}
};

using Outcome = tl::expected<void, Failure>;

// The same as JC_RETURN_IF_ERROR for what ends a verb.
#define JC_RETURN_IF_FAILURE(expression)                                               \
  do {                                                                                 \
    if (auto jc_outcome = (expression); !jc_outcome) {                                 \
      return tl::unexpected<::joulecast::cli::Failure>(std::move(jc_outcome).error()); \
    }                                                                                  \
  } while (false)

// JC_ASSIGN_OR_FAIL(const auto batch, parse_batch(text)); as JC_ASSIGN_OR_RETURN.
#define JC_ASSIGN_OR_FAIL(declaration, expression) \
  JC_ASSIGN_OR_FAIL_(JC_CONCAT(jc_outcome_, __LINE__), declaration, expression)
#define JC_ASSIGN_OR_FAIL_(outcome, declaration, expression)                                  \
  auto outcome = (expression);                                                                \
  if (!outcome) return tl::unexpected<::joulecast::cli::Failure>(std::move(outcome).error()); \
  declaration = std::move(*outcome)  // NOLINT(bugprone-macro-parentheses): it is a declaration

// What was typed makes no sense: exit code 2.
inline tl::unexpected<Failure> usage(std::string message, std::string hint = {}) {
  return tl::unexpected<Failure>(Failure{{ErrorCode::kInvalidInput, std::move(message)}, std::move(hint), kUsage});
}

}  // namespace joulecast::cli
