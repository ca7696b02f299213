"""What a source of networks hands to the exporters."""

from __future__ import annotations

import contextlib
import difflib
import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

from zoo import weightless

# The sources: one module of zoo.sources each, with a function build(name, options) -> Network.
SOURCES = ("torchvision", "timm", "hf", "neusight", "hwgpt", "nasbench101", "nasbench201", "profet", "recurrent", "tensorflow", "paddle")
# Sources that are not made of torch modules: they have export(name, options, path) instead of build().
# They go through their own converter, whatever exporter is asked for.
FOREIGN_SOURCES = {"tensorflow": "tf2onnx", "paddle": "paddle2onnx"}


class UnsupportedNetwork(Exception):
    """The source does not know this network, or cannot build it without downloads."""


def nearest(name: str, known: Iterable[str]) -> str:
    """For the end of a sentence that says that there is no such network: what may have been meant."""
    names = difflib.get_close_matches(name, list(known))
    return f"; it has {', '.join(names)}" if names else ""


@dataclass(frozen=True)
class Options:
    """Sizes the caller asked for; None leaves the network's own default."""

    batch: int = 2
    image_size: int | None = None
    sequence: int | None = None
    symbolic_image: bool = False

    def suffix(self) -> str:
        """Tells apart files of one network at several sizes; empty for the defaults."""
        text = f"_s{self.image_size}" if self.image_size else ""
        text += f"_l{self.sequence}" if self.sequence else ""
        return text + ("_anysize" if self.symbolic_image else "")


@dataclass(frozen=True)
class Input:
    """One graph input. A string among the dimensions is a symbol, bound by Network.sizes."""

    shape: tuple[int | str, ...]
    dtype: torch.dtype = torch.float32
    high: int = 2  # integer inputs are drawn from [0, high)
    ones: bool = False  # masks

    def bound(self, sizes: dict[str, int]) -> tuple[int, ...]:
        return tuple(sizes[d] if isinstance(d, str) else d for d in self.shape)

    def tensor(self, sizes: dict[str, int], device: str = "cpu") -> torch.Tensor:
        shape = self.bound(sizes)
        if self.ones:
            return torch.ones(shape, dtype=self.dtype, device=device)
        if self.dtype.is_floating_point:
            return torch.randn(shape, dtype=self.dtype, device=device)
        return torch.randint(0, self.high, shape, dtype=self.dtype, device=device)


@dataclass
class Network:
    """A torch module, its inputs in the order of forward(), and what the symbols stand for."""

    module: torch.nn.Module
    inputs: dict[str, Input]
    sizes: dict[str, int]
    outputs: list[str] = field(default_factory=lambda: ["output"])
    symbolic_outputs: dict[str, dict[int, str]] | None = None  # None: batch comes first, in all of them
    notes: list[str] = field(default_factory=list)
    training: bool = False  # in train mode, with its dropout; else in eval mode
    weightless: bool = False  # made by zoo.weightless

    def example(self, sizes: dict[str, int] | None = None, device: str = "cpu") -> tuple[torch.Tensor, ...]:
        bound = {**self.sizes, **(sizes or {})}
        return tuple(i.tensor(bound, device) for i in self.inputs.values())

    def symbols(self) -> dict[str, dict[int, str]]:
        """Input name -> axis -> symbol."""
        return {
            name: {axis: d for axis, d in enumerate(i.shape) if isinstance(d, str)} for name, i in self.inputs.items()
        }


def split_name(network: str) -> tuple[str, str]:
    source, colon, name = network.partition(":")
    if not colon or source not in SOURCES or not name:
        raise UnsupportedNetwork(f"'{network}': expected SOURCE:NAME with SOURCE one of {', '.join(SOURCES)}")
    return source, name


def source_module(source: str) -> Any:
    return importlib.import_module(f"zoo.sources.{source}")


def build(network: str, options: Options, without_weights: bool = False) -> Network:
    """`without_weights`: as zoo.weightless makes them, for exporters that need no values."""
    source, name = split_name(network)
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)  # fused attention of inference: neither exported nor counted
    builder: Callable[[str, Options], Network] = source_module(source).build
    with weightless.without_first_values() if without_weights else contextlib.nullcontext():
        made = builder(name, options)
    made.module.train(made.training)
    made.module.requires_grad_(False)
    if made.weightless:
        return made
    if without_weights:
        weightless.replace_parameters(made.module)
        made.weightless = True
    randomise(made.module)
    return made


def randomise(module: torch.nn.Module) -> None:
    """Gives every weight its own values, but for those of zoo.weightless, which have.

    Fresh networks have many equal tensors (ones in every normalisation), and exporters merge equal tensors; those of a
    trained network are all different, so merged ones would make an untypical graph.
    """
    generator = torch.Generator().manual_seed(0)
    parameters = [p for p in module.parameters() if not weightless.is_one_number(p)]
    for tensor in [*parameters, *(b for n, b in module.named_buffers() if n.endswith("running_mean"))]:
        if tensor.is_floating_point() and tensor.numel() <= 65536 and tensor.device.type == "cpu":
            tensor.data.add_(torch.rand(tensor.shape, generator=generator).to(tensor.dtype), alpha=0.01)
    for name, buffer in module.named_buffers():
        if name.endswith("running_var"):
            buffer.add_(torch.rand(buffer.shape, generator=generator).to(buffer.dtype), alpha=0.01)
