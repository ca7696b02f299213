# SPDX-License-Identifier: Apache-2.0
"""Reductions and running sums."""
from ..program import reduced_axes

OVER_AXES = {"sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin", "prod": "ReduceProd",
             "l1": "ReduceL1", "l2": "ReduceL2", "sum_square": "ReduceSumSquare", "log_sum": "ReduceLogSum",
             "log_sum_exp": "ReduceLogSumExp"}
OF_TRUTH = {"any": "ReduceMax", "all": "ReduceMin"}


def _over(context, name, x, axes):
    keep = int(context.fields.flag("keep_axes"))
    if not axes:
        return context.build.node("Identity", [x])
    return context.build.node(name, [x, context.build.integers(axes)], keepdims=keep)


def reduce(context):
    kind, axes, build = context.fields.text("kind", "sum"), reduced_axes(context), context.build
    if kind in ("arg_max", "arg_min"):
        if len(axes) != 1:
            context.refuse("over more than one axis")
        name = "ArgMax" if kind == "arg_max" else "ArgMin"
        return build.node(name, [context.name(0)], axis=axes[0], keepdims=int(context.fields.flag("keep_axes")))
    if kind in OF_TRUTH:
        truth = build.cast(build.cast(context.name(0), "bool"), "i32")
        return build.cast(_over(context, OF_TRUTH[kind], truth, axes), "bool")
    return _over(context, OVER_AXES.get(kind) or context.refuse(kind), context.name(0), axes)


def cumulate(context):
    axis = context.build.constant(context.fields.integer("axis"), "i64")
    return context.build.node("CumSum", [context.name(0), axis])


OPERATORS = {"reduce": reduce, "cumulate": cumulate}
