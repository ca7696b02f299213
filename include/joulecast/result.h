// SPDX-License-Identifier: Apache-2.0
// Errors as values. A fallible function returns Result<T>; context is added on the way up.
//
//   Result<Graph> graph = import_onnx("net.onnx");
//   if (!graph) fmt::print(stderr, "{}\n", graph.error().text());
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace joulecast {

enum class ErrorCode : std::uint8_t {
  kInvalidInput,  // the bytes or the request are wrong
  kUnsupported,   // well formed, but not something we do
  kNotFound,
  kIo,
  kDevice,
  kTimeout,
};

// What went wrong, innermost message first; `in()` prepends the place it happened in.
class Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] ErrorCode code() const { return code_; }
  // "file.onnx: node 'conv1': attribute 'strides': has 3 entries for 2 spatial dimensions"
  [[nodiscard]] const std::string& text() const { return message_; }

  [[nodiscard]] Error in(std::string_view place) && {
    message_.insert(0, ": ").insert(0, place);
    return std::move(*this);
  }

 private:
  ErrorCode code_;
  std::string message_;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> invalid(std::string message) {
  return tl::unexpected<Error>(Error{ErrorCode::kInvalidInput, std::move(message)});
}
inline tl::unexpected<Error> unsupported(std::string message) {
  return tl::unexpected<Error>(Error{ErrorCode::kUnsupported, std::move(message)});
}
inline tl::unexpected<Error> not_found(std::string message) {
  return tl::unexpected<Error>(Error{ErrorCode::kNotFound, std::move(message)});
}
inline tl::unexpected<Error> io_error(std::string message) {
  return tl::unexpected<Error>(Error{ErrorCode::kIo, std::move(message)});
}

}  // namespace joulecast

#define JC_CONCAT_INNER(a, b) a##b
#define JC_CONCAT(a, b) JC_CONCAT_INNER(a, b)

// Evaluates a Result<void> (or any Result) and returns its error to the caller.
#define JC_RETURN_IF_ERROR(expression)                                         \
  do {                                                                         \
    if (auto jc_status = (expression); !jc_status) {                           \
      return tl::unexpected<::joulecast::Error>(std::move(jc_status).error()); \
    }                                                                          \
  } while (false)

// JC_ASSIGN_OR_RETURN(auto graph, import_onnx(path));
#define JC_ASSIGN_OR_RETURN(declaration, expression) \
  JC_ASSIGN_OR_RETURN_IMPL(JC_CONCAT(jc_result_, __LINE__), declaration, expression)
#define JC_ASSIGN_OR_RETURN_IMPL(result, declaration, expression)                    \
  auto result = (expression);                                                        \
  if (!result) return tl::unexpected<::joulecast::Error>(std::move(result).error()); \
  declaration = std::move(*result)  // NOLINT(bugprone-macro-parentheses): it is a declaration
