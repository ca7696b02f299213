# SPDX-License-Identifier: Apache-2.0
"""hwgpt:NAME, decoders as HW-GPT-Bench's (automl/HW-GPT-Bench): layers differ in their heads and in the width of their MLP.

NAME is WIDTH_HEADS_RATIOS, with `_bias` after it where linear layers have one; HEADS and RATIOS have a number for each layer
with '.' between: 768_12.8.4_4.2.3. What ran is read from its code and from the counts of parameters in its table, which all
30,017 come out: heads of 64, a gated MLP, norms with a bias, attention and MLP side by side on the same input, rotary
embeddings of a quarter of a head that every layer makes anew, 50,254 tokens, embedding and head apart.
"""

from __future__ import annotations

import re

import torch

from zoo import weightless
from zoo.network import Input, Network, Options, UnsupportedNetwork

HEAD = 64
ROTARY = HEAD // 4
TOKENS = 50254
_NAME = re.compile(r"(\d+)_(\d+(?:\.\d+)*)_(\d+(?:\.\d+)*)(_bias)?")


def _angles(length: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    steps = torch.arange(0, ROTARY, 2, device=device).float() / ROTARY
    angles = torch.outer(torch.arange(length, device=device), 1.0 / 10000**steps).repeat(1, 2)
    return torch.cos(angles), torch.sin(angles)


def _turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """The first numbers of each head by their positions, the others as they are."""
    part = x[..., :ROTARY]
    swapped = torch.cat((-part[..., ROTARY // 2 :], part[..., : ROTARY // 2]), dim=-1)
    return torch.cat(((part * cos + swapped * sin).to(x.dtype), x[..., ROTARY:]), dim=-1)


class _Attention(torch.nn.Module):
    def __init__(self, width: int, heads: int, bias: bool) -> None:
        super().__init__()
        self.heads = heads
        self.attn = torch.nn.Linear(width, 3 * HEAD * heads, bias=bias)
        self.proj = torch.nn.Linear(HEAD * heads, width, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        qkv = self.attn(x).view(batch, length, self.heads, 3, HEAD).permute(0, 2, 3, 1, 4)
        q, k, v = (part.reshape(batch, self.heads, length, HEAD) for part in qkv.split(1, dim=2))
        cos, sin = _angles(length, x.device)
        q, k = _turned(q, cos, sin), _turned(k, cos, sin)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(batch, length, HEAD * self.heads))


class _Mlp(torch.nn.Module):
    def __init__(self, width: int, ratio: int, bias: bool) -> None:
        super().__init__()
        self.fc_1 = torch.nn.Linear(width, ratio * width, bias=bias)
        self.fc_2 = torch.nn.Linear(width, ratio * width, bias=bias)
        self.proj = torch.nn.Linear(ratio * width, width, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.proj(torch.nn.functional.silu(self.fc_1(x)) * self.fc_2(x))


class _Block(torch.nn.Module):
    def __init__(self, width: int, heads: int, ratio: int, bias: bool) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.attn, self.mlp = _Attention(width, heads, bias), _Mlp(width, ratio, bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.mlp(self.norm_2(x)) + self.attn(self.norm_1(x)) + x


class _Gpt(torch.nn.Module):
    def __init__(self, width: int, layers: list[tuple[int, int]], bias: bool) -> None:
        super().__init__()
        self.wte = torch.nn.Embedding(TOKENS, width)
        self.h = torch.nn.ModuleList(_Block(width, heads, ratio, bias) for heads, ratio in layers)
        self.ln_f = torch.nn.LayerNorm(width)
        self.lm_head = torch.nn.Linear(width, TOKENS, bias=False)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        x = self.wte(input_ids)
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(".")]


def build(name: str, options: Options) -> Network:
    found = _NAME.fullmatch(name)
    heads, ratios = (_numbers(found[2]), _numbers(found[3])) if found else ([], [])
    if not found or len(heads) != len(ratios):
        raise UnsupportedNetwork(f"hwgpt:{name}: expected WIDTH_HEADS_RATIOS[_bias], as 768_12.8.4_4.2.3")
    layers = list(zip(heads, ratios, strict=True))
    network = Network(
        weightless.make(lambda: _Gpt(int(found[1]), layers, found[4] is not None)),
        {"input_ids": Input(("batch", "sequence"), torch.int64, TOKENS)},
        {"batch": options.batch, "sequence": options.sequence or 16},
        ["logits"],
        {"logits": {0: "batch", 1: "sequence"}},
    )
    network.weightless = True
    return network
