# SPDX-License-Identifier: Apache-2.0
"""Convolutions, linear layers, matrix products, attention."""
import math

import numpy

from ..program import padding_of, same_padding


def conv(context):
    axes, fields = context.rank(0) - 2, context.fields
    stride, dilation = context.list("stride", axes, 1), context.list("dilation", axes, 1)
    begins, ends = padding_of(context)
    if fields.flag("same_padding"):
        begins, ends = same_padding(context, context.shape(1)[2:], stride, dilation)
    inputs = [context.name(0), context.name(1)] + ([context.name(2)] if context.has(2) else [])
    attributes = {"strides": stride, "dilations": dilation, "pads": begins + ends, "group": fields.integer("groups", 1)}
    if fields.flag("transposed"):
        return context.build.node("ConvTranspose", inputs, output_padding=context.list("output_padding", axes, 0), **attributes)
    return context.build.node("Conv", inputs, **attributes)


def _swapped(context, name, rank):
    return context.build.node("Transpose", [name], perm=[*range(rank - 2), rank - 1, rank - 2])


def linear(context):
    build, turned, bias = context.build, context.fields.flag("weight_in_out"), context.optional_name(2)
    if context.rank(0) == 2:
        return build.node("Gemm", [context.name(0), context.name(1)] + ([bias] if bias else []), transB=0 if turned else 1)
    # Of a weight that is an initializer the transpose is one too, before anything runs.
    product = build.node("MatMul", [context.name(0), context.name(1) if turned else _swapped(context, context.name(1), 2)])
    return build.node("Add", [product, bias]) if bias else product


def matmul(context):
    names = []
    for i, flag in enumerate(("transpose_a", "transpose_b")):
        names.append(_swapped(context, context.name(i), context.rank(i)) if context.fields.flag(flag) else context.name(i))
    return context.build.node("MatMul", names)


def _all_heads(context, i):
    """Keys or values shared by several heads, once for each."""
    if context.rank(i) != 4 or context.shape(0)[1] == context.shape(i)[1]:
        return context.name(i)
    heads, (batch, own, length, width), build = context.shape(0)[1], context.shape(i), context.build
    if own == 0 or heads % own:
        context.refuse("heads that share keys unevenly")
    apart = build.node("Unsqueeze", [context.name(i), build.integers([2])])
    repeated = build.node("Expand", [apart, build.integers([batch, own, heads // own, length, width])])
    return build.node("Reshape", [repeated, build.integers([batch, heads, length, width])])


# Of each element type, as exporters fill masks: of a row that is masked as a whole an infinity would make no number.
LOWEST = {"f64": -1.7976931348623157e308, "f32": -3.4028234663852886e38, "f16": -65504.0, "bf16": -3.3895313892515355e38}


def _masked(context, scores):
    build, element = context.build, context.element(0)
    lowest = build.constant(LOWEST.get(element) or context.refuse(f"of {element}"), element)
    if context.has(3):
        mask = context.name(3)
        if context.element(3) == "bool":
            mask = build.node("Where", [mask, build.constant(0.0, element), lowest])
        scores = build.node("Add", [scores, mask])
    if context.fields.flag("causal"):
        lower = numpy.tri(context.shape(0)[-2], context.shape(1)[-2], dtype=bool)
        scores = build.node("Where", [build.array(lower), scores, lowest])
    return scores


def attention(context):
    """Two products and a softmax, as exporters write it; ONNX Runtime fuses of it what it knows."""
    build, axes = context.build, context.rank(0)
    scale = build.constant(1.0 / math.sqrt(max(context.shape(0)[-1], 1)), context.element(0))
    keys = build.node("Transpose", [_all_heads(context, 1)], perm=[*range(axes - 2), axes - 1, axes - 2])
    scores = build.node("MatMul", [build.node("Mul", [context.name(0), scale]), keys])
    shares = build.node("Softmax", [_masked(context, scores)], axis=-1)
    return build.node("MatMul", [shares, _all_heads(context, 2)])


OPERATORS = {"conv": conv, "linear": linear, "matmul": matmul, "attention": attention}
