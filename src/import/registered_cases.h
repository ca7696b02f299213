// SPDX-License-Identifier: Apache-2.0
// Tests made from files.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace joulecast {

// A test of `suite` for every case, by its name. To be called before main().
inline bool register_cases(const char* suite, const std::map<std::string, std::function<void()>>& cases) {
  class Case : public testing::Test {
   public:
    explicit Case(std::function<void()> body) : body_(std::move(body)) {}
    void TestBody() override { body_(); }

   private:
    std::function<void()> body_;
  };
  for (const auto& [name, body] : cases) {
    testing::RegisterTest(suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [body = body]() -> testing::Test* { return new Case(body); });
  }
  return true;
}

}  // namespace joulecast
