// SPDX-License-Identifier: Apache-2.0
// Text for people and machines. What the verbs print is tested in tests/cli.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "cli/assumptions.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/setting_options.h"
#include "cli/table.h"

namespace joulecast::cli {
namespace {

TEST(Numbers, ThreeDigitsAndAPrefix) {
  EXPECT_EQ(with_prefix(0, "B"), "0 B");
  EXPECT_EQ(with_prefix(999, "B"), "999 B");
  EXPECT_EQ(with_prefix(999.6, "B"), "1.00 kB");
  EXPECT_EQ(with_prefix(1000, "B"), "1.00 kB");
  EXPECT_EQ(with_prefix(9.996e3, "B"), "10.0 kB");
  EXPECT_EQ(with_prefix(999.96e6, "FLOP"), "1.00 GFLOP");
  EXPECT_EQ(with_prefix(25.6e6, ""), "25.6 M");
  EXPECT_EQ(with_prefix(1e24, "B"), "1000000 EB");
}

TEST(Numbers, ShareTellsLittleFromNothing) {
  EXPECT_EQ(share(1, 3), "33.3 %");
  EXPECT_EQ(share(1, 1e6), "<0.1 %");
  EXPECT_EQ(share(0, 1e6), "0.0 %");
  EXPECT_EQ(share(0, 0), "-");
}

TEST(Numbers, FiguresReadAsTheDataSheetHasThem) {
  EXPECT_EQ(plain(9.7e12 / 1e12), "9.7");
  EXPECT_EQ(plain(40960), "40960");
  EXPECT_EQ(plain(1157.4), "1157.4");
}

TEST(Table, RowsThatWouldLookTheSameAreWrapped) {
  Table table({{"setting"}, {"value", Table::Align::kLeft, 60}});
  const std::string rest(60, 'x');
  table.add({"300 W, SM 1200 MHz, memory 2619 MHz", rest});
  table.add({"300 W, SM 1500 MHz, memory 2619 MHz", rest});
  EXPECT_EQ(table.text(),
            "setting             value\n"
            "300 W, SM 1200      " +
                rest +
                "\n MHz, memory 2619\n MHz\n"
                "300 W, SM 1500      " +
                rest + "\n MHz, memory 2619\n MHz\n");
}

TEST(Table, AlignsAndShortens) {
  Table table({{"name", Table::Align::kLeft, 5}, {"n", Table::Align::kRight}});
  table.add({"abcdefgh", "1"});
  table.add({"é", "100"});
  EXPECT_EQ(table.text(1), " name     n\n ab…gh    1\n é      100\n");
}

TEST(Table, FirstColumnGivesWayToEightyColumns) {
  Table table({{"name"}, {"value", Table::Align::kLeft, 50}});
  table.add({std::string(30, 'a'), std::string(60, 'b')});
  const std::string text = table.text();
  EXPECT_EQ(text.substr(text.find('\n') + 1), std::string(14, 'a') + "…" + std::string(13, 'a') + "  " +
                                                  std::string(25, 'b') + "…" + std::string(24, 'b') + "\n");
}

// 9 + 2 + 30 + 2 + 40 are 83 letters.
TEST(Table, NamesStayWholeWhereOtherTextCanGiveWay) {
  const std::string numbers(30, '1');
  const auto lines = [&](const std::string& first, const std::string& second) {
    Table table({{"device"}, {"n", Table::Align::kRight}, {"by"}});
    table.add({"gpu0-rail", numbers, first});
    table.add({"gpu1-rail", numbers, second});
    return table.text();
  };
  const std::string text(38, 'b');
  EXPECT_NE(lines(text + "12", text + "34")
                .find("\ngpu0-rail  " + numbers + "  " + std::string(18, 'b') + "…" + std::string(16, 'b') + "12\n"),
            std::string::npos);
  // Where that would make two things look the same the name does.
  const std::string alike =
      lines(std::string(18, 'b') + "1" + std::string(21, 'b'), std::string(18, 'b') + "2" + std::string(21, 'b'));
  EXPECT_NE(alike.find("\ngpu0…ail"), std::string::npos) << alike;
}

TEST(Table, ShortensAtLettersNotBytes) {
  EXPECT_EQ(shortened("ééééé", 5), "ééééé");
  EXPECT_EQ(shortened("éééééé", 5), "éé…éé");
  EXPECT_EQ(shortened("abcdef", 1), "…");
}

TEST(OutputText, ControlCharactersAreNotPrinted) {
  EXPECT_EQ(printable("a\x1b[2J\nb\x7f"), "a?[2J?b?");
  EXPECT_EQ(printable("a\u202Eb\xFF µ"), "a?b? µ");
}

TEST(OutputText, CsvFieldsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
}

TEST(Numbers, BoundsHaveThePrefixOfTheValue) {
  EXPECT_EQ(range_with_prefix(0.0123, 0.0091, 0.015, "s"), "12.3 ms (9.10-15.0)");
  EXPECT_EQ(range_with_prefix(0.9, 0.5, 1.6, "s"), "900 ms (500-1600)");
}

TEST(OutputText, WrapsAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 12, 4, 4), "one two\n    three");
  EXPECT_EQ(wrapped("one two three", 8, 2), "one two\n  three");
  EXPECT_EQ(wrapped("averyveryverylongword b", 8, 0), "averyveryverylongword\nb");
}

