// SPDX-License-Identifier: Apache-2.0
#include "import/broken_cases.h"
#include "joulecast/import.h"

namespace joulecast {
namespace {

// The file is called by its kind: model.keras, model.h5.
const bool kRegistered = register_broken_cases("KerasBroken", "keras_broken", [](const std::filesystem::path& folder) {
  const bool archive = std::filesystem::exists(folder / "model.keras");
  const std::string path = (folder / (archive ? "model.keras" : "model.h5")).string();
  auto graph = import_model(path);
  EXPECT_TRUE(graph || graph.error().text().starts_with(path)) << graph.error().text();
  return graph;
});

}  // namespace
}  // namespace joulecast
