// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/import_config.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "joulecast/cost.h"
#include "joulecast/passes.h"

namespace joulecast::huggingface {
namespace {

// What transformers 5.23 made of the same config: parameters, and the FLOPs that torch's
// FlopCounterMode counts at batch 2 and 128 tokens, to which attention is added where PyTorch runs it in a kernel the
// counter does not know (four times batch, heads, queries, keys and width of a head).
struct Case {
  const char* name;
  const char* config;
  std::int64_t parameters;
  double products;
};

constexpr double kTwelveHeads = 4.0 * 2 * 12 * 128 * 128 * 64;

const Case kCases[] = {
    {"bert", R"({"model_type": "bert", "architectures": ["BertModel"]})", 109482240, 44696862720},
    {"bert_masked", R"({"model_type": "bert", "architectures": ["BertForMaskedLM"]})", 109514298, 56998232064},
    {"gpt2", R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]})", 124439808,
     63248400384 + 12 * kTwelveHeads},
    {"llama",
     R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 768, "num_hidden_layers": 12,
         "intermediate_size": 2048, "num_attention_heads": 12, "tie_word_embeddings": false})",
     134105856, 56069455872 + 12 * kTwelveHeads},
    {"mistral",
     R"({"model_type": "mistral", "architectures": ["MistralForCausalLM"], "hidden_size": 768, "num_hidden_layers": 8,
         "intermediate_size": 2048, "num_attention_heads": 12, "num_key_value_heads": 4})",
     99496704, 38352715776 + 8 * kTwelveHeads},
    {"qwen2",
     R"({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "hidden_size": 768, "num_hidden_layers": 8,
         "intermediate_size": 2048, "num_attention_heads": 12, "num_key_value_heads": 4, "vocab_size": 50000})",
     127154944, 45430603776 + 8 * kTwelveHeads},
    {"t5", R"({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"]})", 60506624, 32178700288},
    {"vit", R"({"model_type": "vit", "architectures": ["ViTForImageClassification"]})", 85800194, 70252247040},
    {"whisper", R"({"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"]})", 37760640,
     67730276352 + 4.0 * 2 * 6 * 64 * 4 * (1500.0 * 1500 + 128 * 128 + 128 * 1500)},
};

class Configs : public testing::TestWithParam<Case> {};

TEST_P(Configs, HaveTheParametersAndFlopsOfTransformers) {
  auto graph = import_config(GetParam().config, "net");
  ASSERT_TRUE(graph) << graph.error().text();
  const Graph network = simplify(std::move(*graph));
  Binding binding;
  binding.batch = 2;
  binding.symbols = {{"batch", 2}, {"sequence", 128}, {"decoder_sequence", 128}};
  const auto types = infer_types(network, binding);
  ASSERT_TRUE(types) << types.error().text();
  std::int64_t parameters = 0;
  for (const Value& value : network.values) {
    if (value.kind == ValueKind::kParameter) parameters += value.type.elements();
  }
  EXPECT_EQ(parameters, GetParam().parameters);
  double products = 0;
  for (const Node& node : network.nodes) {
    const bool product = std::holds_alternative<Linear>(node.op) || std::holds_alternative<MatMul>(node.op) ||
                         std::holds_alternative<Attention>(node.op) || std::holds_alternative<Conv>(node.op);
    if (product) products += operator_cost(CostContext(network, node, *types)).forward_flops.value();
  }
  // The counter leaves out what adding a bias and a softmax take.
  EXPECT_NEAR(products, GetParam().products, 0.002 * GetParam().products);
}

INSTANTIATE_TEST_SUITE_P(Transformers, Configs, testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

std::string error_of(const std::string& config) {
  const auto graph = import_config(config, "net");
  return graph ? "no error" : graph.error().text();
}

TEST(Config, NamesATypeThatTheNetworkIsNotTakenIn) {
  const auto notes = [](const std::string& type) {
    std::vector<std::string> out;
    const Graph graph = import_config(R"({"model_type": "bert", )" + type + "}", "net").value();
    for (const GraphNote& note : graph.notes) out.push_back(note.text);
    return out;
  };
  using Notes = std::vector<std::string>;
  EXPECT_EQ(notes(R"("dtype": "bfloat16")"),
            (Notes{"the config's dtype is bfloat16; without --precision bf16 the network is taken in FP32"}));
  EXPECT_EQ(notes(R"("torch_dtype": "float16")"),
            (Notes{"the config's torch_dtype is float16; without --precision fp16 the network is taken in FP32"}));
  EXPECT_EQ(notes(R"("dtype": "float64")"), (Notes{"the config's dtype is float64; the network is taken in FP32"}));
  for (const char* same : {R"("dtype": "float32")", R"("dtype": null)", R"("torch_dtype": "auto")"}) {
    EXPECT_EQ(notes(same), Notes{}) << same;
  }
  EXPECT_EQ(error_of(R"({"model_type": "bert", "dtype": 16})"), "'dtype' is no string");
}

TEST(Config, WhatIsWrongIsSaidByKey) {
  EXPECT_EQ(error_of("[]"), "is no JSON object");
  EXPECT_TRUE(error_of("{").starts_with("is no JSON")) << error_of("{");
  EXPECT_EQ(error_of("{}"), "has no 'model_type': no config.json of transformers");
  EXPECT_TRUE(
      error_of(R"({"model_type": "mamba"})").starts_with("the model type 'mamba' is none we know: there are bert"));
  EXPECT_TRUE(error_of(R"({"model_type": "mamba"})")
                  .ends_with("torch.export.save(torch.export.export(model, args), \"net.pt2\")"));
  EXPECT_EQ(error_of(R"({"model_type": 3})"), "'model_type' is no string");
  EXPECT_EQ(error_of(R"({"model_type": "bert", "hidden_size": -1})"),
            "'hidden_size' is no whole number from 1 to 16777216");
  EXPECT_EQ(error_of(R"({"model_type": "bert", "hidden_size": 1e30})"),
            "'hidden_size' is no whole number from 1 to 16777216");
  EXPECT_EQ(error_of(R"({"model_type": "gpt2", "n_layer": 1000000})"), "'n_layer' is more than 1024");
  EXPECT_EQ(error_of(R"({"model_type": "gpt2", "n_head": 7})"), "'n_head' of 7 does not divide 768");
  EXPECT_EQ(error_of(R"({"model_type": "bert", "hidden_act": "maxout"})"), "the activation 'maxout' is none we know");
  EXPECT_EQ(error_of(R"({"model_type": "bert", "hidden_dropout_prob": 2})"),
            "'hidden_dropout_prob' is no number from 0 to 1");
  EXPECT_EQ(error_of(std::string(2'000'000, ' ')), "is longer than any config.json");
}

}  // namespace
}  // namespace joulecast::huggingface
