// SPDX-License-Identifier: Apache-2.0
// How far measurements on a GPU are from what is predicted of it, and the correction that this makes likely.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "predict/correction.h"

namespace joulecast {

// One measurement: how far it is from the prediction, and what that may come from.
struct Deviation {
  double off = 0;  // measured minus predicted: of the logarithm of time, or of the share of power
  CorrectionTerms terms{};
  double weight = 1;           // of the row among others
  double scatter = 1;          // how far such rows are off besides, relative to the prior's
  std::string way = {};        // of a network: network_way()
  std::size_t subject = 0;     // rows of one network say the same: judged by corrections made without all of them
  std::string operation = {};  // of an operation: equal for its repeats, judged likewise; nothing: it has none
};

// How far GPUs are off before they are measured, a term, and how far single operations are off besides: standard
// deviations.
struct CorrectionPrior {
  CorrectionTerms spread{};
  double scatter = 0;
};
CorrectionPrior time_prior();
CorrectionPrior power_prior();

// The prior, or a half or a quarter of its spread: which makes the rows likeliest. A GPU that is off by little, as most
// are, is not moved by the scatter of a few rows, and one that is far off is.
CorrectionPrior told_by(const std::vector<Deviation>& rows, const CorrectionPrior& prior);

// The most likely correction (ridge regression whose penalties are the prior; a wild row counts less, by Huber's rule).
CorrectionTerms most_likely(const std::vector<Deviation>& rows, const CorrectionPrior& prior);

struct LeftOut {
  std::size_t row;
  double off;  // what is left of it by a correction made with all other rows, but for those of its network or operation
};
// Of every row, or of those of a sample of some 200 operations and 200 networks.
std::vector<LeftOut> left_out(const std::vector<Deviation>& rows, const CorrectionPrior& prior);

// By way to run a network, of those that 20 networks or more ran in: how far nine of ten were off.
std::map<std::string, double, std::less<>> network_widths(const std::vector<Deviation>& rows,
                                                          const std::vector<LeftOut>& left);

}  // namespace joulecast
