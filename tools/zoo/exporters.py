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

from zoo import strip, weightless
from zoo.network import Network, UnsupportedNetwork

TORCHSCRIPT_OPSET = 17
_LOADABLE = 2**31 - 2**24  # bytes of weights that fit into one protobuf message, with some room for the graph


def torchscript(network: Network) -> onnx.ModelProto:
    """The exporter based on tracing. Batch normalisation stays separate, nothing is folded, and equal nodes are not merged."""
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
            export_params=not network.weightless,
        )

    with _without_merging():
        model = _through_file(save)
    if network.weightless:
        weightless.own_parameters(model, network.module, set(network.inputs))
    return model


def dynamo(network: Network) -> onnx.ModelProto:
    """The exporter based on torch.export with its usual optimisation, except that batch normalisation is kept."""
    with _without_batch_norm_folding():
        return dynamo_fused(network)


def dynamo_fused(network: Network) -> onnx.ModelProto:
    """The exporter based on torch.export exactly as torch.onnx.export runs it by default."""
    if network.weightless:
        raise UnsupportedNetwork("a network without weights needs the torchscript exporter")
    try:
        program = _torch_export(network, lambda symbol: symbol)
    except Exception as error:
        if "conflict" not in str(error):
            raise
        # A named dimension that turns out to have one possible value is an error; an automatic one gets that value.
        program = _torch_export(network, lambda symbol: torch.export.Dim.AUTO)
    model = _through_file(lambda path: program.save(path, external_data=True))
    _name_symbols(network, model)
    _bind_specialised(network, program, model)
    return model


def _torch_export(network: Network, dimension: Callable[[str], object]) -> torch.onnx.ONNXProgram:
    axes = network.symbols().values()
    shapes: tuple[object, ...] = tuple({axis: dimension(symbol) for axis, symbol in a.items()} for a in axes)
    if takes_any_number(network.module):
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
    return program


def _name_symbols(network: Network, model: onnx.ModelProto) -> None:
    """Gives dimensions that torch.export named itself (s77) the names of the network's symbols."""
    names: dict[str, str] = {}
    for value, axes in zip(model.graph.input, network.symbols().values(), strict=True):
        for axis, symbol in axes.items():
            names.setdefault(value.type.tensor_type.shape.dim[axis].dim_param, symbol)
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param in names:
                dimension.dim_param = names[dimension.dim_param]


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


def takes_any_number(module: torch.nn.Module) -> bool:
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
def _without_merging() -> Iterator[None]:
    """PyTorch runs a ReLU for each branch that begins with one, though all read the same value; the exporter would make it one."""
    merge = torch._C._jit_pass_cse
    torch._C._jit_pass_cse = lambda graph: False
    try:
        yield
    finally:
        torch._C._jit_pass_cse = merge


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
