# SPDX-License-Identifier: Apache-2.0
"""A program as a torch.nn.Module: layers with weights are modules of their own, everything else is a call, as in networks that
people write. Its `forward` is written out line by line, so that eager mode runs nothing but the calls and torch.compile sees
straight code."""
from functools import lru_cache

import torch

from .program import Context
from .torch_ops import make_kernel
from .words import Refusal


@lru_cache(maxsize=None)
def _layer_class(pattern):
    """Of layers whose inputs are, in this order, given (x), their own (w) or absent (-)."""
    given = "".join(f", x{i}" for i, one in enumerate(pattern) if one == "x")
    call = ", ".join({"x": f"x{i}", "w": f"self.w{i}", "-": "None"}[one] for i, one in enumerate(pattern))
    return _class("Layer", {"forward": f"def forward(self{given}):\n    return self.function({call})\n"}, {})


def _class(name, sources, names):
    members = {}
    for source in sources.values():
        exec(source, names, members)  # numbers of values and nothing else of a request is in it
    return type(name, (torch.nn.Module,), members)


class ProgramClass:
    """What all copies of a program share: its kernels and its code."""

    def __init__(self, program, training, device):
        self.program = program
        self._kernels = []
        for step in program.steps:
            context = Context(program, step, training)
            context.device = device
            self._kernels.append(make_kernel(context))
        self._stored = self._stored_values()
        functions = {f"f{i}": kernel.function for i, kernel in enumerate(self._kernels)}
        names = dict(functions, check=self._check)
        sources = {"forward": self._source("forward", False), "checked": self._source("checked", True)}
        self._class = _class("Program", sources, names)

    def make(self, tensors):
        """An instance with these tensors, by value: of parameters what learns is a torch.nn.Parameter."""
        module = self._class()
        for i, kernel in enumerate(self._kernels):
            pattern = self._patterns[i]
            if "w" not in pattern:
                continue
            layer = _layer_class(pattern)()
            layer.function = kernel.function
            for place, one in enumerate(pattern):
                if one == "w":
                    _keep(layer, f"w{place}", tensors[kernel.inputs[place]])
            module.add_module(f"n{i}", layer)
        for one in self.program.outputs:
            if one in self._stored:
                _keep(module, f"o{one}", tensors[one])
        return module

    def _stored_values(self):
        """Values that are a module's own as long as no step writes them, and which inputs of each kernel are such."""
        stored = {i for i, value in enumerate(self.program.values) if value.kind in ("parameter", "constant")}
        self._patterns = []
        for step, kernel in zip(self.program.steps, self._kernels):
            self._patterns.append("".join("-" if one is None else "w" if one in stored else "x" for one in kernel.inputs))
            stored -= set(step.outputs)
        return stored

    def _check(self, i, *made):
        """An operator that makes something else is not the one that was meant."""
        step = self.program.steps[i]
        for one, tensor in zip(step.outputs, made):
            if one is None or tensor is None:
                continue
            meant = self.program.values[one].shape
            if list(tensor.shape) != meant:
                raise Refusal("unsupported", f"{step.op} makes {list(tensor.shape)} of what should be {meant}")

    def _source(self, name, checked):
        arguments = "".join(f", v{i}" for i in self.program.ids("input"))
        lines = [f"def {name}(self{arguments}):"]
        dead = self._dead()
        for i, (step, kernel) in enumerate(zip(self.program.steps, self._kernels)):
            lines += self._step_lines(i, step, kernel, checked)
            if dead[i]:
                lines.append("del " + ", ".join(f"v{one}" for one in dead[i]))
        results = "".join(f"self.o{one}, " if one in self._stored else f"v{one}, " for one in self.program.outputs)
        return "\n    ".join([*lines, f"return ({results})"]) + "\n"

    def _step_lines(self, i, step, kernel, checked):
        pattern = self._patterns[i]
        called = f"self.n{i}" if "w" in pattern else f"f{i}"
        skipped = "w-" if "w" in pattern else ""
        given = ", ".join("None" if one is None else f"v{one}" for one, kind in zip(kernel.inputs, pattern) if kind not in skipped)
        written = [(place, one) for place, one in enumerate(step.outputs) if one is not None]
        if kernel.many:
            lines = [f"t = {called}({given})", *(f"v{one} = t[{place}]" for place, one in written), "del t"]
        else:
            lines = [f"v{step.outputs[0]} = {called}({given})" if step.outputs and step.outputs[0] is not None
                     else f"{called}({given})"]
        if checked:
            lines.append(f"check({i}, " + ", ".join("None" if one is None else f"v{one}" for one in step.outputs) + ")")
        return lines

    def _dead(self):
        """Computed values that nothing after a step reads: their memory is free again, as it is in written networks."""
        last, written = {}, set()
        for i, (step, kernel) in enumerate(zip(self.program.steps, self._kernels)):
            written.update(one for one in (step.outputs if kernel.many else step.outputs[:1]) if one is not None)
            last.update({one: i for one in (*kernel.inputs, *step.outputs) if one in written})
        out = [[] for _ in self.program.steps]
        for one, i in last.items():
            if one not in self.program.outputs:
                out[i].append(one)
        return out


def _keep(module, name, tensor):
    if isinstance(tensor, torch.nn.Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)
