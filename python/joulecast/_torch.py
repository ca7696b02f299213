# SPDX-License-Identifier: Apache-2.0
"""Modules and programs of PyTorch as files. Only structure is asked of them: weights and examples stay where they are."""
from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Mapping

_ROWS = 4  # of examples made here: of one example torch.export takes that it will always be one


def save_program(program, path):
    """Without the elements of its weights, constants and example inputs."""
    torch = sys.modules["torch"]

    def hollow(value):
        if not isinstance(value, torch.Tensor):
            return value
        empty = value.detach().new_empty(0)
        return torch.nn.Parameter(empty, value.requires_grad) if isinstance(value, torch.nn.Parameter) else empty

    light = copy.copy(program)
    light._state_dict = {name: hollow(value) for name, value in program.state_dict.items()}
    light._constants = {name: hollow(value) for name, value in program.constants.items()}
    light._example_inputs = None
    torch.export.save(light, path)


def programs(module, asked):
    """Pairs of a torch.nn.Module as a program, and the batch to ask it for: one program for every batch, or one of each where the
    network does not allow that. It is called with `asked.example`; where there is none, with one of `asked.extents`."""
    if asked.example is not None:
        arguments = _Arguments(asked.example)
        batch = arguments.rows if asked.batch is None else asked.batch
    elif asked.extents is not None:
        arguments, batch = _made(module, asked.extents), asked.batch or 1
    else:
        raise TypeError("a torch.nn.Module is traced: give the shape of one example, as input=(3, 224, 224), or what it is called "
                        "with, as example=(tensor, ...)")
    open_batch = _of_open_batch(module, arguments)
    if open_batch is not None:
        yield open_batch, batch
        return
    for one in batch if isinstance(batch, list) else [batch]:
        yield arguments.of_rows(one).exported(module), one


class _Arguments:
    """What a module is called with: a tensor, a tuple of arguments, or a mapping of them by name."""

    def __init__(self, example):
        named = isinstance(example, Mapping)
        self.named = dict(example) if named else {}
        self.placed = () if named else example if isinstance(example, tuple) else (example,)
        tensors = sys.modules["torch"].utils._pytree.tree_leaves((self.placed, self.named))
        self.rows = next((one.shape[0] for one in tensors if self._has_rows(one)), None)

    @staticmethod
    def _has_rows(value):
        return isinstance(value, sys.modules["torch"].Tensor) and value.ndim > 0

    def _mapped(self, function, otherwise):
        """`function` of the tensors with as many rows as the first has."""
        def one(value):
            return function(value) if self._has_rows(value) and value.shape[0] == self.rows else otherwise(value)

        return sys.modules["torch"].utils._pytree.tree_map(one, (self.placed, self.named))

    def of_rows(self, rows):
        """With so many, whose elements nobody has set. None: as it is."""
        if rows in (None, self.rows):
            return self
        placed, named = self._mapped(lambda value: value.new_zeros((rows, *value.shape[1:])), lambda value: value)
        return _Arguments(named or placed)

    def exported(self, module, open_rows=False):
        torch = sys.modules["torch"]
        shapes = None
        if open_rows:
            rows = torch.export.Dim("batch")
            placed, named = self._mapped(lambda value: {0: rows}, lambda value: None)
            shapes = named or placed
        with _without_cache(module):
            return torch.export.export(module, self.placed, self.named or None, dynamic_shapes=shapes)


@contextlib.contextmanager
def _without_cache(module):
    """Models of transformers answer a cache of keys and values, which no program holds and a prompt does not need."""
    configs = {id(one.config): one.config for one in module.modules() if getattr(getattr(one, "config", None), "use_cache", None) is True}
    for config in configs.values():
        config.use_cache = False
    try:
        yield
    finally:
        for config in configs.values():
            config.use_cache = True


def _of_open_batch(module, arguments):
    """The program for every batch; None where there is none, which torch says in many ways."""
    if arguments.rows is None:
        return None
    try:
        return arguments.of_rows(max(arguments.rows, _ROWS)).exported(module, open_rows=True)
    except Exception:
        return None


def _made(module, extents):
    """Arguments of that shape: token ids where the first layer looks up rows of a table, else numbers of the weights' kind."""
    torch = sys.modules["torch"]
    layer = next((one for one in module.modules() if next(one.parameters(recurse=False), None) is not None), module)
    weight = next(layer.parameters(recurse=False), torch.empty(0))
    ids = isinstance(layer, (torch.nn.Embedding, torch.nn.EmbeddingBag))
    kind = torch.int64 if ids else weight.dtype if weight.is_floating_point() else None
    return _Arguments(torch.zeros((_ROWS, *extents), dtype=kind, device=weight.device))


def shapes_of_script(module, asked):
    """Of a torch.jit.ScriptModule, whose code names its inputs but tells no shapes: what the example, or the extents of one, tell."""
    torch = sys.modules["torch"]
    names = [one.name for one in module.forward.schema.arguments[1:] if str(one.type) == "Tensor"]
    if asked.example is not None:
        arguments = _Arguments(asked.example)
        values = {**dict(zip(names, arguments.placed)), **arguments.named}
        return {name: list(value.shape) for name, value in values.items() if isinstance(value, torch.Tensor)}
    return {names[0]: [1, *asked.extents]} if asked.extents is not None and len(names) == 1 else None
