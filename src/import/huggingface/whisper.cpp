// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "import/huggingface/architectures.h"

namespace joulecast::huggingface {
namespace {

// Of the encoder or the decoder.
struct Sizes {
  std::int64_t width, inner, layers;
  Heads heads;
  double dropout, attention_dropout;
  std::string activation;
};

Sizes read(Config& config, const std::string& part) {
  Sizes out{};
  out.width = config.integer("d_model", 384);
  out.inner = config.integer(part + "_ffn_dim", 1536);
  out.layers = config.layers(part + "_layers", 4);
  out.heads.count = out.heads.key_value_count = config.integer(part + "_attention_heads", 6);
  out.heads.width = config.divided(part + "_attention_heads", out.width, out.heads.count);
  out.dropout = config.share("dropout", 0.0);
  out.attention_dropout = config.share("attention_dropout", 0.0);
  out.activation = config.text("activation_function", "gelu");
  return out;
}

// Keys and values of `memory`, queries of `x`. Keys alone have no bias; queries are scaled before the product.
ValueId attention(Net& net, const std::string& name, ValueId x, ValueId memory, const Sizes& sizes, bool causal) {
  const auto split = [&](const char* part, ValueId of, bool bias) {
    return net.split_heads(net.linear(name + part, of, sizes.width, sizes.width, bias), sizes.heads.count,
                           sizes.heads.width);
  };
  const ValueId scaled = net.product(net.linear(name + ".q_proj", x, sizes.width, sizes.width, true),
                                     net.number(1 / std::sqrt(static_cast<double>(sizes.heads.width))));
  const ValueId query = net.split_heads(scaled, sizes.heads.count, sizes.heads.width);
  const ValueId key = split(".k_proj", memory, false);
  const ValueId value = split(".v_proj", memory, true);
  const ValueId joined = net.join_heads(
      net.attention(query, key, value, sizes.heads, causal, kNoValue, sizes.attention_dropout), sizes.width);
  return net.linear(name + ".out_proj", joined, sizes.width, sizes.width, true);
}

ValueId self_attention(Net& net, const std::string& name, ValueId x, const Sizes& sizes, bool causal) {
  const ValueId normed = net.layer_norm(name + ".self_attn_layer_norm", x, sizes.width);
  return net.sum(x, net.dropout(attention(net, name + ".self_attn", normed, normed, sizes, causal), sizes.dropout));
}

Result<ValueId> dense(Net& net, const std::string& name, ValueId x, const Sizes& sizes) {
  const ValueId normed = net.layer_norm(name + ".final_layer_norm", x, sizes.width);
  const ValueId inner = net.linear(name + ".fc1", normed, sizes.width, sizes.inner, true);
  JC_ASSIGN_OR_RETURN(const ValueId active, net.activation(sizes.activation, inner));
  return net.sum(x, net.dropout(net.linear(name + ".fc2", active, sizes.inner, sizes.width, true), sizes.dropout));
}

struct Audio {
  std::int64_t bins, positions;
};

// [batch, bins, frames] -> [batch, frames / 2, width]: two convolutions, the second of which halves the frames.
ValueId frames(Net& net, const Audio& audio, const Sizes& sizes) {
  const auto convolved = [&](const char* name, ValueId x, std::int64_t in, std::int64_t stride) {
    const Conv op{.stride = {stride}, .dilation = {1}, .padding_begin = {1}, .padding_end = {1}, .output_padding = {0}};
    const std::string at = fmt::format("model.encoder.{}", name);
    const ValueId made =
        net.add(op, {x, net.weight(at + ".weight", {sizes.width, in, 3}), net.weight(at + ".bias", {sizes.width})});
    return net.add(Activation{ActivationKind::kGelu}, {made});
  };
  const ValueId input = net.input("input_features", ElementType::kFloat32,
                                  {{std::nullopt, "batch"}, {audio.bins, ""}, {2 * audio.positions, ""}});
  const ValueId x = convolved("conv2", convolved("conv1", input, audio.bins, 1), sizes.width, 2);
  const ValueId places = net.weight("model.encoder.embed_positions.weight", {audio.positions, sizes.width});
  return net.dropout(net.sum(net.transpose(x, {0, 2, 1}), places), sizes.dropout);
}

Result<ValueId> encoder(Net& net, const Audio& audio, const Sizes& sizes) {
  ValueId x = frames(net, audio, sizes);
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = fmt::format("model.encoder.layers.{}", i);
    x = self_attention(net, name, x, sizes, false);
    JC_ASSIGN_OR_RETURN(x, dense(net, name, x, sizes));
  }
  return net.layer_norm("model.encoder.layer_norm", x, sizes.width);
}

Result<ValueId> decoder(Net& net, ValueId ids, ValueId table, std::int64_t positions, ValueId memory,
                        const Sizes& sizes) {
  const ValueId places =
      net.embedding(net.weight("model.decoder.embed_positions.weight", {positions, sizes.width}), net.positions(ids));
  ValueId x = net.dropout(net.sum(net.embedding(table, ids), places), sizes.dropout);
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    const std::string name = fmt::format("model.decoder.layers.{}", i);
    x = self_attention(net, name, x, sizes, true);
    const ValueId normed = net.layer_norm(name + ".encoder_attn_layer_norm", x, sizes.width);
    x = net.sum(x, net.dropout(attention(net, name + ".encoder_attn", normed, memory, sizes, false), sizes.dropout));
    JC_ASSIGN_OR_RETURN(x, dense(net, name, x, sizes));
  }
  return net.layer_norm("model.decoder.layer_norm", x, sizes.width);
}

}  // namespace

Result<void> write_whisper(Config& config, Net& net) {
  const Sizes encodes = read(config, "encoder"), decodes = read(config, "decoder");
  const Audio audio{config.integer("num_mel_bins", 80), config.integer("max_source_positions", 1500)};
  const std::int64_t vocabulary = config.integer("vocab_size", 51865);
  const std::int64_t positions = config.integer("max_target_positions", 448);
  JC_RETURN_IF_ERROR(config.check());
  JC_ASSIGN_OR_RETURN(const ValueId memory, encoder(net, audio, encodes));
  const ValueId ids = token_ids(net, "decoder_input_ids", "sequence");
  const ValueId table = net.weight("model.decoder.embed_tokens.weight", {vocabulary, decodes.width});
  JC_ASSIGN_OR_RETURN(ValueId x, decoder(net, ids, table, positions, memory, decodes));
  if (has_head(config, "ForConditionalGeneration")) x = net.add(Linear{}, {x, table, kNoValue});
  net.output(x);
  return {};
}

}  // namespace joulecast::huggingface
