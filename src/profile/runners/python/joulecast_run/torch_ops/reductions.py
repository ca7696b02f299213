# SPDX-License-Identifier: Apache-2.0
"""Reductions and running sums."""
import torch

from ..program import reduced_axes
from .kernel import of

OVER_AXES = {
    "sum": torch.sum,
    "mean": torch.mean,
    "max": torch.amax,
    "min": torch.amin,
    "l1": lambda x, axes, keep: torch.norm(x, 1, axes, keep),
    "l2": lambda x, axes, keep: torch.norm(x, 2, axes, keep),
    "sum_square": lambda x, axes, keep: torch.sum(torch.square(x), axes, keep),
    "log_sum": lambda x, axes, keep: torch.log(torch.sum(x, axes, keep)),
    "log_sum_exp": torch.logsumexp,
    "any": torch.any,
    "all": torch.all,
}


def reduce(context):
    kind, keep, axes = context.fields.text("kind", "sum"), context.fields.flag("keep_axes"), reduced_axes(context)
    if kind in ("arg_max", "arg_min"):
        if len(axes) != 1:
            context.refuse("over more than one axis")
        function = torch.argmax if kind == "arg_max" else torch.argmin
        return of(context, lambda x: function(x, axes[0], keep), 0)
    function = OVER_AXES.get(kind) or context.refuse(kind)
    return of(context, lambda x: function(x, axes, keep), 0)


def cumulate(context):
    axis = context.fields.integer("axis")
    return of(context, lambda x: torch.cumsum(x, axis), 0)


OPERATORS = {"reduce": reduce, "cumulate": cumulate}
