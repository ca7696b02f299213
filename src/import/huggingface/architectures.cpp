// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/architectures.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "import/huggingface/import_config.h"

namespace joulecast::huggingface {
namespace {

struct Architecture {
  std::string_view model_type;
  Result<void> (*write)(Config&, Net&);
};

constexpr std::array kArchitectures{
    Architecture{"bert", write_bert},     Architecture{"gpt2", write_gpt2},   Architecture{"llama", write_llama},
    Architecture{"mistral", write_llama}, Architecture{"qwen2", write_llama}, Architecture{"qwen3", write_llama},
    Architecture{"t5", write_t5},         Architecture{"vit", write_vit},     Architecture{"whisper", write_whisper},
};

std::string known() {
  std::string out;
  for (const Architecture& one : kArchitectures) out += (out.empty() ? "" : ", ") + std::string(one.model_type);
  return out;
}

Result<const Architecture*> architecture_of(Config& config) {
  const std::string type = config.text("model_type", "");
  JC_RETURN_IF_ERROR(config.check());
  for (const Architecture& one : kArchitectures) {
    if (one.model_type == type) return &one;
  }
  return unsupported(type.empty()
                         ? "has no 'model_type': no config.json of transformers"
                         : fmt::format("the model type '{}' is none we know: there are {}; of others export the "
                                       "network: torch.export.save(torch.export.export(model, args), \"net.pt2\")",
                                       type, known()));
}

// Some editors put a mark before UTF-8.
std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

// transformers runs a network in the type that its config names or in FP32, as its version and its caller have it.
void note_type(Config& config, Net& net) {
  const std::string key = config.has("dtype") ? "dtype" : "torch_dtype";
  const std::string type = config.text(key, "float32");
  if (type == "float32" || type == "auto") return;
  const std::string_view precision = type == "bfloat16" ? "bf16" : type == "float16" ? "fp16" : "";
  const std::string unless = precision.empty() ? "" : fmt::format(" without --precision {}", precision);
  net.note(fmt::format("the config's {} is {};{} the network is taken in FP32", key, type, unless));
}

}  // namespace

bool has_head(Config& config, std::string_view head) {
  return config.architecture().ends_with(head);
}

ValueId token_ids(Net& net, std::string_view name, std::string_view length) {
  return net.input(name, ElementType::kInt64, {{std::nullopt, "batch"}, {std::nullopt, std::string(length)}});
}

EncoderSizes read_encoder(Config& config, double dropout) {
  EncoderSizes out;
  out.width = config.integer("hidden_size", 768);
  out.inner = config.integer("intermediate_size", 3072);
  out.layers = config.layers("num_hidden_layers", 12);
  out.heads.count = out.heads.key_value_count = config.integer("num_attention_heads", 12);
  out.heads.width = config.divided("num_attention_heads", out.width, out.heads.count);
  out.dropout = config.share("hidden_dropout_prob", dropout);
  out.attention_dropout = config.share("attention_probs_dropout_prob", dropout);
  out.activation = config.text("hidden_act", "gelu");
  return out;
}

Result<Graph> import_config(std::string_view bytes, std::string_view name) {
  JC_ASSIGN_OR_RETURN(Config config, Config::parse(without_mark(bytes)));
  JC_ASSIGN_OR_RETURN(const Architecture* architecture, architecture_of(config));
  Net net(name);
  JC_RETURN_IF_ERROR(architecture->write(config, net));
  note_type(config, net);
  JC_RETURN_IF_ERROR(config.check());
  return net.finish();
}

bool is_config(std::string_view file) {
  const std::string_view bytes = without_mark(file);
  // An object that says its model type somewhere in the first kilobytes; models of other formats in JSON do not.
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  constexpr std::size_t kFar = std::size_t{1} << 20U;
  return start != std::string_view::npos && bytes[start] == '{' &&
         bytes.substr(0, kFar).find("\"model_type\"") != std::string_view::npos;
}

}  // namespace joulecast::huggingface
