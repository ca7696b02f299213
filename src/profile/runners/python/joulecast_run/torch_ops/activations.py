# SPDX-License-Identifier: Apache-2.0
"""Activations, softmax, dropout."""
import torch
from torch.nn import functional

from .kernel import of

# Those without parameters, as torch.nn has them by default.
PLAIN = {
    "relu": functional.relu,
    "relu6": functional.relu6,
    "leaky_relu": functional.leaky_relu,
    "elu": functional.elu,
    "selu": functional.selu,
    "celu": functional.celu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": functional.silu,
    "hardswish": functional.hardswish,
    "hardsigmoid": functional.hardsigmoid,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "softplus": functional.softplus,
    "softsign": functional.softsign,
    "mish": functional.mish,
    "log_sigmoid": functional.logsigmoid,
    "threshold": lambda x: functional.threshold(x, 0, 0),
    "shrink": functional.softshrink,
    "glu": lambda x: functional.glu(x, -1),
}


def _clip(context):
    low, high = context.number(1), context.number(2)
    if (context.has(1) and low is None) or (context.has(2) and high is None):
        context.refuse("bounds that depend on data")
    if low is None and high is None:
        return of(context, lambda x: x, 0)
    return of(context, lambda x: torch.clamp(x, low, high), 0)


def activation(context):
    kind = context.fields.text("kind", "relu")
    if kind == "clip":
        return _clip(context)
    if kind == "prelu":
        return of(context, lambda x, slope: torch.prelu(x, slope.flatten()), 0, 1)
    return of(context, PLAIN.get(kind) or context.refuse(kind), 0)


def softmax(context):
    axis = context.fields.integer("axis", -1)
    function = torch.log_softmax if context.fields.flag("log") else torch.softmax
    return of(context, lambda x: function(x, axis), 0)


def dropout(context):
    probability, training = context.fields.real("probability", 0.5), context.training
    return of(context, lambda x: functional.dropout(x, probability, training), 0)


def stochastic_depth(context):
    """A random number a row decides whether the row survives, as torchvision's in mode "row"."""
    survival = 1.0 - context.fields.real("probability")
    if not context.training or survival >= 1.0:
        return of(context, lambda x: x, 0)
    rows = [extent if i == 0 else 1 for i, extent in enumerate(context.shape(0))]

    def run(x):
        noise = torch.empty(rows, dtype=x.dtype, device=x.device).bernoulli_(survival)
        return x * (noise.div_(survival) if survival > 0.0 else noise)

    return of(context, run, 0)


OPERATORS = {"activation": activation, "softmax": softmax, "dropout": dropout, "stochastic_depth": stochastic_depth}
