"""neusight:NAME, the transformers of NeuSight's whole-network measurements (sitar-lab/NeuSight, ASPLOS 2025).

What ran is read from its tracing code and from the shapes in its tables of operators: transformers of Hugging Face with
eager attention, called with token ids alone. NAME is the table's name for the pass in inference, NAME_training for the one
that was trained: there BERT has the heads of its pre-training, and dropout is active.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

from zoo import torchvision_ops, weightless
from zoo.network import Input, Network, Options, UnsupportedNetwork

os.environ.setdefault("HF_HUB_OFFLINE", "1")
torchvision_ops.ensure()

import transformers  # noqa: E402


class _TokensAlone(torch.nn.Module):
    """Token ids to one output, as a plain tensor. Networks of then made a mask of ones for themselves."""

    def __init__(self, module: torch.nn.Module, output: str) -> None:
        super().__init__()
        self.module, self.output = module, output

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        cache = {"use_cache": False} if self.output == "logits" and hasattr(self.module, "lm_head") else {}
        found = self.module(input_ids=input_ids, attention_mask=torch.ones_like(input_ids), **cache)
        return getattr(found, self.output)


# What makes a network, and the output that is read.
_Maker = tuple[Callable[[], Any], str]


def _eager(kind: Any, config: Any) -> Callable[[], Any]:
    return lambda: kind._from_config(config, attn_implementation="eager")


def _bert(training: bool) -> _Maker:
    config = transformers.BertConfig(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096
    )
    if training:
        return _eager(transformers.BertForPreTraining, config), "prediction_logits"
    return _eager(transformers.BertForSequenceClassification, config), "logits"


def _gpt(width: int, layers: int, heads: int, positions: int) -> Callable[[bool], _Maker]:
    def make(_: bool) -> _Maker:
        config = transformers.GPT2Config(n_embd=width, n_layer=layers, n_head=heads, n_positions=positions)
        return _eager(transformers.GPT2LMHeadModel, config), "logits"

    return make


def _opt(_: bool) -> _Maker:
    config = transformers.OPTConfig(
        hidden_size=2048, num_hidden_layers=24, num_attention_heads=32, ffn_dim=8192, word_embed_proj_dim=2048
    )
    return _eager(transformers.OPTForCausalLM, config), "logits"


# Widths and heads by the shapes of the operators; GPT-3 ran as GPT-2 of its size.
_NETWORKS: dict[str, Callable[[bool], _Maker]] = {
    "bert_large": _bert,
    "gpt2_large": _gpt(1280, 36, 20, 1024),
    "gpt3_xl": _gpt(3072, 24, 24, 2048),
    "gpt3_27": _gpt(2560, 32, 32, 2048),
    "opt_13": _opt,
}


def build(name: str, options: Options) -> Network:
    model = name.removesuffix("_training")
    if model not in _NETWORKS:
        raise UnsupportedNetwork(f"neusight:{name}: not among {', '.join(_NETWORKS)}")
    make, output = _NETWORKS[model](name != model)
    network = Network(
        _TokensAlone(weightless.make(make), output),
        {"input_ids": Input(("batch", "sequence"), torch.int64, 30000)},
        {"batch": options.batch, "sequence": options.sequence or 16},
        [output],
        {output: {0: "batch"} | ({} if output == "logits" and model == "bert_large" else {1: "sequence"})},
    )
    network.training = name != model
    network.weightless = True
    return network
