// SPDX-License-Identifier: Apache-2.0
#include "predict/correction.h"

#include <gtest/gtest.h>

#include <set>

namespace joulecast {
namespace {

// The names of the terms that an operation has wholly.
std::set<std::string> whole_terms(const Work& work, State state = State::kEval) {
  const CorrectionTerms terms = correction_terms(work, state, {.bound = 1, .gpu = 1, .host = 1, .compute = 1});
  std::set<std::string> out;
  for (std::size_t term = 0; term < kCorrectionTerms; ++term) {
    if (terms[term] == 1.0) out.insert(term_name(term));
  }
  return out;
}

using Names = std::set<std::string>;

TEST(NetworkWay, AutocastToEitherOfTheHalvesIsOne) {
  EXPECT_EQ(network_way({.precision = Precision::kAmpBf16}), network_way({.precision = Precision::kAmp}));
  EXPECT_NE(network_way({.precision = Precision::kBf16}), network_way({.precision = Precision::kAmp}));
}

// The shares of what decides, by the squares of the times that each would take alone.
TEST(CorrectionTerms, AreShares) {
  const Physics p{.bound = 1, .gpu = 1, .host = 1, .compute = 2, .memory = 2};
  const CorrectionTerms terms = correction_terms(ReductionWork{}, State::kEval, p);
  EXPECT_DOUBLE_EQ(terms[1], 1.0 / 9);
  EXPECT_DOUBLE_EQ(terms[2], 4.0 / 9);
  EXPECT_DOUBLE_EQ(terms[3], 4.0 / 9);
}

TEST(CorrectionTerms, AreOfTheStateAndTheArithmetic) {
  EXPECT_EQ(whole_terms(ReductionWork{.kind = ReductionKind::kSoftmax}), (Names{"all", "reduction"}));
  EXPECT_EQ(whole_terms(ReductionWork{.kind = ReductionKind::kSoftmax}, State::kTraining),
            (Names{"all", "training", "reduction"}));
  EXPECT_EQ(whole_terms(ReductionWork{.kind = ReductionKind::kSoftmax}, State::kTrainForward),
            (Names{"all", "reduction"}));
  EXPECT_EQ(whole_terms(GemmWork{.element_bytes = 2, .arithmetic = Arithmetic::kBf16}),
            (Names{"all", "halves", "gemm-tensor"}));
  EXPECT_EQ(whole_terms(GemmWork{}), (Names{"all", "gemm-simt"}));
  EXPECT_EQ(whole_terms(ConvWork{.arithmetic = Arithmetic::kFp64}, State::kTraining), Names{"fp64"});
}

// Packs know them by their names.
TEST(CorrectionTerms, HaveNamesOfTheirOwn) {
  Names names;
  for (std::size_t term = 0; term < kCorrectionTerms; ++term) names.insert(term_name(term));
  EXPECT_EQ(names.size(), kCorrectionTerms);
}

}  // namespace
}  // namespace joulecast
