// SPDX-License-Identifier: Apache-2.0
// Compares one network's counts with its reference, and the differences with those that are explained.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "reference/reference_file.h"

namespace joulecast {

// "matrix" at batch 8: ours, theirs. Batch 0: the count does not depend on it.
struct CountDifference {
  std::string what;  // "conv", "matrix", "fvcore.matrix", ..., "parameters", "outputs"
  std::int64_t batch = 0;
  double ours = 0.0, theirs = 0.0;
  std::string text;
};

struct Comparison {
  std::size_t counts = 0;  // compared
  std::vector<CountDifference> differences;
};
// Imports, simplifies, and counts at every batch of the reference.
Result<Comparison> compare_network(const std::filesystem::path& network, const ReferenceFile& reference);

// A line of differences.txt: "networks what expectation reason". Networks: EXPORTER/NAME, where a * stands for any
// characters. Expectation: "less" or "more" (ours than theirs), or their ratio to four digits ("x1.0042"), or "other".
struct Explained {
  std::string networks, what, expectation, reason;
  [[nodiscard]] bool covers(const std::string& network) const;
  [[nodiscard]] bool expects(const CountDifference& difference) const;
};
// Fails for a line without a reason or with an unknown expectation.
Result<std::vector<Explained>> read_explained(const std::filesystem::path& file);

// What remains to say: unexplained differences, and explanations of what does not differ. Empty: all is well.
std::vector<std::string> complaints(const std::string& network, const Comparison& comparison,
                                    const std::vector<Explained>& explained);

}  // namespace joulecast
