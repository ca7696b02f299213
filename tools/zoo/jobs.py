"""One job: a network through an exporter, to NAME.onnx, NAME.shapes.json.gz and NAME.ref.json."""

from __future__ import annotations

import collections
import gzip
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

from zoo import exported, exporters, isolate, reference, scripts, shapes, strip
from zoo import network as networks


# Exporters that write programs of torch.export; whether these are decomposed.
PROGRAMS = {"export": False, "export-decomposed": True}
# Exporters that write TorchScript; how.
SCRIPTS = {"jit-trace": "trace", "jit-script": "script", "jit-freeze": "freeze"}


@dataclass(frozen=True)
class Limits:
    timeout_s: float = 300
    memory_gib: float = 12


@dataclass(frozen=True)
class Job:
    network: str
    exporter: str
    options: networks.Options
    keep_weights: bool = False
    references: bool = True
    weightless: bool = False  # made by zoo.weightless: many times faster
    file_name: str | None = None  # instead of one made of the network's name

    def stem(self) -> str:
        if self.file_name:
            return self.file_name
        return self.network.replace(":", "_").replace("/", "_") + self.options.suffix()

    def key(self) -> str:
        """In the summary."""
        return f"{self.exporter}/{self.stem()}"

    def path(self, out: Path) -> Path:
        ending = "pt2" if self.exporter in PROGRAMS else "pt" if self.exporter in SCRIPTS else "onnx"
        return out / self.exporter / f"{self.stem()}.{ending}"


def run(job: Job, out: Path, limits: Limits) -> dict[str, Any]:
    """Returns the job's entry for the summary. Raises isolate.ChildFailed."""
    path = job.path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    made = isolate.run(lambda: _export(job, path), limits.timeout_s, limits.memory_gib)
    if job.references:
        counted = _reference(job, out, limits)
        _write_json(_beside(path, ".ref.json"), {**counted, **made})
    return {**made, "file": str(path.relative_to(out)), "seconds": round(time.monotonic() - started, 1)}


def _export(job: Job, path: Path) -> dict[str, Any]:
    if job.exporter in PROGRAMS or job.exporter in SCRIPTS:
        return _export_program(job, path)
    source, name = networks.split_name(job.network)
    if source in networks.FOREIGN_SOURCES:
        model, sizes = networks.source_module(source).export(name, job.options)
        notes = []
    else:
        built = _build(job)
        model, sizes = exporters.export(built, job.exporter), built.sizes
        if job.keep_weights and any(t.external_data for t in strip.tensors(model)):
            raise networks.UnsupportedNetwork("weights of 2 GiB or more do not fit into one file")
        notes = built.notes
    dropped = 0 if job.keep_weights else strip.strip(model)
    temporary = path.with_suffix(".part")
    with open(temporary, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))
    if job.references:
        _write_shapes(model, sizes, _beside(path, ".shapes.json.gz"))
    os.replace(temporary, path)
    operators = collections.Counter(_operator(n) for n in model.graph.node)
    return {
        "network": job.network,
        "exporter": job.exporter,
        "batch": sizes.get("batch", job.options.batch),
        "sizes": sizes,
        "graph_inputs": {v.name: _shape(v) for v in model.graph.input},
        "graph_outputs": {v.name: _shape(v) for v in model.graph.output},
        "opset": {o.domain or "ai.onnx": o.version for o in model.opset_import},
        "operators": dict(sorted(operators.items())),
        "batch_norm_nodes": operators["BatchNormalization"],
        "bytes": path.stat().st_size,
        "dropped_bytes": dropped,
        "notes": notes,
    }


def _build(job: Job) -> networks.Network:
    if not job.weightless:
        return networks.build(job.network, job.options)
    if job.keep_weights:
        raise networks.UnsupportedNetwork("what has no weights cannot keep them")
    return networks.build(job.network, job.options, without_weights=True)


def _export_program(job: Job, path: Path) -> dict[str, Any]:
    if job.keep_weights:
        raise networks.UnsupportedNetwork("programs are written without weights")
    built = _build(job)
    temporary = path.with_suffix(".part")
    if job.exporter in SCRIPTS:
        temporary.write_bytes(scripts.export(built, SCRIPTS[job.exporter]))
    else:
        temporary.write_bytes(exported.export(built, PROGRAMS[job.exporter]))
    os.replace(temporary, path)
    return {
        "network": job.network,
        "exporter": job.exporter,
        "batch": built.sizes.get("batch", job.options.batch),
        "sizes": built.sizes,
        "bytes": path.stat().st_size,
        "notes": built.notes,
    }


def _operator(node: onnx.NodeProto) -> str:
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type


def _shape(value: onnx.ValueInfoProto) -> list[int | str | None]:
    return [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in value.type.tensor_type.shape.dim]


def _write_shapes(model: onnx.ModelProto, sizes: dict[str, int], path: Path) -> None:
    try:
        found: dict[str, Any] = {"sizes": sizes, "values": shapes.infer(model, sizes)}
    except Exception as error:  # shape inference may refuse a model that is fine otherwise; the file says so
        found = {"sizes": sizes, "error": f"{type(error).__name__}: {error}"[:500]}
    text = json.dumps(found, separators=(",", ":"), sort_keys=True).encode()
    path.write_bytes(gzip.compress(text, mtime=0))


def _reference(job: Job, out: Path, limits: Limits) -> dict[str, Any]:
    """Counted once for all exporters of a network."""
    if networks.split_name(job.network)[0] in networks.FOREIGN_SOURCES:
        return {}
    cached = out / "references" / f"{job.stem()}.json"
    if cached.exists():
        return json.loads(cached.read_text())
    try:
        counted = isolate.run(
            lambda: reference.reference(lambda: networks.build(job.network, job.options)),
            limits.timeout_s,
            limits.memory_gib,
        )
    except isolate.ChildFailed as error:
        return {"errors": {"reference": str(error)}}
    _write_json(cached, counted)
    return counted


def _write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n")


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.stem + ending)
