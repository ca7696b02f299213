// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/result.h"
#include "predict/pack/pack.h"
#include "predict/trees/forest.h"

namespace joulecast {

// Collects sections and writes them as one predictor pack. The same sections give the same bytes, in whatever order
// they were added.
//
//   PackWriter writer;
//   JC_RETURN_IF_ERROR(writer.add_forest("time", forest));
//   JC_RETURN_IF_ERROR(writer.write("joulecast.jcpack"));
class PackWriter {
 public:
  // Names: 1 to 63 bytes, each once among its kind. Errors: kInvalidInput; those of validate(forest).
  Result<void> add_forest(const std::string& name, const Forest& forest);
  // Values must be finite: what is not known is left out.
  Result<void> add_table(const std::string& name, const std::map<std::string, double>& numbers);
  // Taken as it is.
  Result<void> add_json(const std::string& name, const std::string& text);

  // Takes over all forests of a pack as they are. Errors: those of reading them.
  Result<void> add_forests_of(const Pack& pack);

  [[nodiscard]] std::vector<std::byte> bytes() const;
  // Replaces `path` in one step: readers see the old file or the new one. Errors: kIo, naming the path.
  [[nodiscard]] Result<void> write(const std::string& path) const;
  // Whether write() could make `path` now, for those who have hours of work before it. Errors: as of write().
  [[nodiscard]] static Result<void> check_writable(const std::string& path);

 private:
  using Key = std::pair<std::uint32_t, std::string>;
  Result<void> add(std::uint32_t kind, const std::string& name, std::vector<std::byte> bytes);

  std::map<Key, std::vector<std::byte>> sections_;
};

}  // namespace joulecast
