// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/huggingface/architectures.h"

namespace joulecast::huggingface {
namespace {

struct Sizes : EncoderSizes {
  std::int64_t vocabulary = 0, positions = 0, types = 0;
};

Sizes read(Config& config) {
  Sizes out{read_encoder(config, 0.1)};
  out.vocabulary = config.integer("vocab_size", 30522);
  out.positions = config.integer("max_position_embeddings", 512);
  out.types = config.integer("type_vocab_size", 2);
  return out;
}

ValueId embeddings(Net& net, const std::string& name, ValueId words, ValueId positions, const Sizes& sizes) {
  const ValueId types = token_ids(net, "token_type_ids", "sequence");
  const auto table = [&](const char* of, std::int64_t rows) {
    return net.weight(fmt::format("{}.{}_embeddings.weight", name, of), {rows, sizes.width});
  };
  const ValueId kinds = net.embedding(table("token_type", sizes.types), types);
  const ValueId places = net.embedding(table("position", sizes.positions), positions);
  return net.dropout(net.layer_norm(name + ".LayerNorm", net.sum(net.sum(words, kinds), places), sizes.width),
                     sizes.dropout);
}

Result<ValueId> layer(Net& net, const std::string& name, ValueId x, const Sizes& sizes) {
  const auto split = [&](const char* part) {
    const ValueId all = net.linear(name + ".attention.self." + part, x, sizes.width, sizes.width, true);
    return net.split_heads(all, sizes.heads.count, sizes.heads.width);
  };
  const ValueId joined = net.join_heads(net.attention(split("query"), split("key"), split("value"), sizes.heads, false,
                                                      kNoValue, sizes.attention_dropout),
                                        sizes.width);
  const std::string out = name + ".attention.output";
  const ValueId attended =
      net.dropout(net.linear(out + ".dense", joined, sizes.width, sizes.width, true), sizes.dropout);
  const ValueId middle = net.layer_norm(out + ".LayerNorm", net.sum(attended, x), sizes.width);
  const ValueId inner = net.linear(name + ".intermediate.dense", middle, sizes.width, sizes.inner, true);
  JC_ASSIGN_OR_RETURN(const ValueId active, net.activation(sizes.activation, inner));
  const ValueId outer =
      net.dropout(net.linear(name + ".output.dense", active, sizes.inner, sizes.width, true), sizes.dropout);
  return net.layer_norm(name + ".output.LayerNorm", net.sum(outer, middle), sizes.width);
}

// The first token through a dense layer.
ValueId pooled(Net& net, const std::string& name, ValueId x, const Sizes& sizes) {
  const ValueId first = net.add(Squeeze{{1}}, {net.slice(x, 1, 0, 1)});
  return net.add(Activation{ActivationKind::kTanh},
                 {net.linear(name + ".pooler.dense", first, sizes.width, sizes.width, true)});
}

Result<ValueId> words(Net& net, ValueId x, ValueId table, const Sizes& sizes) {
  const std::string name = "cls.predictions.transform";
  const ValueId dense = net.linear(name + ".dense", x, sizes.width, sizes.width, true);
  JC_ASSIGN_OR_RETURN(const ValueId active, net.activation(sizes.activation, dense));
  const ValueId normed = net.layer_norm(name + ".LayerNorm", active, sizes.width);
  return net.add(Linear{}, {normed, table, net.weight("cls.predictions.bias", {sizes.vocabulary})});
}

}  // namespace

Result<void> write_bert(Config& config, Net& net) {
  const Sizes sizes = read(config);
  const std::int64_t labels = config.labels();
  JC_RETURN_IF_ERROR(config.check());
  const ValueId ids = token_ids(net, "input_ids", "sequence");
  const ValueId table = net.weight("bert.embeddings.word_embeddings.weight", {sizes.vocabulary, sizes.width});
  ValueId x = embeddings(net, "bert.embeddings", net.embedding(table, ids), net.positions(ids), sizes);
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    JC_ASSIGN_OR_RETURN(x, layer(net, fmt::format("bert.encoder.layer.{}", i), x, sizes));
  }
  if (has_head(config, "ForMaskedLM")) {
    // Its matrix is the embedding's, unless the config says otherwise.
    const bool tied = config.flag("tie_word_embeddings", true);
    JC_ASSIGN_OR_RETURN(
        x, words(net, x, tied ? table : net.weight("cls.predictions.decoder.weight", {sizes.vocabulary, sizes.width}),
                 sizes));
  } else if (has_head(config, "ForTokenClassification") || has_head(config, "ForQuestionAnswering")) {
    x = net.linear("classifier", net.dropout(x, sizes.dropout), sizes.width, labels, true);
  } else if (has_head(config, "ForSequenceClassification")) {
    x = net.linear("classifier", net.dropout(pooled(net, "bert", x, sizes), sizes.dropout), sizes.width, labels, true);
  } else {
    net.output(pooled(net, "bert", x, sizes));
  }
  net.output(x);
  return {};
}

}  // namespace joulecast::huggingface
