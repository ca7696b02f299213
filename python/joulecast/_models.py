# SPDX-License-Identifier: Apache-2.0
"""Models that callers hand over: files, and objects of frameworks, which are never imported here unless they already are."""
from __future__ import annotations

import contextlib
import copy
import io
import operator
import os
import sys
import tempfile
import threading
from collections import namedtuple

from . import _library, _torch

# What the caller says beside the model: `batch` a number, a list of them or None, `extents` of one example, `shapes` by input.
_Asked = namedtuple("_Asked", "example batch extents shapes")

# Frameworks trace and write one network at a time: two threads in torch.export leave torch itself broken.
_tracing = threading.Lock()


def opened(model, framework, example, batch, input, shapes):
    """What to ask for as [(handle, request)], and the model's name where it has no path of its own. `example`: what a module of
    PyTorch is called with. `shapes` by input, of which those help that the file does not tell. No file is left behind."""
    if input is not None and shapes is not None:
        raise ValueError("input and shapes: give one of them")
    asked = _Asked(example, _whole(batch), None if input is None else _extents(input), shapes)
    if isinstance(model, (str, os.PathLike)):
        name, handles = None, [(_open(model, framework, shapes), asked.batch)]
    else:
        name, handles = type(model).__name__, _open_object(model, framework, asked)
    return [(handle, request) for handle, rows in handles for request in _requests(handle, rows, asked)], name


def _open(path, framework, shapes):
    return _library.open_model(path, {key: value for key, value in (("framework", framework), ("shapes", shapes)) if value})


def _open_object(model, framework, asked):
    for module, kind, files in _KINDS:
        known = sys.modules.get(module)
        if known is not None and isinstance(model, getattr(known, kind)):
            with _tracing, tempfile.TemporaryDirectory(prefix="joulecast_") as folder:  # nobody else may look into it
                return [(_open(file, framework, shapes), batch) for file, batch, shapes in files(model, folder, asked)]
    raise TypeError(f"a path or an object of {', '.join(f'{m}.{k}' for m, k, _ in _KINDS)} was expected, not "
                    f"{type(model).__module__}.{type(model).__qualname__}")


def _onnx(model, folder, asked):
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    yield path, asked.batch, asked.shapes


def _torch_program(program, folder, asked):
    path = os.path.join(folder, "model.pt2")
    _torch.save_program(program, path)
    yield path, asked.batch, asked.shapes


def _torch_module(module, folder, asked):
    for program, batch in _torch.programs(module, asked):
        yield from _torch_program(program, folder, asked._replace(batch=batch))


def _torch_script(module, folder, asked):
    path = os.path.join(folder, "model.pt")
    sys.modules["torch"].jit.save(module, path)
    yield path, asked.batch, asked.shapes or _torch.shapes_of_script(module, asked)


def _transformers_config(config, folder, asked):
    path = os.path.join(folder, "config.json")
    config.to_json_file(path, use_diff=False)
    yield path, asked.batch, asked.shapes


# Its config tells all that is asked; with an example it is traced like any other module.
def _transformers_model(model, folder, asked):
    if asked.example is not None:
        return _torch_module(model, folder, asked)
    config = copy.copy(model.config)
    config.architectures = [type(model).__name__]
    return _transformers_config(config, folder, asked)


def _keras(model, folder, asked):
    import inspect  # Keras has it already, and it takes longer than all of this package

    path = os.path.join(folder, "model")
    if "verbose" in inspect.signature(model.export).parameters:
        model.export(path, verbose=False)
    else:
        with contextlib.redirect_stdout(io.StringIO()):  # it prints what it has exported
            model.export(path)
    yield path, asked.batch, asked.shapes


# Module, class and what writes an object of it into a folder: its files one after the other, each with the batch and the shapes to
# ask it for.
_KINDS = (
    ("onnx", "ModelProto", _onnx),
    ("torch.export", "ExportedProgram", _torch_program),
    ("transformers.modeling_utils", "PreTrainedModel", _transformers_model),
    ("transformers.configuration_utils", "PretrainedConfig", _transformers_config),
    ("torch.jit", "ScriptModule", _torch_script),
    ("torch.nn", "Module", _torch_module),
    ("keras", "Model", _keras),
)


def _extents(input):
    """(3, 224, 224), or "3,224,224" in text."""
    try:
        return [int(word) for word in input.split(",")] if isinstance(input, str) else [operator.index(one) for one in input]
    except (TypeError, ValueError):
        raise ValueError(f"input: {input!r} is no shape of one example; (3, 224, 224) or \"3,224,224\" is one") from None


def _whole(batch):
    """Whole numbers of other libraries, as numpy's, are Python's own behind it."""
    if batch is None or isinstance(batch, str):
        return batch
    return [operator.index(one) for one in batch] if isinstance(batch, (list, tuple)) else operator.index(batch)


def _requests(handle, batch, asked):
    """What to ask of a handle: batch and shapes as they were given, or, for the shape of one example, whole shapes a batch."""
    if asked.extents is None:
        return [{"batch": batch, "shapes": asked.shapes}]
    inputs = _library.inputs(handle)
    if len(inputs) != 1:
        names = ", ".join(one["name"] for one in inputs)
        raise ValueError(f"input: the network has {len(inputs)} inputs ({names}); give shapes by name")
    rows, *others = inputs[0]["dimensions"]
    extents = _in_its_order(asked.extents, others)
    if isinstance(rows, str) and extents == others:  # the batch is all that is open
        return [{"batch": 1 if batch is None else batch}]
    batches = batch if isinstance(batch, list) else [1 if batch is None else batch]
    return [{"shapes": {inputs[0]["name"]: [one, *extents]}} for one in batches]


def _in_its_order(extents, dimensions):
    """Channels stand first here, also of TensorFlow's images: they are put there, or last, where the network fits that alone.
    What it leaves open has a name instead of an extent."""
    for order in extents, [*extents[-1:], *extents[:-1]], [*extents[1:], *extents[:1]]:
        if len(order) == len(dimensions) and all(isinstance(one, str) or extent == one for extent, one in zip(order, dimensions)):
            return order
    return extents
