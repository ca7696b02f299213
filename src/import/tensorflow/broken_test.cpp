// SPDX-License-Identifier: Apache-2.0
#include "import/broken_cases.h"
#include "joulecast/import.h"

namespace joulecast {
namespace {

const bool kRegistered =
    register_broken_cases("TensorflowBroken", "tensorflow_broken", [](const std::filesystem::path& folder) {
      const bool saved = std::filesystem::exists(folder / "saved_model.pb");
      const std::string path = (folder / (saved ? "saved_model.pb" : "model.pb")).string();
      auto graph = import_model(path);
      EXPECT_TRUE(graph || graph.error().text().starts_with(path)) << graph.error().text();
      return graph;
    });

}  // namespace
}  // namespace joulecast
