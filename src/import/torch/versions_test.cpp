// SPDX-License-Identifier: Apache-2.0
// Programs that versions of torch wrote themselves (tools/zoo/version_files.py), against what their layers count by
// hand.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "import/fixture_measures.h"
#include "import/registered_cases.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(JOULECAST_SOURCE_DIR) / "tests/data/pt2_versions";

// Convolutions of 16 channels on 16x16 and 32 channels in 4 groups on 8x8, a layer; parameters with those of the norm
// and its statistics. Products of query, key and value, attention of 4 heads of 8, a layer behind it, over 2 sequences
// of 16.
void check(const fs::path& path) {
  const bool conv = path.filename().string().starts_with("conv");
  const double flops = conv ? 2.0 * 2 * (256 * 16 * 27 + 64 * 32 * 36 + 32 * 10)
                            : 2.0 * 2 * 16 * (32 * 96 + 32 * 32) + 4.0 * 2 * 4 * 16 * 16 * 8;
  const nlohmann::json expected{
      {"product_flops", flops},
      {"output_shape", conv ? nlohmann::json::array({2, 10}) : nlohmann::json::array({2, 16, 32})}};
  expect_as_counted(simplified_import(path), expected, conv ? 2010 : 7488, 1e-9);
}

const bool kRegistered = [] {
  std::map<std::string, std::function<void()>> cases;
  for (const auto& version : fs::directory_iterator(kFolder)) {
    for (const auto& file : fs::directory_iterator(version)) {
      cases[version.path().filename().string() + "/" + file.path().filename().string()] = [path = file.path()] {
        check(path);
      };
    }
  }
  return register_cases("TorchVersions", cases);
}();

}  // namespace
}  // namespace joulecast
