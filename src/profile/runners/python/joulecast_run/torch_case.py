# SPDX-License-Identifier: Apache-2.0
"""Modules with their inputs, ready to be run again and again."""
import contextlib

import torch
from torch.utils import _pytree

from .words import Refusal

RATE = 1e-9  # of any size: the work is the same, and weights stay what they are


class OptimizerCase:
    """The step of SGD that TorchCase takes at the end of a network's, alone: parameters and gradients are there."""

    def __init__(self, parameters, device):
        self._device, self.weight_bytes = device, sum(p.numel() * p.element_size() for p in parameters)
        self.copies = self.distinct_copies = 1
        for parameter in parameters:
            parameter.grad = torch.randn_like(parameter)
        self._optimizer = torch.optim.SGD(parameters, lr=RATE, foreach=True)

    def run(self, iterations):
        return self._device.timed(lambda: self._iterate(iterations))

    def memory(self):
        self._device.synchronize()
        self._device.reset_memory_peak()
        self.run(1)
        return self._device.memory_peak()

    def _iterate(self, iterations):
        for _ in range(iterations):
            self._optimizer.step()


class TorchCase:
    """`modules` are copies of one, used in turn. There is one input, which a layer before would have left in the cache. In
    training, gradients are made anew each time, never added to."""

    def __init__(self, modules, inputs, options, device, check=None):
        self._device, self._options, self._inputs, self._check = device, options, inputs, check
        self._calls = modules
        self._next, self._output_gradients = 0, None
        self.copies, self.distinct_copies, self.weight_bytes = len(modules), len(modules), 0
        self._wanted = [[p for p in module.parameters() if p.requires_grad] + [x for x in inputs if x.requires_grad]
                        for module in modules]
        self._optimizer = None
        if options.network and options.training:
            if not self._wanted[0]:
                raise Refusal("unsupported", "nothing of this network can be trained")
            self._optimizer = torch.optim.SGD(self._wanted[0], lr=RATE, foreach=True)

    def compile(self):
        """What cannot be compiled whole is an error, never run as it is."""
        self._calls = [torch.compile(module, fullgraph=True, dynamic=False) for module in self._calls]

    def run(self, iterations):
        with contextlib.nullcontext() if self._options.training else torch.inference_mode():
            if self._check is not None:
                self._check(*self._inputs)
                self._check = None
            return self._device.timed(lambda: self._iterate(iterations))

    def memory(self):
        self._device.synchronize()
        self._device.reset_memory_peak()
        self.run(1)
        return self._device.memory_peak()

    def _iterate(self, iterations):
        for _ in range(iterations):
            copy = self._next
            self._next = (copy + 1) % len(self._calls)
            made = self._calls[copy](*self._inputs)
            if self._optimizer is not None:
                self._step(made)
            elif self._options.training:
                self._backward(made, copy)
            del made

    def _differentiable(self, made):
        outputs = [one for one in _pytree.tree_leaves(made) if isinstance(one, torch.Tensor) and one.requires_grad]
        if self._output_gradients is None:
            self._output_gradients = [torch.randn_like(one) for one in outputs]
        return outputs

    def _backward(self, made, copy):
        outputs = self._differentiable(made)
        if outputs:  # of whole numbers nothing is to be differentiated
            torch.autograd.grad(outputs, self._wanted[copy], self._output_gradients, allow_unused=True)

    def _step(self, made):
        outputs = self._differentiable(made)
        if not outputs:
            raise Refusal("unsupported", "nothing of this network can be trained")
        self._optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(outputs, self._output_gradients)
        self._optimizer.step()
