# SPDX-License-Identifier: Apache-2.0
"""Activations, softmax, dropout."""
# Operators of ONNX, with the constants that torch.nn has by default.
NAMED = {
    "relu": ("Relu", {}),
    "leaky_relu": ("LeakyRelu", {"alpha": 0.01}),
    "elu": ("Elu", {"alpha": 1.0}),
    "selu": ("Selu", {}),
    "celu": ("Celu", {"alpha": 1.0}),
    "gelu": ("Gelu", {}),
    "gelu_tanh": ("Gelu", {"approximate": "tanh"}),
    "hardswish": ("HardSwish", {}),
    "hardsigmoid": ("HardSigmoid", {"alpha": 1.0 / 6.0, "beta": 0.5}),
    "sigmoid": ("Sigmoid", {}),
    "tanh": ("Tanh", {}),
    "softplus": ("Softplus", {}),
    "softsign": ("Softsign", {}),
    "mish": ("Mish", {}),
    "threshold": ("ThresholdedRelu", {"alpha": 0.0}),
    "shrink": ("Shrink", {"bias": 0.5, "lambd": 0.5}),
}


def _gated(build, x, by):
    return build.node("Mul", [x, build.node("Sigmoid", [by])])


def _log_sigmoid(context):
    build = context.build
    return build.node("Neg", [build.node("Softplus", [build.node("Neg", [context.name(0)])])])


def _glu(context):
    axis, build = context.rank(0) - 1, context.build
    half = context.shape(0)[axis] // 2
    values, gates = build.node("Split", [context.name(0), build.integers([half, half])], outputs=2, axis=axis)
    return _gated(build, values, gates)


def _clip(context):
    bounds = []
    for i in (1, 2):
        number = context.number(i)
        if context.has(i) and number is None:
            context.refuse("bounds that depend on data")
        bounds.append("" if number is None else context.build.constant(number, context.element(0)))
    return context.build.node("Clip", [context.name(0), *bounds])


def _prelu(context):
    """The slope is the channels' own: it stands before the axes of space."""
    build, elements = context.build, context.input(1).elements
    shape = [elements] + [1] * max(context.rank(0) - 2, 0) if elements > 1 else [1]
    return build.node("PRelu", [context.name(0), build.node("Reshape", [context.name(1), build.integers(shape)])])


def _relu6(context):
    bounds = [context.build.constant(number, context.element(0)) for number in (0, 6)]
    return context.build.node("Clip", [context.name(0), *bounds])


def _quick_gelu(context):
    scaled = context.build.node("Mul", [context.name(0), context.build.constant(1.702, context.element(0))])
    return _gated(context.build, context.name(0), scaled)


COMPOSED = {"log_sigmoid": _log_sigmoid, "glu": _glu, "clip": _clip, "prelu": _prelu, "relu6": _relu6,
            "quick_gelu": _quick_gelu, "silu": lambda context: _gated(context.build, context.name(0), context.name(0))}


def activation(context):
    kind = context.fields.text("kind", "relu")
    if kind in COMPOSED:
        return COMPOSED[kind](context)
    name, attributes = NAMED.get(kind) or context.refuse(kind)
    return context.build.node(name, [context.name(0)], **attributes)


def softmax(context):
    name = "LogSoftmax" if context.fields.flag("log") else "Softmax"
    return context.build.node(name, [context.name(0)], axis=context.fields.integer("axis", -1))


def nothing(context):
    """In inference."""
    return context.build.node("Identity", [context.name(0)])


OPERATORS = {"activation": activation, "softmax": softmax, "dropout": nothing, "stochastic_depth": nothing}
