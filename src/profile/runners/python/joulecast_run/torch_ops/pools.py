# SPDX-License-Identifier: Apache-2.0
"""Pooling, resizing, pixel shuffles."""
import torch
from torch.nn import functional

from .kernel import of

_MAX = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
_AVERAGE = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}
_ADAPTIVE = {("average", 1): functional.adaptive_avg_pool1d, ("average", 2): functional.adaptive_avg_pool2d,
             ("average", 3): functional.adaptive_avg_pool3d, ("max", 2): functional.adaptive_max_pool2d}


def pool(context):
    kind, kernel = context.fields.text("kind", "max"), context.fields.integers("kernel")
    axes, ceil = len(kernel), context.fields.flag("ceil_mode")
    stride, dilation = context.list("stride", axes, 1), context.list("dilation", axes, 1)
    padding = context.list("padding_begin", axes, 0)
    if context.fields.flag("same_padding") or context.list("padding_end", axes, 0) != padding:
        context.refuse("padding that differs between the sides")
    functions = {"max": _MAX, "average": _AVERAGE}.get(kind) or context.refuse(kind)
    function = functions.get(axes) or context.refuse("over that many axes")
    if kind == "average":
        return of(context, lambda x: function(x, kernel, stride, padding, ceil), 0)
    if context.wants(1):
        context.refuse("with indices")
    return of(context, lambda x: function(x, kernel, stride, padding, dilation, ceil), 0)


def adaptive_pool(context):
    size = context.fields.integers("size")
    function = _ADAPTIVE.get((context.fields.text("kind", "average"), len(size))) or context.refuse("over that many axes")
    return of(context, lambda x: function(x, size), 0)


def resize(context):
    if context.rank(0) != 4:
        context.refuse("of other than images")
    size, kind = context.output().shape[2:], context.fields.text("kind", "nearest")
    if kind == "nearest":
        return of(context, lambda x: functional.interpolate(x, size, mode="nearest"), 0)
    mode = "bilinear" if kind == "linear" else "bicubic"
    return of(context, lambda x: functional.interpolate(x, size, mode=mode, align_corners=False), 0)


def grid_sample(context):
    mode = 1 if context.fields.text("kind", "linear") == "nearest" else 0
    return of(context, lambda x, grid: torch.grid_sampler(x, grid, mode, 0, False), 0, 1)


def pixel_shuffle(context):
    factor = context.fields.integer("factor", 1)
    function = functional.pixel_unshuffle if context.fields.flag("inverse") else functional.pixel_shuffle
    return of(context, lambda x: function(x, factor), 0)


OPERATORS = {"pool": pool, "adaptive_pool": adaptive_pool, "resize": resize, "grid_sample": grid_sample,
             "pixel_shuffle": pixel_shuffle}
