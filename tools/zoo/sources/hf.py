"""hf:NAME, networks of transformers and diffusers, built from configurations (nothing is downloaded).

NAME is one of the presets below, or a model type of transformers ("roberta", "dinov2"): then its default configuration.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

from zoo import torchvision_ops
from zoo.network import Input, Network, Options, UnsupportedNetwork

os.environ.setdefault("HF_HUB_OFFLINE", "1")
torchvision_ops.ensure()

import transformers  # noqa: E402


class _Named(torch.nn.Module):
    """Passes its arguments on by name and returns one output, as a plain tensor."""

    def __init__(self, module: torch.nn.Module, names: list[str], output: str, constants: dict[str, Any]) -> None:
        super().__init__()
        self.module = module
        self.names, self.output, self.constants = names, output, constants

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        return getattr(self.module(**dict(zip(self.names, tensors, strict=True)), **self.constants), self.output)


def _network(
    module: torch.nn.Module, inputs: dict[str, Input], sizes: dict[str, int], output: str, axes: str, **constants: Any
) -> Network:
    """axes: the symbols of the output's first dimensions, "batch sequence"."""
    wrapped = _Named(module, list(inputs), output, constants)
    name = f"{output}_out" if output in inputs else output  # the UNet calls both "sample"
    return Network(wrapped, inputs, sizes, [name], {name: dict(enumerate(axes.split()))})


def _tokens(vocabulary: int, symbol: str = "sequence") -> Input:
    return Input(("batch", symbol), torch.int64, vocabulary)


def _mask(symbol: str = "sequence") -> Input:
    return Input(("batch", symbol), torch.int64, ones=True)


def _text_sizes(options: Options) -> dict[str, int]:
    return {"batch": options.batch, "sequence": options.sequence or 128}


def _encoder(config: Any, options: Options) -> Network:
    """BERT and its like: token ids, mask and perhaps segment ids to hidden states."""
    inputs = {"input_ids": _tokens(config.vocab_size), "attention_mask": _mask()}
    if config.model_type in ("bert", "electra", "albert", "mobilebert"):
        inputs["token_type_ids"] = Input(("batch", "sequence"), torch.int64, 2)
    module = transformers.AutoModel.from_config(config)
    return _network(module, inputs, _text_sizes(options), "last_hidden_state", "batch sequence")


def _causal(config: Any, options: Options) -> Network:
    """GPT and Llama: one pass over a whole prompt, no cache of keys and values."""
    module = transformers.AutoModelForCausalLM.from_config(config)
    inputs = {"input_ids": _tokens(config.vocab_size), "attention_mask": _mask()}
    return _network(module, inputs, _text_sizes(options), "logits", "batch sequence", use_cache=False)


def _sequence_to_sequence(config: Any, options: Options) -> Network:
    module = transformers.AutoModelForSeq2SeqLM.from_config(config)
    inputs = {
        "input_ids": _tokens(config.vocab_size),
        "attention_mask": _mask(),
        "decoder_input_ids": _tokens(config.vocab_size, "decoder_sequence"),
    }
    sizes = _text_sizes(options) | {"decoder_sequence": 64}
    return _network(module, inputs, sizes, "logits", "batch decoder_sequence", use_cache=False)


def _image(config: Any, options: Options, output: str = "last_hidden_state") -> Network:
    if options.image_size:
        config.image_size = options.image_size
    size = getattr(config, "image_size", 224)
    module = transformers.AutoModel.from_config(config)
    inputs = {"pixel_values": Input(("batch", 3, size, size))}
    return _network(module, inputs, {"batch": options.batch}, output, "batch")


def _whisper_encoder(config: Any, options: Options) -> Network:
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    steps = 2 * config.max_source_positions  # fixed: the positions are learned for 30 s of sound
    inputs = {"input_features": Input(("batch", config.num_mel_bins, steps))}
    return _network(WhisperEncoder(config), inputs, {"batch": options.batch}, "last_hidden_state", "batch")


def _whisper(config: Any, options: Options) -> Network:
    module = transformers.WhisperForConditionalGeneration(config)
    inputs = {
        "input_features": Input(("batch", config.num_mel_bins, 2 * config.max_source_positions)),
        "decoder_input_ids": _tokens(config.vocab_size),
    }
    sizes = {"batch": options.batch, "sequence": options.sequence or 64}
    return _network(module, inputs, sizes, "logits", "batch sequence", use_cache=False)


