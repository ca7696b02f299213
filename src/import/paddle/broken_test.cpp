// SPDX-License-Identifier: Apache-2.0
#include "import/broken_cases.h"
#include "joulecast/import.h"

namespace joulecast {
namespace {

const bool kRegistered =
    register_broken_cases("PaddleBroken", "paddle_broken", [](const std::filesystem::path& folder) {
      const auto old = folder / "program.pdmodel";
      const std::string path = (std::filesystem::exists(old) ? old : folder / "program.json").string();
      auto graph = import_model(path, "paddle");
      EXPECT_TRUE(graph || graph.error().text().starts_with(path)) << graph.error().text();
      return graph;
    });

}  // namespace
}  // namespace joulecast
