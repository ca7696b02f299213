# SPDX-License-Identifier: Apache-2.0
"""What changes the shape of a tensor or puts tensors together. The shapes that come out are in the program."""
from ..program import pads_of, slice_cuts, split_sizes


def to_output_shape(context):
    shape = context.output().shape
    return context.build.node("Reshape", [context.name(0), context.build.integers(shape)], allowzero=1)


def transpose(context):
    order = context.fields.integers("order") or list(reversed(range(context.rank(0))))
    return context.build.node("Transpose", [context.name(0)], perm=order)


def expand(context):
    return context.build.node("Expand", [context.name(0), context.build.integers(context.output().shape)])


def tile(context):
    return context.build.node("Tile", [context.name(0), context.build.integers(context.integers(1))])


def concat(context):
    axis = context.axis(context.fields.integer("axis"))
    return context.build.node("Concat", [context.name(i) for i in range(len(context.step.inputs))], axis=axis)


def split(context):
    axis = context.axis(context.fields.integer("axis"))
    sizes = split_sizes(context, axis)
    made = context.build.node("Split", [context.name(0), context.build.integers(sizes)], outputs=len(sizes), axis=axis)
    return made


def _slice(context, name, cuts):
    lists = [context.build.integers(list(column)) for column in zip(*((start, end, axis, step) for axis, start, end, step in cuts))]
    return context.build.node("Slice", [name, *lists])


def slice_(context):
    cuts = slice_cuts(context)
    return _slice(context, context.name(0), cuts) if cuts else context.build.node("Identity", [context.name(0)])


def pad(context):
    begins, ends = pads_of(context)
    fill = context.build.constant(context.number(2) or 0, context.element(0))
    return context.build.node("Pad", [context.name(0), context.build.integers(begins + ends), fill])


def roll(context):
    """Along each axis its end, then its beginning."""
    name, fields = context.name(0), context.fields
    for axis, shift in zip(fields.integers("axes"), fields.integers("shifts")):
        axis = context.axis(axis)
        extent = context.shape(0)[axis]
        turned = shift % max(extent, 1)
        if turned:
            ranges = ((extent - turned, extent), (0, extent - turned))
            parts = [_slice(context, name, [(axis, begin, end, 1)]) for begin, end in ranges]
            name = context.build.node("Concat", parts, axis=axis)
    return name if name != context.name(0) else context.build.node("Identity", [name])


def fill(context):
    value = context.output()
    return context.build.filled(value.shape, context.fields.real("value"), value.element)


OPERATORS = {"reshape": to_output_shape, "flatten": to_output_shape, "squeeze": to_output_shape, "unsqueeze": to_output_shape,
             "transpose": transpose, "expand": expand, "tile": tile, "concat": concat, "split": split, "slice": slice_,
             "pad": pad, "roll": roll, "fill": fill}
