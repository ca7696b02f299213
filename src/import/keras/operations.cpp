// SPDX-License-Identifier: Apache-2.0
#include "import/keras/operations.h"

#include <algorithm>
#include <array>

#include "import/keras/lowered.h"

namespace joulecast::keras {
namespace {

using tensorflow::OperatorEntry;

template <Name kOperator>
constexpr auto pointwise = lowered_as<lower_pointwise, kOperator>;
template <Name kOperator>
constexpr auto reduced = lowered_as<lower_reduction, kOperator>;
constexpr auto activated = lowered<lower_activation_class>;

// Sorted by name.
constexpr auto kOperations = std::to_array<OperatorEntry>({
    {"Abs", 1, pointwise<"Abs">},
    {"Absolute", 1, pointwise<"Abs">},
    {"Add", 1, merged<"AddV2">},
    {"All", 1, reduced<"All">},
    {"Amax", 1, reduced<"Max">},
    {"Amin", 1, reduced<"Min">},
    {"Any", 1, reduced<"Any">},
    {"Arccos", 1, pointwise<"Acos">},
    {"Arccosh", 1, pointwise<"Acosh">},
    {"Arcsin", 1, pointwise<"Asin">},
    {"Arcsinh", 1, pointwise<"Asinh">},
    {"Arctan", 1, pointwise<"Atan">},
    {"Arctan2", 1, merged<"Atan2">},
    {"Arctanh", 1, pointwise<"Atanh">},
    {"Argmax", 1, lowered_as<lower_arg, "ArgMax">},
    {"Argmin", 1, lowered_as<lower_arg, "ArgMin">},
    {"AveragePool", 1, lowered_as<lower_pool, "AvgPool">},
    {"BitwiseAnd", 1, merged<"BitwiseAnd">},
    {"BitwiseInvert", 1, pointwise<"Invert">},
    {"BitwiseLeftShift", 1, merged<"LeftShift">},
    {"BitwiseNot", 1, pointwise<"Invert">},
    {"BitwiseOr", 1, merged<"BitwiseOr">},
    {"BitwiseRightShift", 1, merged<"RightShift">},
    {"BitwiseXor", 1, merged<"BitwiseXor">},
    {"BroadcastTo", 1, lowered<lower_broadcast_to>},
    {"Cast", 1, lowered<lower_cast>},
    {"Ceil", 1, pointwise<"Ceil">},
    {"Celu", 1, activated},
    {"Clip", 1, lowered<lower_clip>},
    {"Concatenate", 1, lowered<lower_concatenate>},
    {"Conv", 1, lowered<lower_conv_operation>},
    {"ConvertToTensor", 1, lowered<lower_identity>},
    {"Copy", 1, lowered<lower_identity>},
    {"Cos", 1, pointwise<"Cos">},
    {"Cosh", 1, pointwise<"Cosh">},
    {"Cumprod", 1, lowered_as<lower_cumulate, "Cumprod">},
    {"Cumsum", 1, lowered_as<lower_cumulate, "Cumsum">},
    {"Divide", 1, merged<"RealDiv">},
    {"DivideNoNan", 1, merged<"DivNoNan">},
    {"Dot", 1, lowered<lower_dot_operation>},
    {"DotProductAttention", 1, lowered<lower_dot_product_attention>},
    {"Einsum", 1, lowered<lower_einsum>},
    {"Elu", 1, activated},
    {"Equal", 1, merged<"Equal">},
    {"Erf", 1, pointwise<"Erf">},
    {"Erfc", 1, pointwise<"Erfc">},
    {"Exp", 1, pointwise<"Exp">},
    {"ExpandDims", 1, lowered<lower_expand_dims>},
    {"Expm1", 1, pointwise<"Expm1">},
    {"Flip", 1, lowered<lower_flip>},
    {"Floor", 1, pointwise<"Floor">},
    {"FloorDivide", 1, merged<"FloorDiv">},
    {"Fmax", 1, merged<"Maximum">},
    {"Fmin", 1, merged<"Minimum">},
    {"Fmod", 1, merged<"Mod">},
    {"FullLike", 1, pointwise<"OnesLike">},
    {"Gelu", 1, activated},
    {"GetItem", 1, lowered<lower_get_item>},
    {"Glu", 1, lowered<lower_glu>},
    {"Greater", 1, merged<"Greater">},
    {"GreaterEqual", 1, merged<"GreaterEqual">},
    {"HardSigmoid", 1, activated},
    {"HardSilu", 1, activated},
    {"HardTanh", 1, activated},
    {"Isinf", 1, pointwise<"IsInf">},
    {"Isnan", 1, pointwise<"IsNan">},
    {"LeakyRelu", 1, activated},
    {"LeftShift", 1, merged<"LeftShift">},
    {"Less", 1, merged<"Less">},
    {"LessEqual", 1, merged<"LessEqual">},
    {"Log", 1, pointwise<"Log">},
    {"Log1p", 1, pointwise<"Log1p">},
    {"LogSigmoid", 1, activated},
    {"LogSoftmax", 1, activated},
    {"LogicalAnd", 1, merged<"LogicalAnd">},
    {"LogicalNot", 1, pointwise<"LogicalNot">},
    {"LogicalOr", 1, merged<"LogicalOr">},
    {"LogicalXor", 1, merged<"NotEqual">},
    {"Logsumexp", 1, lowered<lower_log_sum_exp>},
    {"Matmul", 1, merged<"BatchMatMulV2">},
    {"Max", 1, reduced<"Max">},
    {"MaxPool", 1, lowered_as<lower_pool, "MaxPool">},
    {"Maximum", 1, merged<"Maximum">},
    {"Mean", 1, reduced<"Mean">},
    {"Min", 1, reduced<"Min">},
    {"Minimum", 1, merged<"Minimum">},
    {"Mish", 1, activated},
    {"Mod", 1, merged<"FloorMod">},
    {"Moveaxis", 1, lowered<lower_move_axis>},
    {"Multiply", 1, merged<"Mul">},
    {"Negative", 1, pointwise<"Neg">},
    {"Norm", 1, reduced<"EuclideanNorm">},
    {"Normalize", 1, lowered<lower_normalize>},
    {"NotEqual", 1, merged<"NotEqual">},
    {"OneHot", 1, lowered<lower_one_hot>},
    {"OnesLike", 1, pointwise<"OnesLike">},
    {"Pad", 1, lowered<lower_pad>},
    {"Power", 1, merged<"Pow">},
    {"Prod", 1, reduced<"Prod">},
    {"Ravel", 1, lowered<lower_ravel>},
    {"Reciprocal", 1, pointwise<"Reciprocal">},
    {"Relu", 1, activated},
    {"Relu6", 1, activated},
    {"Repeat", 1, lowered<lower_repeat>},
    {"Reshape", 1, lowered<lower_new_shape>},
    {"Resize", 1, lowered<lower_resize>},
    {"RightShift", 1, merged<"RightShift">},
    {"Roll", 1, lowered<lower_roll>},
    {"Round", 1, pointwise<"Round">},
    {"Rsqrt", 1, pointwise<"Rsqrt">},
    {"SaturateCast", 1, lowered<lower_cast>},
    {"Selu", 1, activated},
    {"Sigmoid", 1, activated},
    {"Sign", 1, pointwise<"Sign">},
    {"Silu", 1, activated},
    {"Sin", 1, pointwise<"Sin">},
    {"Sinh", 1, pointwise<"Sinh">},
    {"Slice", 1, lowered<lower_slice>},
    {"Softmax", 1, lowered<lower_softmax>},
    {"Softplus", 1, activated},
    {"Softsign", 1, activated},
    {"Split", 1, lowered<lower_split>},
    {"Sqrt", 1, pointwise<"Sqrt">},
    {"Square", 1, pointwise<"Square">},
    {"Squeeze", 1, lowered<lower_squeeze>},
    {"Stack", 1, lowered<lower_stack>},
    {"Std", 1, lowered<lower_deviation>},
    {"StopGradient", 1, lowered<lower_identity>},
    {"Subtract", 1, merged<"Sub">},
    {"Sum", 1, reduced<"Sum">},
    {"Swapaxes", 1, lowered<lower_swap_axes>},
    {"Take", 1, lowered<lower_take>},
    {"Tan", 1, pointwise<"Tan">},
    {"Tanh", 1, activated},
    {"Tensordot", 1, lowered<lower_tensordot>},
    {"Tile", 1, lowered<lower_tile>},
    {"TopK", 1, lowered<lower_top_k>},
    {"Transpose", 1, lowered<lower_transpose>},
    {"TrueDivide", 1, merged<"RealDiv">},
    {"Unstack", 1, lowered<lower_unstack>},
    {"Var", 1, lowered<lower_variance>},
    {"Where", 1, lowered<lower_where>},
    {"ZerosLike", 1, pointwise<"ZerosLike">},
});

}  // namespace

std::span<const OperatorEntry> operation_list() {
  return kOperations;
}

const OperatorEntry* find_operation(std::string_view name) {
  const auto* const it =
      std::lower_bound(kOperations.begin(), kOperations.end(), name,
                       [](const OperatorEntry& entry, std::string_view n) { return entry.name < n; });
  return it != kOperations.end() && it->name == name ? it : nullptr;
}

}  // namespace joulecast::keras
