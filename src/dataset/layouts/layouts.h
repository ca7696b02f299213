// SPDX-License-Identifier: Apache-2.0
// One function a layout, each in the file of its name; table.cpp lists them.
#pragma once

#include "dataset/layout.h"

namespace joulecast {

TableLayout heidelberg_operations_layout();
TableLayout heidelberg_networks_layout();
TableLayout aic_gemm_layout();
TableLayout aic_attention_layout();
TableLayout aic_power_gemm_layout();
TableLayout aic_power_attention_layout();
TableLayout neusight_gemm_layout();
TableLayout neusight_conv_layout();
TableLayout neusight_vec_layout();
TableLayout timm_benchmark_layout();
TableLayout torchvision_layout();
TableLayout profet_train_layout();
TableLayout cde_conv_layout();
TableLayout cde_dense_layout();
TableLayout deepbench_layout();
TableLayout vidur_layout();
TableLayout zeus_power_limit_layout();
TableLayout perseus_clock_layout();
TableLayout perseus_limit_layout();
TableLayout guerreiro_layout();

}  // namespace joulecast
