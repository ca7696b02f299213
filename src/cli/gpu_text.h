// SPDX-License-Identifier: Apache-2.0
// GPUs as text, JSON and CSV.
#pragma once

#include <span>
#include <string>

#include "joulecast/gpu.h"

namespace joulecast::cli {

using Gpus = std::span<const Gpu* const>;

std::string gpu_list_text(Gpus gpus);
// Every figure with unit, source and mark; MIG profiles; sources numbered below.
std::string gpu_text(const Gpu& gpu);
// Schema joulecast.gpus/1: docs/formats/gpu.md.
std::string gpus_json(Gpus gpus);
// One line a GPU, one column a figure.
std::string gpus_csv(Gpus gpus);
// The table of docs/gpus.md.
std::string gpus_markdown(Gpus gpus);

}  // namespace joulecast::cli
