// SPDX-License-Identifier: Apache-2.0
// The kernels that inference engines and PyTorch run fused attention with, as laws of tiles: which one it is depends on
// the engine, the generation of the GPU and the width of a head.
#pragma once

#include "predict/physics.h"
#include "predict/work.h"

namespace joulecast {

// Of attention on the GPU, one after the other. Seconds.
struct AttentionTime {
  double store = 0;    // new keys and values go into the cache, where the engine times that too
  double compute = 0;  // the two products and the softmax between them
  double memory = 0;   // queries, keys, values and results
  double fixed = 0;    // from the call to the first tile, and parts of split keys put together
  double busy = 0;     // what of the above is no fixed cost, as the two join
  double tiles = 0;    // of queries, per SM
  double split = 1;    // parts of the keys
  double step = 3.5;   // both ways, by the way forward: five products more than two
};

// Of the products within fused attention: those in FP32 are made of three in TF32 where the GPU has that. Flops a
// second.
double attention_peak(Arithmetic arithmetic, const Device& device);

// Numbers of a head that PyTorch's FlashAttention takes at most: check_head_dim_size_flash,
// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp. Engines have kernels for wider ones.
inline constexpr std::int64_t kWidestFlashHead = 256;

// PyTorch takes FlashAttention 2 for halves on tensor units that load asynchronously, without a mask but a causal one,
// for values as wide as keys. Of AMD nothing else is known.
bool has_flash_attention(const AttentionWork& work, const Device& device, Situation situation = {});

AttentionTime attention_time(const AttentionWork& work, const Device& device, Situation situation);

}  // namespace joulecast
