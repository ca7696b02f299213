// SPDX-License-Identifier: Apache-2.0
#include "import/broken_cases.h"
#include "joulecast/import.h"

namespace joulecast {
namespace {

const bool kRegistered =
    register_broken_cases("TfliteBroken", "tflite_broken", [](const std::filesystem::path& folder) {
      const std::string path = (folder / "model.tflite").string();
      auto graph = import_model(path);
      EXPECT_TRUE(graph || graph.error().text().starts_with(path)) << graph.error().text();
      return graph;
    });

}  // namespace
}  // namespace joulecast
