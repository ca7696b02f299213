// SPDX-License-Identifier: Apache-2.0
// The config.json of a network of Hugging Face's transformers, checked while it is read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "joulecast/result.h"

namespace joulecast {
class JsonDocument;
}

namespace joulecast::huggingface {

class Config {
 public:
  // Errors: those of parse_json(); kInvalidInput for what is no object, kUnsupported for one that is too long.
  static Result<Config> parse(std::string_view text);

  [[nodiscard]] bool has(std::string_view key) const;  // and it is not null
  // The value, or `absent` where there is none. A value of another type, or one that no network has, is remembered as
  // the config's first error, and `absent` taken: networks are written without a check at every line.
  std::int64_t integer(std::string_view key, std::int64_t absent);  // from 1 to 2^24
  std::int64_t layers(std::string_view key, std::int64_t absent);   // from 1 to 1024
  double share(std::string_view key, double absent);                // from 0 to 1
  bool flag(std::string_view key, bool absent);
  std::string text(std::string_view key, std::string_view absent);
  // The first of "architectures", "LlamaForCausalLM" say; empty where there is none.
  std::string architecture();
  // Classes of a classifier: as many as "id2label" names, else "num_labels", else 2.
  std::int64_t labels();
  // Requires of two extents that one divides the other: heads and widths.
  std::int64_t divided(std::string_view key, std::int64_t whole, std::int64_t parts);

  // What was wrong so far.
  [[nodiscard]] Result<void> check() const;

 private:
  explicit Config(std::shared_ptr<const JsonDocument> json) : json_(std::move(json)) {}
  void complain(std::string_view key, std::string_view what);

  std::shared_ptr<const JsonDocument> json_;
  std::string error_;
};

}  // namespace joulecast::huggingface
