// SPDX-License-Identifier: Apache-2.0
#include "predict/physics.h"

#include "predict/feature_lists.h"

namespace joulecast {

std::string_view name(Group group) {
  static constexpr std::array<std::string_view, kGroups> kNames{"conv",        "pointwise", "reduction", "gemm-simt",
                                                                "gemm-tensor", "prefill",   "decode",    "gemm-fp4"};
  return kNames[static_cast<std::size_t>(group)];
}

std::string_view name(Arithmetic arithmetic) {
  static constexpr std::array<std::string_view, kArithmetics> kNames{"fp64", "fp32", "tf32", "fp16",
                                                                     "bf16", "fp8",  "fp4"};
  return kNames[static_cast<std::size_t>(arithmetic)];
}

std::span<const std::string_view> feature_names(Group group) {
  switch (group) {
    case Group::kConv:
      return kConvFeatures;
    case Group::kPointwise:
      return kPointwiseFeatures;
    case Group::kReduction:
      return kReductionFeatures;
    case Group::kGemmSimt:
      return kGemmSimtFeatures;
    case Group::kGemmTensor:
    case Group::kGemmFp4:
      return kGemmTensorFeatures;
    case Group::kPrefill:
      return kPrefillFeatures;
    case Group::kDecode:
      return kDecodeFeatures;
  }
  return {};
}

Group group_of(const Work& work) {
  struct Visitor {
    Group operator()(const ConvWork&) const { return Group::kConv; }
    Group operator()(const PointwiseWork&) const { return Group::kPointwise; }
    Group operator()(const ReductionWork&) const { return Group::kReduction; }
    Group operator()(const AttentionWork& w) const { return is_decode(w) ? Group::kDecode : Group::kPrefill; }
    Group operator()(const GemmWork& w) const {
      if (w.arithmetic == Arithmetic::kFp4) return Group::kGemmFp4;
      return w.arithmetic == Arithmetic::kFp32 || w.arithmetic == Arithmetic::kFp64 ? Group::kGemmSimt
                                                                                    : Group::kGemmTensor;
    }
  };
  return std::visit(Visitor{}, work);
}

std::optional<Arithmetic> arithmetic_of(const Work& work) {
  return std::visit(
      [](const auto& w) -> std::optional<Arithmetic> {
        if constexpr (requires { w.arithmetic; }) return w.arithmetic;
        return std::nullopt;
      },
      work);
}

Physics physics_of(const Work& work, const Device& device, Situation situation, std::span<float> features) {
  return std::visit([&](const auto& w) { return physics_of(w, device, situation, features); }, work);
}

}  // namespace joulecast
