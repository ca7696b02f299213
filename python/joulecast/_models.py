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

from . import _library


@contextlib.contextmanager
def opened(model, framework, example, shapes):
    """The handle of a model, and its name where it has no path of its own. `example`: what a torch.nn.Module is called with.
    `shapes` by input, of which those help that the file does not tell."""
    request = {key: value for key, value in (("framework", framework), ("shapes", shapes)) if value}
    if isinstance(model, (str, os.PathLike)):
        yield _library.open_model(model, request), None
        return
    for module, kind, save in _KINDS:
        known = sys.modules.get(module)
        if known is not None and isinstance(model, getattr(known, kind)):
            with tempfile.TemporaryDirectory(prefix="joulecast_") as folder:
                yield _library.open_model(save(model, folder, example), request), type(model).__name__
            return
    raise TypeError(f"a path or an object of {', '.join(f'{m}.{k}' for m, k, _ in _KINDS)} was expected, not "
                    f"{type(model).__module__}.{type(model).__qualname__}")


def _onnx(model, folder, example):
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    return path


def _torch_program(program, folder, example):
    path = os.path.join(folder, "model.pt2")
    sys.modules["torch"].export.save(program, path)
    return path


def _torch_module(module, folder, example):
    if example is None:
        raise TypeError("a torch.nn.Module is traced: give what it is called with, as example=(tensor, ...)")
    torch = sys.modules["torch"]
    arguments = example if isinstance(example, tuple) else (example,)
    return _torch_program(torch.export.export(module, arguments), folder, None)


def _transformers_config(config, folder, example):
    path = os.path.join(folder, "config.json")
    config.to_json_file(path, use_diff=False)
    return path


# Its config tells all that is asked; with an example it is traced like any other module.
def _transformers_model(model, folder, example):
    if example is not None:
        return _torch_module(model, folder, example)
    config = copy.copy(model.config)
    config.architectures = [type(model).__name__]
    return _transformers_config(config, folder, None)


def _keras(model, folder, example):
    path = os.path.join(folder, "model")
    with contextlib.redirect_stdout(io.StringIO()):  # it prints what it has exported
        model.export(path)
    return path


# Module, class and what writes an object of it into a folder.
_KINDS = (
    ("onnx", "ModelProto", _onnx),
    ("torch.export", "ExportedProgram", _torch_program),
    ("transformers.modeling_utils", "PreTrainedModel", _transformers_model),
    ("transformers.configuration_utils", "PretrainedConfig", _transformers_config),
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


def shape_requests(handle, batch, input, shapes):
    """What to ask for: batch and shapes as they were given, or, for the shape of one example, whole shapes a batch."""
    batch = _whole(batch)
    if input is None:
        return [{"batch": batch, "shapes": shapes}]
    if shapes is not None:
        raise ValueError("input and shapes: give one of them")
    extents = _extents(input)
    inputs = _library.inspect(handle, {})["inputs"]
    if len(inputs) != 1:
        names = ", ".join(one["name"] for one in inputs)
        raise ValueError(f"input: the network has {len(inputs)} inputs ({names}); give shapes by name")
    batches = batch if isinstance(batch, (list, tuple)) else [1 if batch is None else batch]
    return [{"shapes": {inputs[0]["name"]: [one, *extents]}} for one in batches]
