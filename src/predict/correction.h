// SPDX-License-Identifier: Apache-2.0
// What a few measurements on a GPU say of its level, beside what all GPUs say together.
//
// A new GPU is off by little that is its own: how much of its arithmetic and of its bandwidth kernels reach, what a
// call costs there, what training and halves cost beside the rest, and how good each family of kernels is on it. The
// logarithm of the time, and the share of the power between waiting and limit, are corrected by a sum over these terms.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "joulecast/predict.h"
#include "predict/pack/pack.h"
#include "predict/physics.h"

namespace joulecast {

// The level of everything; of what calls, memory and arithmetic decide; of training; of matrix work in halves; of that
// in FP64, which has no other term: its units are others, most chips have hardly any, and nothing else tells of them;
// of each group.
inline constexpr std::size_t kCorrectionGroups = 7;  // where the groups begin
inline constexpr std::size_t kCorrectionTerms = kCorrectionGroups + kGroups;
using CorrectionTerms = std::array<double, kCorrectionTerms>;
std::string term_name(
    std::size_t term);  // "all", "host", "memory", "compute", "training", "halves", "fp64", "conv", ...

// How much of each term an operation has: shares of at most 1.
CorrectionTerms correction_terms(const Work& work, State state, const Physics& physics);

struct GpuCorrection {
  CorrectionTerms time{}, power{};  // logarithms; shares
  // By network_way(): how far measured networks were off at most, nine of ten, each by a correction that it had no part
  // in. Logarithms. Only of ways to run networks that enough of them were measured in.
  std::map<std::string, double, std::less<>> network_width;
};
double corrected_by(const CorrectionTerms& correction, const CorrectionTerms& terms);

// How a network is run, as far as levels may differ: "inference amp pytorch-eager channels-first".
std::string network_way(const PrepareOptions& options);

// Keys "<gpu id>/time|power/<term>" and "<gpu id>/networks/<way>".
using Corrections = std::map<std::string, GpuCorrection, std::less<>>;
Corrections corrections_of(const TableView& table);
std::map<std::string, double> corrections_table(const Corrections& corrections);

}  // namespace joulecast
