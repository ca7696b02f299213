# SPDX-License-Identifier: Apache-2.0
"""Element by element: one, two or three inputs, casts."""
import torch

from .kernel import DTYPES, of

OF_ONE = {
    "neg": torch.neg, "abs": torch.abs, "exp": torch.exp, "log": torch.log, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
    "reciprocal": torch.reciprocal, "erf": torch.erf, "sign": torch.sign, "floor": torch.floor, "ceil": torch.ceil,
    "round": torch.round, "not": torch.logical_not, "bitwise_not": torch.bitwise_not, "is_nan": torch.isnan,
    "is_inf": torch.isinf, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "asin": torch.asin, "acos": torch.acos,
    "atan": torch.atan, "sinh": torch.sinh, "cosh": torch.cosh, "asinh": torch.asinh, "acosh": torch.acosh,
    "atanh": torch.atanh, "square": torch.square, "log1p": torch.log1p, "expm1": torch.expm1,
}
OF_TWO = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "pow": torch.pow, "mod": torch.remainder,
    "fmod": torch.fmod, "min": torch.minimum, "max": torch.maximum, "equal": torch.eq, "less": torch.lt,
    "less_equal": torch.le, "greater": torch.gt, "greater_equal": torch.ge, "and": torch.logical_and,
    "or": torch.logical_or, "xor": torch.logical_xor, "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor, "shift_left": torch.bitwise_left_shift, "shift_right": torch.bitwise_right_shift,
    "atan2": torch.atan2,
}


def unary(context):
    kind = context.fields.text("kind", "neg")
    return of(context, OF_ONE.get(kind) or context.refuse(kind), 0)


def binary(context):
    kind = context.fields.text("kind", "add")
    return of(context, OF_TWO.get(kind) or context.refuse(kind), 0, 1)


def where(context):
    return of(context, torch.where, 0, 1, 2)


def cast(context):
    to = DTYPES[context.output().element]
    return of(context, lambda x: x.to(to), 0)


def triangle(context):
    return of(context, torch.tril, 0)


OPERATORS = {"unary": unary, "binary": binary, "where": where, "cast": cast, "triangle": triangle}
