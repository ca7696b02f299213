# SPDX-License-Identifier: Apache-2.0
"""Tensors of random contents that the operators reading them can take."""
import torch

from .program import deviation
from .torch_ops import DTYPES


def random_tensor(value, use, device):
    dtype = DTYPES[value.element]
    if value.contents:
        return torch.tensor(value.contents).reshape(value.shape).to(dtype).to(device)
    if use.variance or value.element == "bool":
        return torch.ones(value.shape, dtype=dtype, device=device)
    if not dtype.is_floating_point and not dtype.is_complex:
        return torch.randint(max(2 if use.below is None else use.below, 1), value.shape, dtype=dtype, device=device)
    if dtype.itemsize == 1:
        return torch.randn(value.shape, device=device).to(dtype)
    return torch.randn(value.shape, dtype=dtype, device=device).mul_(deviation(value))


def learning(tensor, value, use, training):
    """A parameter as a module has it; statistics of a batch norm, and whole numbers, are none that learn."""
    if use.statistic or not tensor.is_floating_point():
        return tensor
    return torch.nn.Parameter(tensor, requires_grad=training)


def memory_range(tensor):
    begin = tensor.data_ptr()
    return begin, begin + tensor.numel() * tensor.element_size()
