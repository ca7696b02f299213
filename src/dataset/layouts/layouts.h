// SPDX-License-Identifier: Apache-2.0
// One function a layout, each in the file of its name; list.cpp lists them.
#pragma once

#include "dataset/layout.h"

namespace joulecast {

// All of them, in no order that matters: a header goes to the layout that wants most of its columns.
const std::vector<TableLayout>& all_layouts();

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
TableLayout measurements_layout();
TableLayout aic_collectives_layout();
TableLayout aic_power_misc_layout();
TableLayout heidelberg_iterations_layout();
TableLayout heidelberg_out_of_memory_layout();
TableLayout heidelberg_network_operations_layout();
TableLayout gpu_specs_layout();
TableLayout nvml_sensors_layout();
TableLayout power_trace_layout();
TableLayout neusight_e2e_layout();
TableLayout neusight_e2e_ops_layout();
TableLayout vidur_collectives_layout();
TableLayout gavel_layout();
TableLayout fastertransformer_layout();
TableLayout help_nasbench201_layout();
TableLayout help_fbnet_layout();
TableLayout hwgpt_layout();
TableLayout hwgpt_architectures_layout();
TableLayout ecnas_layout();
TableLayout detectron2_layout();
TableLayout profet_opclass_layout();
TableLayout mm_zoo_fps_layout();
TableLayout zeus_sweep_layout();
TableLayout zeus_windows_layout();
TableLayout perseus_stage_layout();
TableLayout perseus_pipeline_layout();
TableLayout mlenergy_v3_llm_layout();
TableLayout mlenergy_v2_llm_layout();
TableLayout mlenergy_v3_diffusion_layout();
TableLayout mlenergy_v2_diffusion_layout();
TableLayout mlperf_inference_layout();
TableLayout mlperf_h200_layout();
TableLayout mlperf_training_layout();
TableLayout dfki_layout();
TableLayout guerreiro_layout();
TableLayout dlbench_layout();
TableLayout dlbench_conv_layout();
TableLayout laptop_layout();
TableLayout b300_layout();
TableLayout text2video_layout();
TableLayout imagenet_energy_layout();
TableLayout keras_testbed_layout();
TableLayout plug_meter_layout();
TableLayout memory_runs_layout();
TableLayout mm_zoo_memory_layout();
TableLayout liger_layout();
TableLayout gpumemnet_layout();
TableLayout pepr_layout();
TableLayout cuda_context_layout();
TableLayout fits_boundaries_layout();

// Of publishers whose tables are read in several files.
Origin aic_origin();
Origin heidelberg_origin();
Origin neusight_origin();

}  // namespace joulecast
