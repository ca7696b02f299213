// SPDX-License-Identifier: Apache-2.0
#include "report/page.h"

#include <gtest/gtest.h>

#include <string>

#include "report/html.h"
#include "report/text.h"

namespace joulecast::report {
namespace {

constexpr MonotonicUs kSecond = 1'000'000;
constexpr const char* kHostile = "</script><script>alert('1')</script>\u2028&<img src=x onerror=alert(2)>";

// Two GPUs for ten seconds, each with power and a clock, and three phases of a hostile name.
Recording recording() {
  Recording out;
  out.damage.complete = true;
  out.head["command"] = {"sh", "-c", kHostile};
  out.head["started_utc"] = "2026-01-02T03:04:05.000Z";
  out.head["machine"] = {{"host", kHostile}, {"cpus", 4}};
  out.head["devices"] = nlohmann::json::array();
  for (const char* device : {"gpu0", "gpu1"}) {
    out.head["devices"].push_back({{"id", device},
                                   {"kind", "gpu"},
                                   {"name", kHostile},
                                   {"details", {{"driver", kHostile}, {"settings", {{kHostile, 1}}}}}});
    for (const Signal signal : {Signal::kPower, Signal::kSmClock}) {
      out.channels.push_back({device, signal, "nvml-instant", std::nullopt});
      out.readings.emplace_back();
      for (MonotonicUs t = 0; t <= 10 * kSecond; t += 100'000) out.readings.back().push_back({t, 200'000});
    }
  }
  out.events.push_back({0, EventKind::kBegin, kRecorderTrack, "command", ""});
  for (MonotonicUs t = 1; t < 4; ++t) {
    out.events.push_back({t * kSecond, EventKind::kBegin, 7, kHostile, kHostile});
    out.events.push_back({t * kSecond + kSecond / 2, EventKind::kEnd, 7, kHostile, ""});
  }
  out.events.push_back({5 * kSecond, EventKind::kMark, 7, kHostile, ""});
  out.events.push_back({10 * kSecond, EventKind::kEnd, kRecorderTrack, "command", ""});
  out.notes.emplace_back(kHostile);
  return out;
}

std::string made(const Recording& of, std::optional<std::string> draw) {
  const auto summary = summarize(of);
  const RunView run(kHostile, of, *summary);
  PageContent content;
  content.runs = {&run};
  return page(content, {"joulecast 1.2.3", "", std::move(draw)});
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

Json charts_of(const std::string& html) {
  const std::string_view begin = "id=\"charts\">";
  const std::size_t from = html.find(begin) + begin.size();
  return Json::parse(html.substr(from, html.find("</script>", from) - from));
}

TEST(Page, ForeignTextIsNeverMarkup) {
  const std::string html = made(recording(), "/*drawing*/");
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(count(html, "<script"), 3U);
  EXPECT_EQ(count(html, "</script>"), 3U);
  EXPECT_GT(count(html, "&lt;img src=x onerror=alert(2)&gt;"), 5U);  // it is shown, as text
}

TEST(Page, ForeignTextReachesChartsAsDataOnly) {
  const Json charts = charts_of(made(recording(), "/*drawing*/"));
  bool phase = false;
  for (const Json& chart : charts) {
    EXPECT_EQ(chart["spec"].dump().find("alert"), std::string::npos) << chart["spec"].dump(1);
    phase = phase || chart["data"].dump().find("alert(2)") != std::string::npos;
  }
  EXPECT_TRUE(phase);
}

TEST(Page, EveryChartHasAPlace) {
  const std::string html = made(recording(), "/*drawing*/");
  const Json charts = charts_of(html);
  ASSERT_GE(charts.size(), 6U);
  for (std::size_t i = 0; i < charts.size(); ++i) {
    EXPECT_EQ(count(html, "id=\"chart-" + std::to_string(i) + "\""), 1U);
  }
}

TEST(Page, AsksNoNetwork) {
  const std::string html = made(recording(), "/*drawing*/");
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(html.find("src=\"http"), std::string::npos);
  EXPECT_EQ(html.find("<link"), std::string::npos);
}

TEST(Page, WithoutWhatDrawsItHasWordsAndTables) {
  const std::string html = made(recording(), std::nullopt);
  EXPECT_EQ(count(html, "<script"), 0U);
  EXPECT_EQ(count(html, "class=\"chart\""), 0U);
  EXPECT_NE(html.find("without charts"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"n\">2.00 kJ</td>"), std::string::npos);  // 200 W for 10 s
}

TEST(Page, ProgramsSayWhatTheyRunOn) {
  Recording run = recording();
  for (const char* details : {"python=3.12.4\ttorch=2.9.1", "python=3.12.4\tkeras=3.1"}) {
    run.events.push_back({1, EventKind::kMark, 7, "software", details});
  }
  EXPECT_NE(made(run, std::nullopt).find("<dt>Software</dt><dd>python 3.12.4, torch 2.9.1, keras 3.1</dd>"),
            std::string::npos);
  EXPECT_EQ(made(recording(), std::nullopt).find("<dt>Software"), std::string::npos);
}

TEST(Page, AnArticleHasItsTitleItsChartsAndItsWords) {
  Chart chart{"sums", kHostile, {}, new_spec(100)};
  PageContent content;
  content.articles.push_back({kHostile, element("p", "words"), {chart, chart}});
  const std::string html = page(content, {"joulecast 1.2.3", "", "/*drawing*/"});
  EXPECT_EQ(charts_of(html).size(), 2U);
  EXPECT_EQ(count(html, "data-kind=\"sums\""), 2U);
  EXPECT_NE(html.find("<p>words</p>"), std::string::npos);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
}

}  // namespace
}  // namespace joulecast::report
