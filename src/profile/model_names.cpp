// SPDX-License-Identifier: Apache-2.0
#include "profile/model_names.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace joulecast::profile {
namespace {

namespace fs = std::filesystem;

// The whole path, so that "net.onnx" has folders too, without the extension.
fs::path whole(const std::string& file) {
  std::error_code unknown_place;
  const fs::path path = fs::absolute(file, unknown_place).lexically_normal();
  return path.parent_path() / path.stem();
}

// The last `count` parts.
std::string tail(const fs::path& path, std::size_t count) {
  const auto all = static_cast<std::size_t>(std::distance(path.begin(), path.end()));
  fs::path out;
  for (auto at = std::next(path.begin(), static_cast<std::ptrdiff_t>(all - std::min(all, count))); at != path.end();
       ++at) {
    out /= *at;
  }
  return out.string();
}

}  // namespace

std::vector<std::string> model_names(const std::vector<std::string>& files) {
  std::vector<fs::path> paths;
  paths.reserve(files.size());
  for (const std::string& file : files) paths.push_back(whole(file));
  std::vector<std::string> out(files.size());
  std::size_t longer = files.size();
  for (std::size_t count = 1; longer > 0; ++count) {
    std::map<std::string, std::set<fs::path>> sharing;
    for (std::size_t i = 0; i < paths.size(); ++i) sharing[tail(paths[i], count)].insert(paths[i]);
    longer = 0;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (!out[i].empty()) continue;
      std::string name = tail(paths[i], count);
      if (sharing[name].size() > 1 && name != paths[i].string()) {
        ++longer;
      } else {
        out[i] = std::move(name);
      }
    }
  }
  return out;
}

}  // namespace joulecast::profile
