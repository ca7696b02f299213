"""Networks too large to be made: every parameter is one number seen through strides of zero.

Such a module runs (products copy one weight at a time) and takes memory for its activations alone. It is exported with
its parameters as inputs of the graph, which then become weights without data (strip.py takes the data of others out).
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator

import onnx
import torch

from zoo import strip


def make(build: Callable[[], torch.nn.Module]) -> torch.nn.Module:
    """What `build` makes on the meta device, its parameters and buffers replaced."""
    with torch.device("meta"):
        module = build()
    if hasattr(module, "tie_weights"):
        module.tie_weights()
    replace_parameters(module)
    for owner in module.modules():
        for name, buffer in owner.named_buffers(recurse=False):
            owner._buffers[name] = _buffer(name, buffer)
    return module


def replace_parameters(module: torch.nn.Module) -> None:
    """Each by one number of its own, for exporters merge equal tensors; tied parameters stay one."""
    replaced: dict[int, torch.nn.Parameter] = {}
    for owner in module.modules():
        for name, parameter in list(owner.named_parameters(recurse=False)):
            if id(parameter) not in replaced:
                number = 0.01 + 1e-5 * len(replaced) if parameter.dtype.is_floating_point else 0
                data = torch.full((), number, dtype=parameter.dtype).expand(parameter.shape)
                replaced[id(parameter)] = torch.nn.Parameter(data, requires_grad=False)
            setattr(owner, name, replaced[id(parameter)])  # recurrent layers keep a list of theirs


def is_one_number(parameter: torch.Tensor) -> bool:
    return parameter.numel() > 1 and not any(parameter.stride())


@contextlib.contextmanager
def without_first_values() -> Iterator[None]:
    """Modules made meanwhile have parameters that nothing was written to: drawing their first values takes most of the
    time that making a network takes, and all of the memory. Buffers are what they always are."""
    own = vars(torch.nn.init)
    drawing = {name: f for name, f in own.items() if name.endswith("_") and inspect.isfunction(f)}
    own.update(dict.fromkeys(drawing, lambda tensor, *_, **__: tensor))
    try:
        yield
    finally:
        own.update(drawing)


def _buffer(name: str, buffer: torch.Tensor) -> torch.Tensor:
    """Positions count up; of the others (segments of tokens, statistics) nothing depends on the values."""
    if name == "position_ids":
        return torch.arange(buffer.shape[-1], dtype=buffer.dtype).expand(buffer.shape).contiguous()
    return torch.zeros(buffer.shape, dtype=buffer.dtype)


def own_parameters(model: onnx.ModelProto, module: torch.nn.Module, inputs: set[str]) -> None:
    """Turns the parameters among the graph's inputs into initializers, those that carry shapes with their data."""
    tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    graph = model.graph
    for value in [v for v in graph.input if v.name not in inputs]:
        kind = value.type.tensor_type
        tensor = onnx.TensorProto(
            name=value.name, data_type=kind.elem_type, dims=[d.dim_value for d in kind.shape.dim]
        )
        if not strip.is_weight(tensor):
            tensor.raw_data = tensors[value.name].detach().contiguous().numpy().tobytes()
        graph.initializer.append(tensor)
        graph.input.remove(value)
