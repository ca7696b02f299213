// SPDX-License-Identifier: Apache-2.0
// Declares what the stand-in exports, with the types that the loader uses: a definition of another shape does not
// compile.
#pragma once

#include "power/nvml_abi.h"

extern "C" {
#define JC_NVML_DECLARE(name, ...) __attribute__((visibility("default"))) joulecast::nvml::functions::name name;
JC_NVML_FUNCTIONS(JC_NVML_DECLARE)
#undef JC_NVML_DECLARE
}
