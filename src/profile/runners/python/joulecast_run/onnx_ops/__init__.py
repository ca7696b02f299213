# SPDX-License-Identifier: Apache-2.0
"""Operators of joulecast's graphs as nodes of ONNX."""
from . import activations, elementwise, indices, norms, pools, products, recurrent, reductions, shapes

FAMILIES = (products, norms, pools, activations, elementwise, shapes, indices, reductions, recurrent)
TABLE = {name: make for family in FAMILIES for name, make in family.OPERATORS.items()}


def make_nodes(context):
    """Adds a step's nodes and gives the names of its outputs. Raises Refusal where ONNX has no such operator, or not with these
    attributes."""
    make = TABLE.get(context.step.op) or context.refuse("this runner has no such operator")
    return make(context)
