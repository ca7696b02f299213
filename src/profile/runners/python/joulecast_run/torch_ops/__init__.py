# SPDX-License-Identifier: Apache-2.0
"""Operators of joulecast's graphs as calls of PyTorch. What can be decided once is decided when a kernel is made."""
from . import activations, elementwise, indices, norms, pools, products, recurrent, reductions, shapes
from .kernel import DTYPES, Kernel  # noqa: F401

FAMILIES = (products, norms, pools, activations, elementwise, shapes, indices, reductions, recurrent)
TABLE = {name: make for family in FAMILIES for name, make in family.OPERATORS.items()}


def make_kernel(context):
    """Raises Refusal where there is no such operator here, or not with these attributes."""
    make = TABLE.get(context.step.op) or context.refuse("this runner has no such operator")
    return make(context)
