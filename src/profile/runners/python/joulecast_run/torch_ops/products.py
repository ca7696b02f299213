# SPDX-License-Identifier: Apache-2.0
"""Convolutions, linear layers, matrix products, attention."""
import math

import torch
from torch.nn import functional

from ..program import padding_of, same_padding
from .kernel import of


def conv(context):
    axes, fields = context.rank(0) - 2, context.fields
    stride, dilation = context.list("stride", axes, 1), context.list("dilation", axes, 1)
    begins, ends = padding_of(context)
    if fields.flag("same_padding"):
        begins, ends = same_padding(context, context.shape(1)[2:], stride, dilation)
    output_padding, groups = context.list("output_padding", axes, 0), fields.integer("groups", 1)
    transposed = fields.flag("transposed")
    # PyTorch pads both sides alike; a difference is a pad of its own, as its importers of other frameworks have it.
    extra = [more for begin, end in zip(reversed(begins), reversed(ends)) for more in (0, end - begin)]
    if begins == ends:
        return of(context, lambda x, weight, bias: torch.convolution(x, weight, bias, stride, begins, dilation, transposed,
                                                                     output_padding, groups), 0, 1, optional=(2,))
    if transposed:
        context.refuse("transposed with padding that differs between the sides")
    return of(context, lambda x, weight, bias: torch.convolution(functional.pad(x, extra), weight, bias, stride, begins, dilation,
                                                                 False, output_padding, groups), 0, 1, optional=(2,))


def linear(context):
    if context.fields.flag("weight_in_out"):
        return of(context, lambda x, weight, bias: functional.linear(x, weight.t(), bias), 0, 1, optional=(2,))
    return of(context, functional.linear, 0, 1, optional=(2,))


def matmul(context):
    turn_a, turn_b = context.fields.flag("transpose_a"), context.fields.flag("transpose_b")

    def run(a, b):
        return torch.matmul(a.transpose(-1, -2) if turn_a else a, b.transpose(-1, -2) if turn_b else b)

    return of(context, run, 0, 1)


def _attention_by_hand(context):
    """What a model writes out itself: products and a softmax, one by one."""
    scale = 1.0 / math.sqrt(max(context.shape(0)[3], 1))
    dropout = context.fields.real("dropout") if context.training else 0.0
    causal = context.fields.flag("causal")
    readers = context.shape(0)[1] // max(context.shape(1)[1], 1)  # heads that share a key

    def of_each_head(x):
        return x.repeat_interleave(readers, 1) if readers > 1 else x

    def run(q, k, v, mask):
        scores = torch.matmul(q * scale, of_each_head(k).transpose(-2, -1))
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -math.inf)
        return torch.matmul(functional.dropout(torch.softmax(scores, -1), dropout, dropout > 0.0), of_each_head(v))

    return of(context, run, 0, 1, 2, optional=(3,))


def attention(context):
    if context.fields.integer("window") > 0:
        context.refuse("PyTorch has no kernel for attention in a window")
    if context.fields.flag("by_hand"):
        return _attention_by_hand(context)
    causal = context.fields.flag("causal")
    dropout = context.fields.real("dropout") if context.training else 0.0
    shared_keys = context.rank(0) > 3 and context.shape(0)[1] != context.shape(1)[1]

    def run(q, k, v, mask):
        return functional.scaled_dot_product_attention(q, k, v, mask, dropout, causal, enable_gqa=shared_keys)

    return of(context, run, 0, 1, 2, optional=(3,))


OPERATORS = {"conv": conv, "linear": linear, "matmul": matmul, "attention": attention}