def _sound(config: Any, options: Options) -> Network:
    module = transformers.AutoModel.from_config(config)
    inputs = {"input_values": Input(("batch", "samples"))}
    sizes = {"batch": options.batch, "samples": options.sequence or 16000}
    return _network(module, inputs, sizes, "last_hidden_state", "batch frames")


def _clip_text(options: Options) -> Network:
    config = transformers.CLIPTextConfig()
    inputs = {"input_ids": _tokens(config.vocab_size)}
    sizes = {"batch": options.batch, "sequence": options.sequence or 77}
    return _network(transformers.CLIPTextModel(config), inputs, sizes, "last_hidden_state", "batch sequence")


def _segformer(options: Options) -> Network:
    module = transformers.SegformerForSemanticSegmentation(transformers.SegformerConfig())
    size = options.image_size or 512
    inputs = {"pixel_values": Input(("batch", 3, size, size))}
    return _network(module, inputs, {"batch": options.batch}, "logits", "batch")


def _unet(options: Options, dtype: torch.dtype = torch.float32, **shape: Any) -> Network:
    import diffusers

    module: Any = diffusers.UNet2DConditionModel(**shape)
    module.to(dtype)
    side = (options.image_size or 512) // 8
    inputs = {
        "sample": Input(("batch", 4, side, side), dtype),
        "timestep": Input((), torch.int64, 1000),
        "encoder_hidden_states": Input(("batch", "sequence", module.config.cross_attention_dim), dtype),
    }
    sizes = {"batch": options.batch, "sequence": options.sequence or 77}
    return _network(module, inputs, sizes, "sample", "batch", return_dict=True)


def _vae_decoder(options: Options) -> Network:
    import diffusers

    blocks = {"down_block_types": ("DownEncoderBlock2D",) * 4, "up_block_types": ("UpDecoderBlock2D",) * 4}
    module: Any = diffusers.AutoencoderKL(block_out_channels=(128, 256, 512, 512), layers_per_block=2, **blocks)
    side = (options.image_size or 256) // 8
    inputs = {"input": Input(("batch", 4, side, side))}
    return Network(module.decoder, inputs, {"batch": options.batch})


def _llama(**shape: Any) -> Any:
    return transformers.LlamaConfig(
        vocab_size=32000, max_position_embeddings=2048, num_key_value_heads=4, num_attention_heads=12, **shape
    )


_SD15 = {"cross_attention_dim": 768, "attention_head_dim": 8}

