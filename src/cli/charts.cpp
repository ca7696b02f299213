// SPDX-License-Identifier: Apache-2.0
#include "cli/charts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/program_folder.h"

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
  const std::string part = fmt::format("{}.{}.part", path, ::getpid());
  std::error_code failed;
  {
    std::ofstream out(part, std::ios::binary);
    out << text;
    if (!out.flush()) {
      std::filesystem::remove(part, failed);
      return tl::unexpected<Failure>(Failure{{ErrorCode::kIo, fmt::format("{}: cannot be written", path)}, ""});
    }
  }
  std::filesystem::rename(part, path, failed);
  if (!failed) return {};
  const std::string why = failed.message();
  std::filesystem::remove(part, failed);
  return tl::unexpected<Failure>(Failure{{ErrorCode::kIo, fmt::format("{}: {}", path, why)}, ""});
}

}  // namespace joulecast::cli
