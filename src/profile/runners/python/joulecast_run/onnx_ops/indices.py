# SPDX-License-Identifier: Apache-2.0
"""What reads or writes by index."""


def gather(context):
    kind, inputs = context.fields.text("kind", "slices"), [context.name(0), context.name(1)]
    if kind == "nd":
        return context.build.node("GatherND", inputs, batch_dims=context.fields.integer("batch_axes"))
    axis = context.axis(context.fields.integer("axis"))
    return context.build.node("GatherElements" if kind == "elements" else "Gather", inputs, axis=axis)


def scatter(context):
    kind, inputs = context.fields.text("kind", "elements"), [context.name(i) for i in range(3)]
    if kind == "nd":
        return context.build.node("ScatterND", inputs)
    if kind != "elements":
        context.refuse(kind)
    return context.build.node("ScatterElements", inputs, axis=context.axis(context.fields.integer("axis")))


def embedding(context):
    return context.build.node("Gather", [context.name(0), context.name(1)], axis=0)


def _known_integer(context, key):
    known = context.fields.integer(key) if context.fields.has(key) else context.number(1)
    return None if known is None else int(known)


def one_hot(context):
    depth, build = _known_integer(context, "depth"), context.build
    if depth is None or depth < 1:
        context.refuse("with this depth")
    values = build.constant([0, 1], context.output().element, [2])
    return build.node("OneHot", [context.name(0), build.constant(depth, "i64"), values], axis=context.fields.integer("axis", -1))


def top_k(context):
    k = _known_integer(context, "k")
    if k is None or k < 0:
        context.refuse("k depends on data")
    inputs = [context.name(0), context.build.integers([k])]
    return context.build.node("TopK", inputs, outputs=2, axis=context.fields.integer("axis", -1))


OPERATORS = {"gather": gather, "scatter": scatter, "embedding": embedding, "one_hot": one_hot, "top_k": top_k}
