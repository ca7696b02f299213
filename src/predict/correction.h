// SPDX-License-Identifier: Apache-2.0
// What a few measurements on a GPU say of its level, beside what all GPUs say together.
//
// A new GPU is off by little that is its own: how much of its arithmetic and of its bandwidth kernels reach, what a
// call costs there, and how good each family of kernels is on it. The logarithm of the time, and the share of the power
// between idle and limit, are corrected by a sum over these terms.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "joulecast/result.h"
#include "predict/pack/pack.h"
#include "predict/physics.h"

namespace joulecast {

// The level of everything; of what calls, memory and arithmetic decide; of each group.
inline constexpr std::size_t kCorrectionTerms = 4 + kGroups;
using CorrectionTerms = std::array<double, kCorrectionTerms>;
std::string term_name(std::size_t term);  // "all", "host", "memory", "compute", "conv", ...

// How much of each term an operation has: shares of at most 1.
CorrectionTerms correction_terms(Group group, const Physics& physics);

struct GpuCorrection {
  CorrectionTerms time{}, power{};  // logarithms; shares
};
double corrected_by(const CorrectionTerms& correction, const CorrectionTerms& terms);

// Keys "<gpu id>/time|power/<term>".
using Corrections = std::map<std::string, GpuCorrection, std::less<>>;
Corrections corrections_of(const TableView& table);
std::map<std::string, double> corrections_table(const Corrections& corrections);

}  // namespace joulecast
