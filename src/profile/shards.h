// SPDX-License-Identifier: Apache-2.0
// A campaign in parts: each has a folder of its own in the campaign's, and its results become one table.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/result.h"

namespace joulecast::profile {

// The third of eight is "3/8".
struct Shard {
  std::size_t index = 1, count = 1;  // from 1 to count
};
std::optional<Shard> parse_shard(std::string_view text);

// "folder/shard-0003"
std::string shard_folder(const std::string& folder, const Shard& shard);
// Those that are there, by name.
std::vector<std::string> shard_folders(const std::string& folder);

// Whether a folder is a shard's, by its name.
bool is_shard(const std::string& folder);
// The other shards' folders of a shard's; none of a folder that is no shard's.
std::vector<std::string> other_shards(const std::string& folder);

// Held until it goes: what concerns all shards of a folder happens one after another. Where the folder cannot be
// written nothing is held.
class ShardsLock {
 public:
  explicit ShardsLock(const std::string& folder);
  ShardsLock(const ShardsLock&) = delete;
  ShardsLock& operator=(const ShardsLock&) = delete;
  ~ShardsLock();

 private:
  int file_;
};

// folder/measurements.csv of the shards' own, whatever shards are done by now: every shard does it at its end, and the
// last one has all. Errors: kIo; kInvalidInput for a shard that another version wrote.
Result<void> merge_shards(const std::string& folder);

}  // namespace joulecast::profile
