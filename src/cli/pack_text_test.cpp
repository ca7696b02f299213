// SPDX-License-Identifier: Apache-2.0
// Packs come from anywhere: no report may stop the program.
#include "cli/pack_text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cli/json.h"
#include "predict/pack/writer.h"

namespace joulecast::cli {
namespace {

Json seed() {
  std::ifstream in(JOULECAST_SOURCE_DIR "/fuzz/seeds/pack_report/small.json");
  return Json::parse(in);
}

// All three forms of a pack with this report; the first is what people read.
std::vector<Result<std::string>> forms(const std::string& report) {
  PackWriter writer;
  EXPECT_TRUE(writer.add_json("report", report));
  EXPECT_TRUE(writer.add_table("intervals", {{"operation/conv/seen/time", 0.1}, {"network/time/inside", 0.2}}));
  const std::vector<std::byte> bytes = writer.bytes();
  const Pack pack = Pack::over(bytes).value();
  return {pack_text(pack), pack_json(pack), pack_csv(pack)};
}

TEST(PackText, SaysWhatTheReportSays) {
  const std::string text = forms(seed().dump())[0].value();
  for (const char* part : {"  a          3           0         0        1\n", "  1 of a: no time\n",
                           "Held out, 15 folds:\n", "fitted to 1 sweeps on 1 GPUs", "  conv/seen          1.11"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(PackText, ReportsOfOthersAreRefused) {
  for (const char* text : {"", "{", "[]", "null", R"({"schema": "joulecast.pack-report/2"})"}) {
    for (const auto& form : forms(text)) EXPECT_FALSE(form) << text;
  }
}

// The value at one place after the other, replaced by everything it is not.
void replace_each(Json& whole, Json& part, int& tried) {
  static const std::vector<Json> others = {
      nullptr, true, -1, 1e308, "text\x01\n", Json::array({nullptr, 1, "x"}), Json::object({{"a", Json::array()}})};
  for (const Json& other : others) {
    const Json before = part;
    part = other;
    if (whole.is_object() && whole.contains("schema")) {
      for (const auto& form : forms(whole.dump())) {
        EXPECT_TRUE(form || !form.error().text().empty());
      }
    }
    part = before;
    ++tried;
  }
  if (!part.is_structured()) return;
  for (Json& child : part) replace_each(whole, child, tried);
}

TEST(PackText, NoValueStopsIt) {
  Json report = seed();
  int tried = 0;
  for (Json& child : report) replace_each(report, child, tried);
  EXPECT_GT(tried, 300);
}

TEST(PackText, DeepNestingDoesNotEndTheStack) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const std::string report = R"({"schema": "joulecast.pack-report/1", "settings": )" + deep + "}";
  for (const auto& form : forms(report)) EXPECT_TRUE(form) << form.error().text();
}

}  // namespace
}  // namespace joulecast::cli
