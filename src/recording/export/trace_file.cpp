// SPDX-License-Identifier: Apache-2.0
#include "recording/export/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace joulecast {
namespace {

constexpr std::size_t kDeepest = 512;

// Walks over JSON by its brackets and strings. That is enough to find a place in it; whoever wrote it has checked it.
class TraceScanner {
 public:
  explicit TraceScanner(std::string_view text) : text_(text) {}

  Result<TraceFile> scan() {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '{' && text_[at_] != '[')) {
      const bool gzip = text_.starts_with("\x1f\x8b");
      return invalid(gzip ? "is compressed; unpack it: gunzip" : "is no trace in JSON");
    }
    if (text_[at_] == '[') found_events(at_ + 1);
    for (; at_ < text_.size(); ++at_) JC_RETURN_IF_ERROR(step(text_[at_]));
    if (!open_.empty()) return invalid("ends in the middle");
    if (!have_events_) return invalid("has no \"traceEvents\"");
    return out_;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && text_.find_first_of(" \t\r\n", at_) == at_) ++at_;
  }

  void found_events(std::size_t begin) {
    have_events_ = true;
    out_.insert_at = begin;
    const std::size_t next = text_.find_first_not_of(" \t\r\n", begin);
    out_.empty = next == std::string_view::npos || text_[next] == ']';
    events_depth_ = open_.size() + 1;
  }

  Result<void> step(char c) {
    if (c == '"') return string();
    if (c == '{' || c == '[') {
      if (c == '[' && open_.size() == 1 && key_ == "traceEvents") found_events(at_ + 1);
      if (open_.size() >= kDeepest) return invalid("is nested too deep");
      open_ += c;
      key_ = {};
    } else if (c == '}' || c == ']') {
      if (open_.empty() || open_.back() != (c == '}' ? '{' : '['))
        return invalid(fmt::format("byte {}: unexpected '{}'", at_, c));
      open_.pop_back();
      key_ = {};
    } else if (c == ',') {
      key_ = {};
    } else if ((c >= '0' && c <= '9') || c == '-') {
      number();
    }
    return {};
  }

  // A string, and whether it names what follows.
  Result<void> string() {
    const std::size_t begin = at_ + 1;
    std::size_t end = begin;
    while (true) {
      end = text_.find_first_of("\"\\", end);
      if (end == std::string_view::npos) return invalid("ends in the middle of a text");
      if (text_[end] == '"') break;
      end += 2;
    }
    at_ = end + 1;
    skip_space();
    if (at_ < text_.size() && text_[at_] == ':') {
      key_ = text_.substr(begin, end - begin);
    } else {
      --at_;
    }
    return {};
  }

  void number() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    const auto size = static_cast<std::size_t>(end - (text_.data() + at_));
    if (error == std::errc() && key_ == "baseTimeNanoseconds" && open_ == "{") {
      std::int64_t base = 0;
      std::from_chars(text_.data() + at_, end, base);
      out_.base_ns = base;
    } else if (error == std::errc() && key_ == "ts" && open_.size() == events_depth_ + 1 && value > 0) {
      out_.first_us = std::min(value, out_.first_us.value_or(value));
      out_.last_us = std::max(value, out_.last_us.value_or(value));
    }
    if (size > 0) at_ += size - 1;
    key_ = {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string open_;  // brackets
  std::string_view key_;
  bool have_events_ = false;
  std::size_t events_depth_ = 0;
  TraceFile out_;
};

}  // namespace

Result<TraceFile> scan_trace(std::string_view text) {
  return TraceScanner(text).scan();
}

}  // namespace joulecast
