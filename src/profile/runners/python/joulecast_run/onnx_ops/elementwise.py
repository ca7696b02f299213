# SPDX-License-Identifier: Apache-2.0
"""Element by element: one, two or three inputs, casts."""
OF_ONE = {
    "neg": "Neg", "abs": "Abs", "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "reciprocal": "Reciprocal", "erf": "Erf",
    "sign": "Sign", "floor": "Floor", "ceil": "Ceil", "round": "Round", "bitwise_not": "BitwiseNot", "is_nan": "IsNaN",
    "is_inf": "IsInf", "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan",
    "sinh": "Sinh", "cosh": "Cosh", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh",
}
OF_TWO = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "pow": "Pow", "min": "Min", "max": "Max", "equal": "Equal",
    "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater", "greater_equal": "GreaterOrEqual", "and": "And",
    "or": "Or", "xor": "Xor", "bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor",
}
SHIFTS = {"shift_left": "LEFT", "shift_right": "RIGHT"}


def _not(context):
    x = context.name(0) if context.element(0) == "bool" else context.build.cast(context.name(0), "bool")
    return context.build.node("Not", [x])


def _rsqrt(context):
    return context.build.node("Reciprocal", [context.build.node("Sqrt", [context.name(0)])])


def _square(context):
    return context.build.node("Mul", [context.name(0), context.name(0)])


def _log1p(context):
    one = context.build.constant(1.0, context.element(0))
    return context.build.node("Log", [context.build.node("Add", [context.name(0), one])])


def _expm1(context):
    one = context.build.constant(1.0, context.element(0))
    return context.build.node("Sub", [context.build.node("Exp", [context.name(0)]), one])


COMPOSED = {"not": _not, "rsqrt": _rsqrt, "square": _square, "log1p": _log1p, "expm1": _expm1}


def unary(context):
    kind = context.fields.text("kind", "neg")
    if kind in COMPOSED:
        return COMPOSED[kind](context)
    return context.build.node(OF_ONE.get(kind) or context.refuse(kind), [context.name(0)])


def _mod(context, inputs):
    """With the sign of the divisor, which ONNX's has for whole numbers alone."""
    if not context.input(0).is_floating:
        return context.build.node("Mod", inputs)
    a, b = inputs
    whole = context.build.node("Floor", [context.build.node("Div", [a, b])])
    return context.build.node("Sub", [a, context.build.node("Mul", [whole, b])])


def binary(context):
    kind, inputs = context.fields.text("kind", "add"), [context.name(0), context.name(1)]
    if kind == "mod":
        return _mod(context, inputs)
    if kind == "fmod":
        return context.build.node("Mod", inputs, fmod=1)
    if kind in SHIFTS:
        return context.build.node("BitShift", inputs, direction=SHIFTS[kind])
    return context.build.node(OF_TWO.get(kind) or context.refuse(f"{kind}: ONNX has no such operator"), inputs)


def where(context):
    return context.build.node("Where", [context.name(0), context.name(1), context.name(2)])


def cast(context):
    return context.build.cast(context.name(0), context.output().element)


def triangle(context):
    return context.build.node("Trilu", [context.name(0)], upper=0)


OPERATORS = {"unary": unary, "binary": binary, "where": where, "cast": cast, "triangle": triangle}
