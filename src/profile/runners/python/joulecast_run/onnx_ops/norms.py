# SPDX-License-Identifier: Apache-2.0
"""Normalisations."""
EPSILON = 1e-5


def _or_filled(context, i, shape, number):
    return context.name(i) if context.has(i) else context.build.filled(shape, number, context.element(0))


def _channels(context):
    return [context.shape(0)[1]]


def batch_norm(context):
    own = [_or_filled(context, i, _channels(context), number) for i, number in ((1, 1.0), (2, 0.0), (3, 0.0), (4, 1.0))]
    return context.build.node("BatchNormalization", [context.name(0), *own], epsilon=EPSILON)


def _last_extents(context):
    axes = context.fields.integer("axes", 1)
    if not 1 <= axes <= context.rank(0):
        context.refuse("over more axes than there are")
    return context.shape(0)[-axes:]


def _layer_norm(context, x, extents):
    inputs = [x, _or_filled(context, 1, extents, 1.0)] + ([context.name(2)] if context.has(2) else [])
    return context.build.node("LayerNormalization", inputs, axis=-len(extents), epsilon=EPSILON)


def layer_norm(context):
    if not context.fields.flag("channels_first"):
        return _layer_norm(context, context.name(0), _last_extents(context))
    rank = context.rank(0)
    turned = context.build.node("Transpose", [context.name(0)], perm=[0, *range(2, rank), 1])
    made = _layer_norm(context, turned, _channels(context))
    return context.build.node("Transpose", [made], perm=[0, rank - 1, *range(1, rank - 1)])


def rms_norm(context):
    """As exporters write it: the operator of that name is younger than this opset."""
    build, element, x = context.build, context.element(0), context.name(0)
    axes = build.integers(range(-len(_last_extents(context)), 0))
    mean = build.node("ReduceMean", [build.node("Mul", [x, x]), axes], keepdims=1)
    root = build.node("Sqrt", [build.node("Add", [mean, build.constant(EPSILON, element)])])
    out = build.node("Div", [x, root])
    return build.node("Mul", [out, context.name(1)]) if context.has(1) else out


def group_norm(context):
    own = [_or_filled(context, i, _channels(context), number) for i, number in ((1, 1.0), (2, 0.0))]
    made = context.build.node("GroupNormalization", [context.name(0), *own], epsilon=EPSILON,
                              num_groups=context.fields.integer("groups", 1))
    return context.build.declare(made, context.element(0), context.shape(0))


def instance_norm(context):
    own = [_or_filled(context, i, _channels(context), number) for i, number in ((1, 1.0), (2, 0.0))]
    return context.build.node("InstanceNormalization", [context.name(0), *own], epsilon=EPSILON)


OPERATORS = {"batch_norm": batch_norm, "layer_norm": layer_norm, "rms_norm": rms_norm, "group_norm": group_norm,
             "instance_norm": instance_norm}
