// SPDX-License-Identifier: Apache-2.0
// The networks that a config.json describes. Adding one: a file with its function, and a line in architectures.cpp.
//
// Each is what transformers runs in eager mode with attn_implementation="sdpa", without a cache of keys and values: a
// prompt, or a training step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "import/huggingface/config.h"
#include "import/huggingface/net.h"

namespace joulecast::huggingface {

// Whether the class ends like this: "LlamaForCausalLM" has the head "ForCausalLM". Without a class nothing has a head.
bool has_head(Config& config, std::string_view head);
// Whole numbers [batch, LENGTH], both open.
ValueId token_ids(Net& net, std::string_view name, std::string_view length);

// What BERT and its kin share, under the keys that they share.
struct EncoderSizes {
  std::int64_t width = 0, inner = 0, layers = 0;
  Heads heads;
  double dropout = 0, attention_dropout = 0;
  std::string activation;
};
// `dropout`: of both kinds, where the config says none.
EncoderSizes read_encoder(Config& config, double dropout);

// Errors: kUnsupported for parts we do not know (activations). What is wrong with the config is in config.check().
Result<void> write_llama(Config& config, Net& net);  // Llama, Mistral, Qwen2, Qwen3
Result<void> write_gpt2(Config& config, Net& net);
Result<void> write_bert(Config& config, Net& net);
Result<void> write_t5(Config& config, Net& net);
Result<void> write_vit(Config& config, Net& net);
Result<void> write_whisper(Config& config, Net& net);

}  // namespace joulecast::huggingface