_PRESETS: dict[str, Callable[[Options], Network]] = {
    "bert_base": lambda o: _encoder(transformers.BertConfig(), o),
    "bert_large": lambda o: _encoder(
        transformers.BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096),
        o,
    ),
    "bert_tiny": lambda o: _encoder(
        transformers.BertConfig(hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=512), o
    ),
    "distilbert": lambda o: _encoder(transformers.DistilBertConfig(), o),
    "roberta_base": lambda o: _encoder(transformers.RobertaConfig(), o),
    "albert_base": lambda o: _encoder(
        transformers.AlbertConfig(hidden_size=768, num_attention_heads=12, intermediate_size=3072), o
    ),
    "electra_small": lambda o: _encoder(transformers.ElectraConfig(), o),
    "mobilebert": lambda o: _encoder(transformers.MobileBertConfig(), o),
    "deberta_v2": lambda o: _encoder(
        transformers.DebertaV2Config(
            hidden_size=768, num_hidden_layers=6, num_attention_heads=12, intermediate_size=3072
        ),
        o,
    ),
    "modernbert": lambda o: _encoder(transformers.ModernBertConfig(), o),
    "gpt2": lambda o: _causal(transformers.GPT2Config(), o),
    "gpt2_medium": lambda o: _causal(transformers.GPT2Config(n_embd=1024, n_layer=24, n_head=16), o),
    "gpt2_498m": lambda o: _causal(transformers.GPT2Config(n_embd=1280, n_layer=22, n_head=20), o),  # nearly 2 GB
    "opt_125m": lambda o: _causal(transformers.OPTConfig(), o),
    "bloom_small": lambda o: _causal(
        transformers.BloomConfig(vocab_size=50000, hidden_size=512, n_layer=8, n_head=8), o
    ),
    "pythia_160m": lambda o: _causal(
        transformers.GPTNeoXConfig(
            hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072
        ),
        o,
    ),
    "llama_160m": lambda o: _causal(_llama(hidden_size=768, num_hidden_layers=12, intermediate_size=2048), o),
    "mistral_small": lambda o: _causal(
        transformers.MistralConfig(
            hidden_size=768,
            num_hidden_layers=8,
            num_attention_heads=12,
            num_key_value_heads=4,
            intermediate_size=2048,
        ),
        o,
    ),
    "qwen2_small": lambda o: _causal(
        transformers.Qwen2Config(
            vocab_size=50000,
            hidden_size=768,
            num_hidden_layers=8,
            num_attention_heads=12,
            num_key_value_heads=4,
            intermediate_size=2048,
        ),
        o,
    ),
    "gemma_small": lambda o: _causal(
        transformers.GemmaConfig(
            vocab_size=50000,
            hidden_size=768,
            num_hidden_layers=8,
            num_attention_heads=12,
            num_key_value_heads=1,
            head_dim=64,
            intermediate_size=3072,
        ),
        o,
    ),
    "phi_small": lambda o: _causal(
        transformers.PhiConfig(hidden_size=768, num_hidden_layers=8, num_attention_heads=12, intermediate_size=3072),
        o,
    ),
    "mixtral_small": lambda o: _causal(
        transformers.MixtralConfig(
            hidden_size=512,
            num_hidden_layers=4,
            num_attention_heads=8,
            num_key_value_heads=4,
            intermediate_size=1024,
            num_local_experts=4,
        ),
        o,
    ),
    "t5_small": lambda o: _sequence_to_sequence(transformers.T5Config(), o),
    "bart_base": lambda o: _sequence_to_sequence(
        transformers.BartConfig(
            d_model=768,
            encoder_layers=6,
            decoder_layers=6,
            encoder_attention_heads=12,
            decoder_attention_heads=12,
            encoder_ffn_dim=3072,
            decoder_ffn_dim=3072,
        ),
        o,
    ),
    "vit_base": lambda o: _image(transformers.ViTConfig(), o),
    "deit_base": lambda o: _image(transformers.DeiTConfig(), o),
    "beit_base": lambda o: _image(transformers.BeitConfig(), o),
    "swin_tiny": lambda o: _image(transformers.SwinConfig(), o),
    "swinv2_tiny": lambda o: _image(transformers.Swinv2Config(), o),
    "dinov2_base": lambda o: _image(transformers.Dinov2Config(image_size=224), o),
    "convnext_tiny": lambda o: _image(transformers.ConvNextConfig(), o),
    "resnet_50": lambda o: _image(transformers.ResNetConfig(), o),
    "clip_vision": lambda o: _image(transformers.CLIPVisionConfig(), o),
    "clip_text": _clip_text,
    "segformer_b0": _segformer,
    "whisper_tiny_encoder": lambda o: _whisper_encoder(transformers.WhisperConfig(), o),
    "whisper_base_encoder": lambda o: _whisper_encoder(
        transformers.WhisperConfig(d_model=512, encoder_layers=6, encoder_attention_heads=8, encoder_ffn_dim=2048),
        o,
    ),
    "whisper_tiny": lambda o: _whisper(transformers.WhisperConfig(), o),
    "wav2vec2_base": lambda o: _sound(transformers.Wav2Vec2Config(), o),
    "unet_small": lambda o: _unet(o, block_out_channels=(64, 128, 256, 256), cross_attention_dim=512),
    "unet_sd15_half": lambda o: _unet(o, torch.float16, **_SD15),
    "vae_decoder": _vae_decoder,
}


def build(name: str, options: Options) -> Network:
    if name in _PRESETS:
        return _PRESETS[name](options)
    try:
        config = transformers.AutoConfig.for_model(name)
    except ValueError as error:
        raise UnsupportedNetwork(f"no preset and no model type of transformers: '{name}'") from error
    kinds = (
        (transformers.MODEL_FOR_CAUSAL_LM_MAPPING, _causal),
        (transformers.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING, _image),
        (transformers.MODEL_MAPPING, _encoder),
    )
    if getattr(config, "image_size", None) and type(config) in transformers.MODEL_MAPPING:
        return _image(config, options)
    for mapping, make in kinds:
        if type(config) in mapping:
            return make(config, options)
    raise UnsupportedNetwork(f"hf:{name}: no default inputs are known for this model type")