// What a program wrote to its two streams.
class Streams {
 public:
  Streams() : results_(std::tmpfile()), messages_(std::tmpfile()), output(results_, messages_) {}
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() {
    std::fclose(results_);
    std::fclose(messages_);
  }
  std::string results() { return text(results_); }
  std::string messages() { return text(messages_); }

 private:
  static std::string text(std::FILE* file) {
    std::string out(static_cast<std::size_t>(std::ftell(file)), '\0');
    std::rewind(file);
    EXPECT_EQ(std::fread(out.data(), 1, out.size(), file), out.size());
    return out;
  }

  std::FILE* results_;
  std::FILE* messages_;

 public:
  Output output;
};

const Failure kNoFile{{ErrorCode::kNotFound, "a\u202Eb\xFF.jcrun: No such file"}, "", 2};

TEST(OutputFailure, IsJsonWhereResultsGoAndASentenceBesides) {
  Streams streams;
  streams.output.answer_in_json();
  streams.output.fail(kNoFile);
  const Json object = Json::parse(streams.results());
  EXPECT_EQ(object["schema"], "joulecast.failure/1");
  EXPECT_EQ(object["error"]["code"], "not-found");
  EXPECT_EQ(object["error"]["message"], "a\uFFFDb\uFFFD.jcrun: No such file");
  EXPECT_TRUE(object["error"]["hint"].is_null());
  EXPECT_EQ(object["exit_code"], 2);
  EXPECT_EQ(streams.messages(), "joulecast: a?b?.jcrun: No such file\n");
}

TEST(OutputFailure, OnOneStreamThereIsOnlyTheJson) {
  Streams streams;
  streams.output.answer_in_json();
  streams.output.join_results_to_messages();
  streams.output.fail(kNoFile);
  EXPECT_EQ(Json::parse(streams.messages())["exit_code"], 2);
  EXPECT_EQ(streams.results(), "");
}

TEST(OutputFailure, NeverSpoilsAResult) {
  Streams streams;
  streams.output.answer_in_json();
  streams.output.write("{}\n");
  streams.output.fail(kNoFile);
  EXPECT_EQ(streams.results(), "{}\n");
  EXPECT_EQ(streams.messages(), "joulecast: a?b?.jcrun: No such file\n");
}

TEST(JsonText, NumbersAndBadUtf8) {
  EXPECT_EQ(json_text(json_number(8e9)), "8000000000\n");
  EXPECT_EQ(json_text(json_number(0.5)), "0.5\n");
  EXPECT_EQ(json_text(json_number(1.0 / 0.0)), "null\n");
  EXPECT_EQ(json_text(Json("\xff")), "\"\xEF\xBF\xBD\"\n");
}

TEST(Shapes, NameMayHoldAColon) {
  const auto bound = binding({.batch = 4, .shapes = {"input:0:1x3", "y:8"}});
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->batch, 4);
  EXPECT_EQ(bound->shapes.at("input:0"), (Shape{1, 3}));
  EXPECT_EQ(bound->shapes.at("y"), (Shape{8}));
}

TEST(Shapes, AnInputHasOneShape) {
  const auto bound = binding({.batch = {}, .shapes = {"x:1x3", "y:1", "x:2x3"}});
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().error.text(), "--shapes: input 'x' is given twice");
}

TEST(Shapes, NonsenseIsAUsageError) {
  for (const char* text :
       {"", "x", ":1", "x:", "x:1x", "x:x1", "x:0", "x:-1", "x:1y2", "x:99999999999999999999", "x:1x1x1x1x1x1x1x1x1"}) {
    const auto bound = binding({.batch = {}, .shapes = {text}});
    ASSERT_FALSE(bound) << text;
    EXPECT_EQ(bound.error().exit_code, kUsage);
  }
}

Graph parsed(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().text();
  return graph.value_or(Graph{});
}

