// SPDX-License-Identifier: Apache-2.0
// What other programs count for a network: NAME.ref.json (docs/zoo.md describes it).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reference/network_counts.h"

namespace joulecast {

struct ReferenceFile {
  std::map<std::string, std::int64_t> sizes;           // of every symbol but "batch"
  std::map<std::int64_t, Counts> torch;                // batch -> counts; empty where torch could not run
  std::map<std::int64_t, std::vector<Shape>> outputs;  // batch -> shapes
  std::optional<Counts> fvcore;                        // at batch 1
  bool spelled_out_attention = true;                   // no fused attention among what fvcore left out
  std::optional<double> parameters;
};

// Beside the network, or in reference/ below it. Nothing if there is none.
std::optional<ReferenceFile> read_reference(const std::filesystem::path& network);

}  // namespace joulecast
