"""Counts of a network by programs that are not ours: torch's flop counter and fvcore."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from zoo.network import Network

BATCHES = (1, 8)


def reference(build: Callable[[], Network]) -> dict[str, Any]:
    """Runs the eager module on the meta device, or on the CPU if it needs values; a multiply-add is 2 flops."""
    network = build()
    module = network.module
    result: dict[str, Any] = {
        "torch_params": sum(p.numel() for p in module.parameters()),
        "torch_buffers": sum(b.numel() for b in module.buffers()),
        "batch_norm_modules": sum(isinstance(m, torch.nn.modules.batchnorm._BatchNorm) for m in module.modules()),
        "sizes": network.sizes,
        "inputs": {name: list(i.shape) for name, i in network.inputs.items()},
        "notes": network.notes,
    }
    errors: dict[str, str] = {}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result["fvcore"] = _attempt(errors, "fvcore", lambda: _fvcore(network))
        module.to("meta")
        counts = _attempt(errors, "meta", lambda: _count(network, "meta"))
        if counts is None:  # transformers looks at values of masks, unless it sees that it is being traced
            network = build()
            with FakeTensorMode(allow_non_fake_inputs=True):
                counts = _attempt(errors, "fake", lambda: _count(network, "cpu"))
        if counts is None:
            counts = _attempt(errors, "cpu", lambda: _count(network, "cpu"))
    flops, shapes = counts or (None, None)
    return result | {"torch_flops": flops, "output_shapes": shapes, "errors": errors}


def _attempt(errors: dict[str, str], name: str, action: Any) -> Any:
    try:
        return action()
    except Exception as error:  # a reference that fails is recorded, the others still run
        errors[name] = _text(error)
        return None


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def _count(network: Network, device: str) -> tuple[dict[str, dict[str, int]], dict[str, list[list[int]]]]:
    """By batch: flops by ATen operator, and the outputs' shapes."""
    flops, shapes = {}, {}
    for batch in BATCHES:
        inputs = network.example({"batch": batch}, device)
        # The fused kernels of attention on the CPU are not known to the counter; the plain one is two products.
        with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
            output = network.module(*inputs)
        counted = counter.get_flop_counts().get("Global", {})
        flops[str(batch)] = {str(op): int(n) for op, n in counted.items()}
        shapes[str(batch)] = [list(t.shape) for t in _flat(output)]
    return flops, shapes


def _flat(output: Any) -> list[torch.Tensor]:
    if isinstance(output, torch.Tensor):
        return [output]
    values = output.values() if isinstance(output, dict) else output
    return [t for v in values for t in _flat(v)]


def _fvcore(network: Network) -> dict[str, Any]:
    from fvcore.nn import FlopCountAnalysis

    logging.getLogger("fvcore").setLevel(logging.CRITICAL)
    analysis = FlopCountAnalysis(network.module, network.example({"batch": 1}))
    analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False).tracer_warnings("none")
    by_operator = {k: float(v) for k, v in analysis.by_operator().items()}
    return {
        "batch": 1,
        "multiply_add_counts_as": 1,
        "flops_by_operator": by_operator,
        "unsupported": dict(analysis.unsupported_ops()),
    }