TEST(Assumptions, FollowTheNamesOfTheDimensions) {
  const Graph graph = parsed(
      "graph \"g\" {\n"
      "  input %a : f32[batch_size, 3, Height, width]\n"
      "  input %b : f32[n0, heads, sequence_length, past]\n"
      "  output %a\n}\n");
  Binding bound{.symbols = {{"heads", 8}}, .shapes = {}, .batch = {}};
  const auto assumed = assume_open_dimensions(graph, bound);
  ASSERT_TRUE(assumed) << assumed.error().error.text();
  ASSERT_EQ(assumed->size(), 6U);
  EXPECT_EQ(bound.symbols.at("batch_size"), 1);
  EXPECT_EQ(bound.symbols.at("Height"), 224);
  EXPECT_EQ(bound.symbols.at("width"), 224);
  EXPECT_EQ(bound.symbols.at("n0"), 1);  // stands first
  EXPECT_EQ(bound.symbols.at("sequence_length"), 128);
  EXPECT_EQ(bound.symbols.at("past"), 128);
  EXPECT_EQ(assumed->at(0).text, "dimension 'batch_size' of input 'a' is not bound: taken as 1; set it with --batch");
  EXPECT_EQ(assumed->at(5).text,
            "dimension 'past' of input 'b' is not bound: taken as 128; set it with --shapes b:1x8x128x128");
}

TEST(Assumptions, FollowThePlaceWhereTheNameSaysNothing) {
  const Graph graph = parsed(
      "graph \"g\" {\n"
      "  input %image : f32[d0, 3, d2, d3]\n"
      "  input %tokens : i64[d4, d5]\n"
      "  input %frames : f32[d6, d7, 80]\n"
      "  output %image\n}\n");
  Binding bound{.symbols = {}, .shapes = {}, .batch = 8};
  ASSERT_TRUE(assume_open_dimensions(graph, bound));
  EXPECT_EQ(bound.symbols, (std::map<std::string, std::int64_t, std::less<>>{
                               {"d2", 224}, {"d3", 224}, {"d4", 8}, {"d5", 128}, {"d6", 8}, {"d7", 128}}));
}

TEST(Assumptions, WhatHasNoUsualExtentIsAskedFor) {
  const Graph graph = parsed("graph \"g\" {\n  input %x : f32[n, features]\n  output %x\n}\n");
  Binding bound{.symbols = {}, .shapes = {}, .batch = 4};
  const auto assumed = assume_open_dimensions(graph, bound);
  ASSERT_FALSE(assumed);
  EXPECT_EQ(assumed.error().exit_code, kUsage);
  EXPECT_EQ(assumed.error().error.text(), "the model leaves dimensions open: 'features' (axis 1 of input 'x')");
  EXPECT_EQ(assumed.error().hint, "type --shapes x:4x<features>");
}

TEST(Assumptions, WhatIsBoundIsNotAssumed) {
  const Graph graph = parsed("graph \"g\" {\n  input %a : f32[n, m]\n  output %a\n}\n");
  Binding bound{.symbols = {}, .shapes = {{"a", Shape{2, 3}}}, .batch = {}};
  const auto assumed = assume_open_dimensions(graph, bound);
  ASSERT_TRUE(assumed);
  EXPECT_TRUE(assumed->empty());
}

TEST(Settings, AreWrittenWithTheirUnits) {
  const auto both = parse_setting("900MHz/150.5W");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->sm_clock->value(), 900e6);
  EXPECT_EQ(both->power_limit->value(), 150.5);
  EXPECT_FALSE(parse_setting("150W")->sm_clock);
  EXPECT_FALSE(parse_setting("default")->power_limit);
  for (const char* text : {"", "900", "MHz", "-1W", "900MHz/", "1e99W", "nanW", "fast"}) {
    EXPECT_FALSE(parse_setting(text)) << text;
  }
}

TEST(Settings, EveryClockWithEveryLimit) {
  const auto none = setting_request({});
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  const auto found = setting_request({.clocks = {"900,1200"}, .limits = {"100", "150"}, .measured = {}});
  ASSERT_TRUE(found && *found);
  ASSERT_EQ((*found)->settings.size(), 4U);
  EXPECT_EQ((*found)->settings[1].sm_clock->value(), 900e6);
  EXPECT_EQ((*found)->settings[1].power_limit->value(), 150.0);
}

TEST(Settings, MeasuredAloneAsksForTheDefault) {
  const auto found = setting_request({.clocks = {}, .limits = {}, .measured = {"setting=150W,time=0.12"}});
  ASSERT_TRUE(found && *found);
  ASSERT_EQ((*found)->settings.size(), 1U);
  EXPECT_FALSE((*found)->settings[0].power_limit);
  ASSERT_EQ((*found)->measured.size(), 1U);
  EXPECT_EQ((*found)->measured[0].time->value(), 0.12);
  EXPECT_FALSE((*found)->measured[0].power);
}

}  // namespace
}  // namespace joulecast::cli
