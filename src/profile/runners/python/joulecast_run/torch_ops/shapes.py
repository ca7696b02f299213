# SPDX-License-Identifier: Apache-2.0
"""What changes the shape of a tensor or puts tensors together. The shapes that come out are in the program."""
import torch
from torch.nn import functional

from ..program import pads_of, slice_cuts, split_sizes
from .kernel import DTYPES, Kernel, of


def to_output_shape(context):
    shape = context.output().shape
    return of(context, lambda x: x.reshape(shape), 0)


def transpose(context):
    order = context.fields.integers("order") or list(reversed(range(context.rank(0))))
    return of(context, lambda x: x.permute(order), 0)


def expand(context):
    shape = context.output().shape
    return of(context, lambda x: x.expand(shape), 0)


def tile(context):
    repeats = context.integers(1)
    return of(context, lambda x: x.repeat(repeats), 0)


def concat(context):
    axis = context.axis(context.fields.integer("axis"))
    return of(context, lambda *parts: torch.cat(parts, axis), *range(len(context.step.inputs)))


def split(context):
    axis = context.axis(context.fields.integer("axis"))
    sizes = split_sizes(context, axis)
    return Kernel(lambda x: torch.split_with_sizes(x, sizes, axis), (context.in_id(0),), many=True)


def slice_(context):
    cuts = slice_cuts(context)

    def run(x):
        for axis, start, end, step in cuts:
            x = torch.ops.aten.slice.Tensor(x, axis, start, end, step)
        return x

    return of(context, run, 0)


def pad(context):
    begins, ends = pads_of(context)
    order = [one for pair in zip(reversed(begins), reversed(ends)) for one in pair]
    fill = context.number(2) or 0.0
    return of(context, lambda x: functional.pad(x, order, value=fill), 0)


def roll(context):
    shifts, axes = context.fields.integers("shifts"), context.fields.integers("axes")
    return of(context, lambda x: torch.roll(x, shifts, axes), 0)


def fill(context):
    value, shape, dtype = context.fields.real("value"), context.output().shape, DTYPES[context.output().element]
    device = context.device
    return of(context, lambda: torch.full(shape, value, dtype=dtype, device=device))


OPERATORS = {"reshape": to_output_shape, "flatten": to_output_shape, "squeeze": to_output_shape, "unsqueeze": to_output_shape,
             "transpose": transpose, "expand": expand, "tile": tile, "concat": concat, "split": split, "slice": slice_,
             "pad": pad, "roll": roll, "fill": fill}
