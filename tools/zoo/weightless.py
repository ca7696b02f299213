"""Networks too large to be made: every parameter is one number seen through strides of zero.

Such a module runs (products copy one weight at a time) and takes memory for its activations alone. It is exported with
its parameters as inputs of the graph, which then become weights without data (strip.py takes the data of others out).
"""

from __future__ import annotations

from collections.abc import Callable

import onnx
import torch

from zoo import strip


def make(build: Callable[[], torch.nn.Module]) -> torch.nn.Module:
    """What `build` makes on the meta device, its parameters and buffers replaced."""
    with torch.device("meta"):
        module = build()
    if hasattr(module, "tie_weights"):
        module.tie_weights()
    replaced: dict[int, torch.nn.Parameter] = {}  # tied parameters stay one
    for owner in module.modules():
        for name, parameter in owner.named_parameters(recurse=False):
            if id(parameter) not in replaced:
                data = torch.full((), 0.01, dtype=parameter.dtype).expand(parameter.shape)
                replaced[id(parameter)] = torch.nn.Parameter(data, requires_grad=False)
            owner._parameters[name] = replaced[id(parameter)]
        for name, buffer in owner.named_buffers(recurse=False):
            owner._buffers[name] = _buffer(name, buffer)
    return module


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
