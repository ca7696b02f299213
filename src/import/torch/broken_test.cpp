// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "import/broken_cases.h"
#include "import/torch/import_bytes.h"

namespace joulecast::torch {
namespace {

const bool kRegistered = register_broken_cases("Pt2Broken", "pt2_broken", [](const std::filesystem::path& folder) {
  std::ifstream program(folder / "program.json");
  EXPECT_TRUE(program);
  const std::string json{std::istreambuf_iterator<char>(program), {}};
  return import_program(json, "net");
});

}  // namespace
}  // namespace joulecast::torch
