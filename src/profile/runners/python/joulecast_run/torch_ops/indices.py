# SPDX-License-Identifier: Apache-2.0
"""What reads or writes by index."""
import torch
from torch.nn import functional

from .kernel import DTYPES, Kernel, of


def gather(context):
    kind, axis = context.fields.text("kind", "slices"), context.axis(context.fields.integer("axis"))
    if kind == "elements":
        return of(context, lambda x, indices: torch.gather(x, axis, indices), 0, 1)
    if kind == "nd":  # indices [..., n] into the first n axes, as ONNX has them: one tensor an axis
        if context.fields.integer("batch_axes") != 0:
            context.refuse("nd with axes of batches")
        return of(context, lambda x, indices: x[indices.unbind(-1)], 0, 1)
    index = context.number(1)
    if index is not None and context.rank(1) == 0:  # one known index is a view, as x[:, 0] is
        index = int(index)
        return of(context, lambda x: x.select(axis, index), 0)
    shape = context.output().shape
    return of(context, lambda x, indices: torch.index_select(x, axis, indices.flatten()).reshape(shape), 0, 1)


def scatter(context):
    kind = context.fields.text("kind", "elements")
    if kind == "nd":
        return of(context, lambda x, indices, updates: torch.index_put(x, indices.unbind(-1), updates), 0, 1, 2)
    if kind != "elements":
        context.refuse(kind)
    axis = context.axis(context.fields.integer("axis"))
    return of(context, lambda x, indices, updates: torch.scatter(x, axis, indices, updates), 0, 1, 2)


def embedding(context):
    return of(context, lambda table, indices: functional.embedding(indices, table), 0, 1)


def _known_integer(context, key):
    """An attribute, or the second input; None where neither tells."""
    known = context.fields.integer(key) if context.fields.has(key) else context.number(1)
    return None if known is None else int(known)


def one_hot(context):
    depth, dtype = _known_integer(context, "depth"), DTYPES[context.output().element]
    if depth is None or depth < 1 or context.fields.integer("axis", -1) != -1:
        context.refuse("with this axis or depth")
    return of(context, lambda x: functional.one_hot(x.to(torch.int64), depth).to(dtype), 0)


def top_k(context):
    k, axis = _known_integer(context, "k"), context.fields.integer("axis", -1)
    if k is None or k < 0:
        context.refuse("k depends on data")
    return Kernel(lambda x: torch.topk(x, k, axis), (context.in_id(0),), many=True)


OPERATORS = {"gather": gather, "scatter": scatter, "embedding": embedding, "one_hot": one_hot, "top_k": top_k}
