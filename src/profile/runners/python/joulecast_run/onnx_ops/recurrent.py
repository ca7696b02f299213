# SPDX-License-Identifier: Apache-2.0
"""One layer of a recurrent network. The rows of its weights are in PyTorch's order; ONNX's is made of weights that are
initializers before anything runs."""
GATES = {"lstm": ("LSTM", [0, 3, 1, 2]), "gru": ("GRU", [1, 0, 2]), "rnn": ("RNN", [0])}


def _reordered(build, name, order, rows, twice=1):
    """Blocks of rows of axis 1, each of the `twice` halves by itself."""
    if len(order) == 1:
        return name
    blocks = build.node("Split", [name, build.integers([rows] * (len(order) * twice))], outputs=len(order) * twice, axis=1)
    return build.node("Concat", [blocks[half * len(order) + one] for half in range(twice) for one in order], axis=1)


def _bias(context, order, hidden, directions):
    build, rows = context.build, hidden * len(order)
    name, elements = context.name(3), context.input(3).elements
    if elements not in (directions * rows, 2 * directions * rows):
        context.refuse("with a bias of this shape")
    flat = build.node("Reshape", [name, build.integers([directions, -1])])
    if elements == directions * rows:
        flat = build.node("Concat", [flat, flat], axis=1)
    return _reordered(build, flat, order, hidden, twice=2)


def rnn(context):
    fields, build = context.fields, context.build
    kind, hidden, directions = fields.text("kind", "lstm"), fields.integer("hidden"), fields.integer("directions", 1)
    name, order = GATES.get(kind) or context.refuse(kind)
    if context.has(4):
        context.refuse("sequences of different lengths")
    if context.has(7):
        context.refuse("with a projection")
    x = context.name(0)
    if fields.flag("batch_first"):  # ONNX Runtime has the order with time first alone
        x = build.node("Transpose", [x], perm=[1, 0, 2])
    inputs = [x, *(_reordered(build, context.name(i), order, hidden) for i in (1, 2))]
    if context.has(3):
        inputs.append(_bias(context, order, hidden, directions))
    attributes = {"hidden_size": hidden, "direction": "bidirectional" if directions == 2 else "forward"}
    if kind == "gru":
        attributes["linear_before_reset"] = 1  # as PyTorch's and cuDNN's
    return build.node(name, inputs, outputs=3 if kind == "lstm" else 2, **attributes)


OPERATORS = {"rnn": rnn}
