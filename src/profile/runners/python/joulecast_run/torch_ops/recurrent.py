# SPDX-License-Identifier: Apache-2.0
"""One layer of a recurrent network, by PyTorch's own (cuDNN's on NVIDIA)."""
import torch

from .kernel import Kernel

_FUNCTIONS = {"lstm": torch.lstm, "gru": torch.gru, "rnn": torch.rnn_tanh}


def _parameters(weight, recurrence, bias, directions):
    """Weights [directions, rows, ...] and biases [directions, 2 * rows] in PyTorch's order: of each direction the two
    weights, then the two biases."""
    out = []
    for d in range(directions):
        out += [weight[d], recurrence[d]]
        if bias is not None:
            both, rows = bias.reshape(directions, -1)[d], weight.shape[1]
            out += [both[:rows], both[both.shape[0] - rows:]]
    return out


def rnn(context):
    fields, training = context.fields, context.training
    kind, hidden, directions = fields.text("kind", "lstm"), fields.integer("hidden"), fields.integer("directions", 1)
    batch_first = fields.flag("batch_first")
    function = _FUNCTIONS.get(kind) or context.refuse(kind)
    if context.has(4):
        context.refuse("sequences of different lengths")
    if context.has(7):
        context.refuse("with a projection")

    def run(x, weight, recurrence, bias):
        zero = x.new_zeros(directions, x.shape[0 if batch_first else 1], hidden)
        state = (zero, zero) if kind == "lstm" else zero
        out, *last = function(x, state, _parameters(weight, recurrence, bias, directions), bias is not None, 1, 0.0, training,
                              directions == 2, batch_first)
        # [time, batch, directions * hidden] -> [time, directions, batch, hidden], a view.
        in_time = out.transpose(0, 1) if batch_first else out
        return [in_time.unflatten(2, (directions, hidden)).transpose(1, 2), *last]

    ids = [context.in_id(i) for i in range(3)] + [context.in_id(3) if context.has(3) else None]
    return Kernel(run, tuple(ids), many=True)


OPERATORS = {"rnn": rnn}
