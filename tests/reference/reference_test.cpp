// SPDX-License-Identifier: Apache-2.0
// Counts of every network against other programs: flops of convolutions and matrix products against torch's counter,
// those and normalisation against fvcore's, parameters and shapes of outputs against torch. The networks are those in
// examples/, and every one below $JOULECAST_ZOO where that is set (tools/zoo makes them). What differs stands in
// differences.txt with its reason; an entry that nothing needs any more fails as well. Shapes inside the networks are
// the importer's test (src/import/onnx/zoo_test.cpp).
//
//   reference_test                  runs the tests
//   reference_test --sweep FOLDER   prints every network below FOLDER and what differs, then how many agree
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "reference/compare.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

const fs::path kSource{JOULECAST_SOURCE_DIR};

std::vector<fs::path> networks_below(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// EXPORTER/NAME, as differences.txt has it.
std::string network_name(const fs::path& file) {
  return file.parent_path().filename().string() + '/' + file.stem().string();
}

const std::vector<Explained>& explained() {
  static const auto kExplained = read_explained(kSource / "tests/reference/differences.txt");
  static const std::vector<Explained> kNone;
  if (!kExplained) ADD_FAILURE() << kExplained.error().text();
  return kExplained ? *kExplained : kNone;
}

class NetworkTest : public testing::Test {
 public:
  explicit NetworkTest(fs::path file) : file_(std::move(file)) {}

  void TestBody() override {
    const auto reference = read_reference(file_);
    ASSERT_TRUE(reference) << "no reference for " << file_;
    const auto comparison = compare_network(file_, *reference);
    ASSERT_TRUE(comparison) << comparison.error().text();
    if (comparison->counts == 0) GTEST_SKIP() << "the reference has shapes only";
    for (const std::string& text : complaints(network_name(file_), *comparison, explained())) ADD_FAILURE() << text;
  }

 private:
  fs::path file_;
};

// One test a network, so that each is named.
void register_folder(const fs::path& folder) {
  for (const fs::path& file : networks_below(folder)) {
    testing::RegisterTest(file.parent_path().filename().c_str(), file.stem().c_str(), nullptr, nullptr, __FILE__,
                          __LINE__, [file]() -> testing::Test* { return new NetworkTest(file); });
  }
}

struct Summary {
  std::size_t networks = 0, without = 0, counts = 0, equal = 0, explained = 0, failed = 0;
};

std::size_t& outcome(const Comparison& comparison, const std::vector<std::string>& texts, Summary& summary) {
  if (!texts.empty()) return summary.failed;
  if (comparison.counts == 0) return summary.without;
  return comparison.differences.empty() ? summary.equal : summary.explained;
}

void sweep_network(const fs::path& file, Summary& summary) {
  const std::string name = network_name(file);
  const auto reference = read_reference(file);
  const auto comparison = reference ? compare_network(file, *reference) : Result<Comparison>(not_found("no reference"));
  ++summary.networks;
  if (!comparison) {
    ++summary.failed;
    fmt::print("{}: {}\n", name, comparison.error().text());
    return;
  }
  summary.counts += comparison->counts;
  const auto texts = complaints(name, *comparison, explained());
  ++outcome(*comparison, texts, summary);
  for (const std::string& text : texts) fmt::print("{}: {}\n", name, text);
}

int sweep(const fs::path& folder) {
  Summary summary;
  for (const fs::path& file : networks_below(folder)) sweep_network(file, summary);
  fmt::print(
      "{} networks, {} counts compared: {} networks equal, {} explained, {} failed, {} with nothing to compare\n",
      summary.networks, summary.counts, summary.equal, summary.explained, summary.failed, summary.without);
  return summary.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace joulecast

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--sweep") return joulecast::sweep(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  joulecast::register_folder(joulecast::kSource / "examples");
  if (const char* zoo = std::getenv("JOULECAST_ZOO")) joulecast::register_folder(zoo);
  return RUN_ALL_TESTS();
}
