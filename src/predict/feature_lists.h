// SPDX-License-Identifier: Apache-2.0
// The features of each group by name, in their order. They stand in the pack, so that a pack and a program that
// disagree find out. Left out on purpose: figures that identify a GPU (capability, flops per byte, absolute bounds of
// the eager groups). With a handful of GPUs in training each of them is an identity card, and unseen GPUs suffer. What
// identifies a GPU is apart (kGpuFeatures), and only models of measured GPUs split on it.
#pragma once

#include <array>
#include <string_view>

namespace joulecast {

extern const std::array<std::string_view, 30> kConvFeatures;
extern const std::array<std::string_view, 14> kPointwiseFeatures;
extern const std::array<std::string_view, 22> kReductionFeatures;
extern const std::array<std::string_view, 23> kGemmSimtFeatures;
extern const std::array<std::string_view, 24> kGemmTensorFeatures;
extern const std::array<std::string_view, 23> kPrefillFeatures;
extern const std::array<std::string_view, 20> kDecodeFeatures;

}  // namespace joulecast
