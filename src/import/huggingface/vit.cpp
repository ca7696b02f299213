// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/huggingface/architectures.h"

namespace joulecast::huggingface {
namespace {

struct Sizes : EncoderSizes {
  std::int64_t image = 0, patch = 0, channels = 0;
  bool biased_heads = true;
};

Sizes read(Config& config) {
  Sizes out{read_encoder(config, 0.0)};
  out.image = config.integer("image_size", 224);
  out.patch = config.integer("patch_size", 16);
  out.channels = config.integer("num_channels", 3);
  out.biased_heads = config.flag("qkv_bias", true);
  return out;
}

// [batch, channels, side, side] -> [batch, 1 + patches, width]
ValueId embeddings(Net& net, const std::string& name, const Sizes& sizes) {
  const Dimension side{sizes.image, ""};
  const ValueId image =
      net.input("pixel_values", ElementType::kFloat32, {{std::nullopt, "batch"}, {sizes.channels, ""}, side, side});
  const std::string conv = name + ".patch_embeddings.projection";
  const Conv patches{.stride = {sizes.patch, sizes.patch},
                     .dilation = {1, 1},
                     .padding_begin = {0, 0},
                     .padding_end = {0, 0},
                     .output_padding = {0, 0}};
  const ValueId weight = net.weight(conv + ".weight", {sizes.width, sizes.channels, sizes.patch, sizes.patch});
  const ValueId grid = net.add(patches, {image, weight, net.weight(conv + ".bias", {sizes.width})});
  const ValueId rows = net.transpose(net.add(Flatten{.axis = 2, .last_axis = 3}, {grid}), {0, 2, 1});
  const ValueId shape = net.add(Concat{}, {net.extent(rows, 0), net.integers({1, sizes.width})});
  const ValueId token = net.add(Expand{}, {net.weight(name + ".cls_token", {1, 1, sizes.width}), shape});
  const std::int64_t count = (sizes.image / sizes.patch) * (sizes.image / sizes.patch);
  const ValueId places = net.weight(name + ".position_embeddings", {1, count + 1, sizes.width});
  return net.dropout(net.sum(net.add(Concat{.axis = 1}, {token, rows}), places), sizes.dropout);
}

Result<ValueId> layer(Net& net, const std::string& name, ValueId x, const Sizes& sizes) {
  const ValueId before = net.layer_norm(name + ".layernorm_before", x, sizes.width);
  const auto split = [&](const char* part) {
    const ValueId all =
        net.linear(name + ".attention.attention." + part, before, sizes.width, sizes.width, sizes.biased_heads);
    return net.split_heads(all, sizes.heads.count, sizes.heads.width);
  };
  const ValueId joined = net.join_heads(net.attention(split("query"), split("key"), split("value"), sizes.heads, false,
                                                      kNoValue, sizes.attention_dropout),
                                        sizes.width);
  const ValueId attended = net.linear(name + ".attention.output.dense", joined, sizes.width, sizes.width, true);
  const ValueId middle = net.sum(net.dropout(attended, sizes.dropout), x);
  const ValueId after = net.layer_norm(name + ".layernorm_after", middle, sizes.width);
  const ValueId inner = net.linear(name + ".intermediate.dense", after, sizes.width, sizes.inner, true);
  JC_ASSIGN_OR_RETURN(const ValueId active, net.activation(sizes.activation, inner));
  const ValueId outer = net.linear(name + ".output.dense", active, sizes.inner, sizes.width, true);
  return net.sum(net.dropout(outer, sizes.dropout), middle);
}

}  // namespace

Result<void> write_vit(Config& config, Net& net) {
  const Sizes sizes = read(config);
  const bool classifies = has_head(config, "ForImageClassification");
  const std::int64_t labels = classifies ? config.labels() : 0;
  config.divided("patch_size", sizes.image, sizes.patch);
  JC_RETURN_IF_ERROR(config.check());
  ValueId x = embeddings(net, "vit.embeddings", sizes);
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    JC_ASSIGN_OR_RETURN(x, layer(net, fmt::format("vit.encoder.layer.{}", i), x, sizes));
  }
  x = net.layer_norm("vit.layernorm", x, sizes.width);
  const ValueId first = net.add(Squeeze{{1}}, {net.slice(x, 1, 0, 1)});
  if (classifies) {
    net.output(net.linear("classifier", first, sizes.width, labels, true));
    return {};
  }
  net.output(x);
  const ValueId pooled = net.linear("vit.pooler.dense", first, sizes.width, sizes.width, true);
  net.output(net.add(Activation{ActivationKind::kTanh}, {pooled}));
  return {};
}

}  // namespace joulecast::huggingface
