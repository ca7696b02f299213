// SPDX-License-Identifier: Apache-2.0
// A case is the code of a module (code.py) or the pickle of its objects (data.pkl); what it lacks is as it should be.
#include <iterator>

#include "import/broken_cases.h"
#include "import/torchscript/archive_writer.h"
#include "import/torchscript/import_torchscript.h"

namespace joulecast::torchscript {
namespace {

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const bool kRegistered =
    register_broken_cases("TorchScriptBroken", "torchscript_broken", [](const std::filesystem::path& folder) {
      const std::string code = contents_of(folder / "code.py");
      const std::string data = contents_of(folder / "data.pkl");
      EXPECT_FALSE(code.empty() && data.empty());
      return import_bytes(archive_of(code.empty() ? kOneConvolution : code, data, inputs_pickle({{2, 3, 8, 8}})),
                          "net");
    });

}  // namespace
}  // namespace joulecast::torchscript
