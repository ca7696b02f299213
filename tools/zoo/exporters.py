"""The ways a torch module becomes an ONNX file, each a function of one network."""

from __future__ import annotations

import contextlib
import inspect
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator

import onnx
import torch

from zoo import strip
from zoo.network import Network

TORCHSCRIPT_OPSET = 17
_LOADABLE = 2**31 - 2**24  # bytes of weights that fit into one protobuf message, with some room for the graph


def torchscript(network: Network) -> onnx.ModelProto:
    """The exporter based on tracing. Batch normalisation stays separate, nothing is folded."""
    axes: dict[str, dict[int, str]] = {name: a for name, a in network.symbols().items() if a}
    for name in network.outputs:
        axes[name] = (network.symbolic_outputs or {}).get(name, {0: "batch"})

    def save(path: str) -> None:
        torch.onnx.export(
            network.module,
            network.example(),
            path,
            dynamo=False,
            opset_version=TORCHSCRIPT_OPSET,
            do_constant_folding=False,
            training=torch.onnx.TrainingMode.PRESERVE,  # EVAL would fold batch normalisation into convolutions
            input_names=list(network.inputs),
            output_names=network.outputs or None,
            dynamic_axes=axes,
        )

    return _through_file(save)


def dynamo(network: Network) -> onnx.ModelProto:
    """The exporter based on torch.export with its usual optimisation, except that batch normalisation is kept."""
    with _without_batch_norm_folding():
        return dynamo_fused(network)


def dynamo_fused(network: Network) -> onnx.ModelProto:
    """The exporter based on torch.export exactly as torch.onnx.export runs it by default."""
    shapes: tuple[object, ...] = tuple(network.symbols().values())
    if _takes_any_number(network.module):
        shapes = (shapes,)  # all of them belong to the one parameter *tensors
    program = torch.onnx.export(
        network.module,
        network.example(),
        dynamo=True,
        dynamic_shapes=shapes,
        input_names=list(network.inputs),
        output_names=network.outputs or None,
        optimize=True,
        verbose=False,
    )
    assert program is not None
    model = _through_file(lambda path: program.save(path, external_data=True))
    _bind_specialised(network, program, model)
    return model


def _through_file(save: Callable[[str], None]) -> onnx.ModelProto:
    """By way of a file, because protobuf messages end at 2 GiB; larger weights stay beside the file and are lost."""
    with tempfile.TemporaryDirectory(prefix="zoo") as folder:
        path = os.path.join(folder, "model.onnx")
        save(path)
        model = onnx.load(path, load_external_data=False)
        outside = [t for t in strip.tensors(model) if t.data_location == onnx.TensorProto.EXTERNAL]
        for tensor in outside:
            if sum(map(strip.tensor_bytes, outside)) < _LOADABLE or not strip.is_weight(tensor):
                onnx.external_data_helper.load_external_data_for_tensor(tensor, folder)
                tensor.ClearField("data_location")
                tensor.ClearField("external_data")
    return model


def _takes_any_number(module: torch.nn.Module) -> bool:
    parameters = inspect.signature(module.forward).parameters.values()
    return any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)


def _bind_specialised(network: Network, program: torch.onnx.ONNXProgram, model: onnx.ModelProto) -> None:
    """torch.export may decide that a dimension can only have the example's value; the file still calls it symbolic."""
    exported = program.exported_program
    assert exported is not None
    nodes = {n.name: n for n in exported.graph.nodes if n.op == "placeholder"}
    user_inputs = exported.graph_signature.user_inputs
    for value, name in zip(model.graph.input, user_inputs, strict=True):
        tensor = nodes[str(name)].meta["val"]
        for axis, dimension in enumerate(value.type.tensor_type.shape.dim):
            if dimension.HasField("dim_param") and isinstance(tensor.shape[axis], int):
                network.notes.append(
                    f"{value.name}: torch.export fixed '{dimension.dim_param}' to {tensor.shape[axis]}"
                )
                dimension.dim_value = tensor.shape[axis]


@contextlib.contextmanager
def _without_batch_norm_folding() -> Iterator[None]:
    from onnxscript import rewriter
    from onnxscript.rewriter.rules.common import _fuse_batchnorm

    saved = rewriter._DEFAULT_REWRITE_RULES
    folding = {id(rule) for rule in _fuse_batchnorm.rules}
    rewriter._DEFAULT_REWRITE_RULES = tuple(rule for rule in saved if id(rule) not in folding)
    try:
        yield
    finally:
        rewriter._DEFAULT_REWRITE_RULES = saved


EXPORTERS: dict[str, Callable[[Network], onnx.ModelProto]] = {
    "torchscript": torchscript,
    "dynamo": dynamo,
    "dynamo-fused": dynamo_fused,
}


def export(network: Network, exporter: str) -> onnx.ModelProto:
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return EXPORTERS[exporter](network)
