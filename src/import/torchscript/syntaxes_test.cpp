// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/syntaxes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "import/torchscript/archive_writer.h"
#include "import/torchscript/import_torchscript.h"
#include "import/zip_writer.h"

namespace joulecast::torchscript {
namespace {

// A class of a traced module, numbered as the tracer does.
std::string relu(int number, std::string_view body = "    return torch.relu(x)\n") {
  return fmt::format(
      "class ReLU(Module):\n  training : bool\n  inner : __torch__.act.___torch_mangle_{}.Inner\n"
      "  def forward(self: __torch__.act.___torch_mangle_{}.ReLU,\n    x: Tensor) -> Tensor:\n{}",
      number + 1, number, body);
}

// Whether both texts get one syntax. They have to be good.
bool share(const std::string& one, const std::string& other) {
  Syntaxes syntaxes;
  const auto first = syntaxes.add("", ZipText(one));
  const auto second = syntaxes.add("", ZipText(other));
  EXPECT_TRUE(first && second);
  return first && second && *first == *second;
}

TEST(Syntaxes, TypesThatDifferInTheirNumbersAreParsedOnce) {
  EXPECT_TRUE(share(relu(5), relu(5)));
  EXPECT_TRUE(share(relu(5), relu(7)));
  EXPECT_TRUE(share(relu(5), relu(1234)));
  EXPECT_TRUE(share(relu(9), relu(10)));
}

TEST(Syntaxes, OtherNumbersTellTextsApart) {
  const auto times = [](int by) { return fmt::format("    twice = torch.mul(x, {})\n    return twice\n", by); };
  EXPECT_FALSE(share(relu(5, times(1)), relu(7, times(2))));
  EXPECT_FALSE(share(relu(5, times(1)), relu(5, times(11))));
  EXPECT_FALSE(
      share(relu(5, "    _1 = x\n    return x\n    pass\n"), relu(5, "    _12 = x\n    return x\n    pass\n")));
  EXPECT_FALSE(share(relu(5), relu(5) + "def more(x):\n  return x\n"));
  EXPECT_FALSE(share(relu(5) + "def more(x):\n  return x\n", relu(5)));
}

// What the code calls by such a name is something else by another.
TEST(Syntaxes, NumbersThatTheCodeReadsTellTextsApart) {
  const auto calls = [](int number) {
    return relu(number, fmt::format("    return __torch__.act.___torch_mangle_{}.act(x, )\n", number));
  };
  EXPECT_FALSE(share(calls(5), calls(7)));
  const auto names = [](int number) {
    return relu(number, fmt::format("    return \"___torch_mangle_{}\"\n", number));
  };
  EXPECT_FALSE(share(names(5), names(7)));
  const auto of_list = [](int number) {
    return fmt::format("def f(x: List[__torch__.act.___torch_mangle_{}.ReLU]) -> Tensor:\n  return x\n", number);
  };
  EXPECT_FALSE(share(of_list(5), of_list(7)));
}

TEST(Syntaxes, NumbersOfWhatIsDefinedTellTextsApart) {
  const auto defines = [](std::string_view text) {
    const std::string one = fmt::format(fmt::runtime(text), 5);
    return share(one, fmt::format(fmt::runtime(text), 7));
  };
  EXPECT_FALSE(defines("def ___torch_mangle_{}(x):\n  return x\n"));
  EXPECT_FALSE(defines("def f(___torch_mangle_{}):\n  return 1\n"));
  EXPECT_FALSE(defines("class ReLU:\n  ___torch_mangle_{} : int\n"));
  EXPECT_FALSE(defines("class ReLU:\n  def ___torch_mangle_{}(x):\n    return x\n"));
  EXPECT_FALSE(defines("class ReLU:\n  ___torch_mangle_{} : Final[int] = 3\n"));
}

// A network of layers that it calls in turn, each with a text of its own. The first has a weight.
std::string archive_of_layers(const std::vector<std::string>& texts) {
  std::string state;
  std::string code = "class Net(Module):\n  def forward(self, x: Tensor) -> Tensor:\n";
  ZipWriter writer;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string weight = i == 0 ? pickled_text("weight") + pickled_tensor({2, 3}) : "";
    state += pickled_text(fmt::format("a{}", i)) +
             fmt::format("c__torch__.act.___torch_mangle_{}\nReLU\n)\x81}}({}ub", i, weight);
    code += fmt::format("    x = (self.a{}).forward(x, )\n", i);
    writer.add_deflated(fmt::format("net/code/__torch__/act/___torch_mangle_{}.py", i), texts[i]);
  }
  writer.add("net/data.pkl", pickle_of(pickled_object("Net", state)));
  writer.add("net/constants.pkl", constants_pickle());
  writer.add("net/code/__torch__.py", code + "    return x\n");
  writer.add("net/traced_inputs.pkl", inputs_pickle({{2, 3}}));
  return writer.finish_zip64();
}

TEST(Syntaxes, OfSeveralClassesAreNotMixedUp) {
  const std::string neg = "    return torch.neg(x)\n";
  const auto graph = import_bytes(archive_of_layers({relu(0), relu(1, neg), relu(2), relu(3, neg), relu(4)}), "net");
  ASSERT_TRUE(graph) << graph.error().text();
  std::string names;
  for (const Node& node : graph->nodes) names += node.name + " ";
  EXPECT_EQ(names, "a0/relu a1/neg a2/relu_1 a3/neg_1 a4/relu_2 ");
}

std::string act(int number) {
  return fmt::format("__torch__.act.___torch_mangle_{}", number);
}

// A text that names its own module, and one whose number begins as that of module 5.
std::string alone(int number, std::string_view body = "    return x\n") {
  return fmt::format(
      "class ReLU(Module):\n  inner : __torch__.act.___torch_mangle_55.Inner\n  def forward(self: {}.ReLU,\n"
      "    x: Tensor) -> Tensor:\n{}",
      act(number), body);
}

// Whether module 5's text foresees what the archive says of module 12's.
bool foreseen(std::string_view text, const ZipLies& lies = {}) {
  ZipWriter writer;
  writer.add_deflated("12.py", text, lies);
  const std::string bytes = writer.finish();
  const auto archive = ZipArchive::open(bytes);
  Syntaxes syntaxes;
  const std::string known = alone(5);
  const auto syntax = syntaxes.add(act(5), ZipText(known));
  EXPECT_TRUE(archive && syntax);
  const Syntax* found = syntaxes.foreseen(act(12), archive->members()[0]);
  EXPECT_TRUE(found == nullptr || found == *syntax);
  return found != nullptr;
}

TEST(Syntaxes, TextsOfOtherNumbersAreForeseen) {
  EXPECT_TRUE(foreseen(alone(12)));
  EXPECT_FALSE(foreseen(alone(5)));
  EXPECT_FALSE(foreseen(alone(12, "    return y\n")));
  EXPECT_FALSE(foreseen(alone(12), {.more = 1}));
  EXPECT_FALSE(foreseen(alone(12), {.checksum_of = "another"}));
}

TEST(Syntaxes, OnlyModulesThatDifferInTheirNumberForeseeEachOther) {
  ZipWriter writer;
  writer.add_deflated("12.py", alone(12));
  const std::string bytes = writer.finish();
  const auto archive = ZipArchive::open(bytes);
  Syntaxes syntaxes;
  const std::string known = alone(5);
  ASSERT_TRUE(archive && syntaxes.add(act(5), ZipText(known)));
  EXPECT_EQ(syntaxes.foreseen("__torch__.norm.___torch_mangle_12", archive->members()[0]), nullptr);
  EXPECT_EQ(syntaxes.foreseen("__torch__.act", archive->members()[0]), nullptr);
}

// Else a long one would be searched for each of an archive's members.
TEST(Syntaxes, LongTextsForeseeNothing) {
  const auto foresees = [](std::size_t length) {
    const std::string other = fmt::format("    x = \"{}\"\n    return x\n", std::string(length, 'x'));
    ZipWriter writer;
    writer.add_deflated("5.py", alone(5, other));
    const std::string bytes = writer.finish();
    const auto archive = ZipArchive::open(bytes);
    Syntaxes syntaxes;
    const std::string known = alone(123'456, other);
    EXPECT_TRUE(archive && syntaxes.add(act(123'456), ZipText(known)));
    return syntaxes.foreseen(act(5), archive->members()[0]) != nullptr;
  };
  const std::size_t rest = alone(123'456, "    x = \"\"\n    return x\n").size();
  EXPECT_TRUE(foresees(4096 - rest));
  EXPECT_FALSE(foresees(4097 - rest));
}

// Their places in the network's state are kept, where a few are searched.
TEST(Syntaxes, OfManyLayersEachIsFound) {
  std::vector<std::string> texts;
  std::string wanted;
  for (int i = 0; i < 100; ++i) {
    const bool even = i % 2 == 0;
    texts.push_back(alone(i, even ? "    return torch.neg(x)\n" : "    return torch.relu(x)\n"));
    wanted += fmt::format("a{}/{}{} ", i, even ? "neg" : "relu", i < 2 ? "" : fmt::format("_{}", i / 2));
  }
  const auto graph = import_bytes(archive_of_layers(texts), "net");
  ASSERT_TRUE(graph) << graph.error().text();
  std::string names;
  for (const Node& node : graph->nodes) names += node.name + " ";
  EXPECT_EQ(names, wanted);
}

TEST(Syntaxes, OfTooManyFilesAreAnError) {
  const std::vector<std::string> texts(
      65'536, "class ReLU(Module):\n  def forward(self, x: Tensor) -> Tensor:\n    return x\n");
  const auto graph = import_bytes(archive_of_layers(texts), "net");  // and that of the network
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().text().find("more than 65536 files of code"), std::string::npos) << graph.error().text();
}

TEST(Syntaxes, LeaveEachMemberItsPathInErrors) {
  const std::string mul = "    return torch.mul(x, self.weight)\n";
  EXPECT_TRUE(share(relu(0, mul), relu(1, mul)));
  for (const auto& [text, line] : {std::pair(&relu, 6), std::pair(&alone, 5)}) {
    const auto graph = import_bytes(archive_of_layers({text(0, mul), text(1, mul)}), "net");
    ASSERT_FALSE(graph);
    const std::string place = fmt::format("code/__torch__/act/___torch_mangle_1.py:{}: ", line);
    EXPECT_NE(graph.error().text().find(place), std::string::npos) << graph.error().text();
  }
}

}  // namespace
}  // namespace joulecast::torchscript
