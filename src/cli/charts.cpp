// SPDX-License-Identifier: Apache-2.0
#include "cli/charts.h"

#include <fstream>
#include <iterator>

#include "base/program_folder.h"
#include "base/whole_file.h"

namespace joulecast::cli {

// Beside the program in a build tree, in share in an install tree.
std::optional<std::string> drawing_script() {
  for (const char* place : {"/charts.js", "/../../share/joulecast/charts.js", "/../share/joulecast/charts.js"}) {
    std::ifstream in(program_folder() + place, std::ios::binary);
    if (!in) continue;
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!text.empty()) return text;
  }
  return std::nullopt;
}

Failure no_drawing_script() {
  return {
      {ErrorCode::kNotFound, "report: this joulecast was built without what draws charts (share/joulecast/charts.js)"},
      "tools/charts/library.py fetch gets it from the npm registry, then build again; --no-charts goes without"};
}

Outcome write_page(const std::string& path, const std::string& text) {
  JC_RETURN_IF_FAILURE(replace_file(path, text));
  return {};
}

}  // namespace joulecast::cli
