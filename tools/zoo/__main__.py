"""python -m zoo: exports networks to files without weights (ONNX, torch.export), and checks them."""

from __future__ import annotations

import argparse
import fcntl
import importlib
import json
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_STARTED = time.monotonic()


def main() -> int:
    arguments = _parser().parse_args()
    return arguments.action(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="zoo", description=__doc__)
    actions = parser.add_subparsers(required=True)

    export = actions.add_parser("export", help="networks to files without weights")
    export.add_argument("networks", nargs="*", metavar="SOURCE:NAME")
    export.add_argument("--list", type=Path, action="append", default=[], help="file with a network a line")
    export.add_argument(
        "--exporter",
        action="append",
        help="torchscript (default), dynamo, dynamo-fused, export, export-decomposed, jit-trace, jit-script, jit-freeze",
    )
    export.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    export.add_argument("--batch", type=int, default=2, help="batch of the example input; stays symbolic in the file")
    export.add_argument("--image-size", type=int)
    export.add_argument("--sequence", type=int)
    export.add_argument("--symbolic-image", action="store_true", help="height and width stay symbolic as well")
    export.add_argument("--keep-weights", action="store_true")
    export.add_argument(
        "--weightless", action="store_true", help="networks never have weights: much faster (torchscript, export, jit-*)"
    )
    export.add_argument(
        "--within",
        type=float,
        metavar="SECONDS",
        help="begin no network after that, but one at least; in an order that mixes families. The next run makes more",
    )
    export.add_argument("--no-references", action="store_true", help="only the ONNX file")
    export.add_argument("--retry", action="store_true", help="try again what failed in an earlier run")
    export.add_argument("--timeout", type=float, default=300, metavar="SECONDS", help="of processor time, a network")
    export.add_argument("--memory", type=float, default=12, metavar="GIB")
    export.set_defaults(action=_export)

    strip = actions.add_parser("strip", help="take the weights out of an ONNX file")
    strip.add_argument("input", type=Path)
    strip.add_argument("output", type=Path)
    strip.set_defaults(action=_strip)

    check = actions.add_parser("check", help="compare the flops of exported files with torch's count")
    check.add_argument("files", nargs="+", type=Path, metavar="MODEL.onnx")
    check.set_defaults(action=_check)

    reference = actions.add_parser("reference", help="print the counts of a network by torch and fvcore")
    reference.add_argument("network", metavar="SOURCE:NAME | MODEL.onnx", help="a file is looked up in its .ref.json")
    reference.add_argument("--image-size", type=int)
    reference.add_argument("--sequence", type=int)
    reference.set_defaults(action=_reference)
    return parser


def _read_list(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Lines 'SOURCE:NAME [image_size=N] [sequence=N] [symbolic_image=1] [as=FILE]'; '#' starts a comment."""
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            options = dict(w.split("=") for w in words[1:])
            yield words[0], {key: value if key == "as" else int(value) for key, value in options.items()}


def _export(arguments: argparse.Namespace) -> int:
    import torch

    from zoo import jobs
    from zoo.network import FOREIGN_SOURCES, SOURCES, Options

    torch.set_num_threads(1)
    base = {
        "batch": arguments.batch,
        "image_size": arguments.image_size,
        "sequence": arguments.sequence,
        "symbolic_image": arguments.symbolic_image,
    }
    wanted: list[tuple[str, dict[str, Any]]] = [(n, {}) for n in arguments.networks] + [
        e for path in arguments.list for e in _read_list(path)
    ]
    todo = [
        jobs.Job(
            name,
            exporter,
            Options(**{**base, **{k: v for k, v in own.items() if k != "as"}}),
            arguments.keep_weights,
            not arguments.no_references,
            arguments.weightless,
            own.get("as"),
        )
        for name, own in wanted
        for exporter in _exporters(name, arguments.exporter or ["torchscript"], FOREIGN_SOURCES)
    ]
    for source in {job.network.partition(":")[0] for job in todo} & set(SOURCES):
        _import_once(source)
    return _run_all(todo, arguments)


def _exporters(network: str, wanted: list[str], foreign: dict[str, str]) -> list[str]:
    source = network.partition(":")[0]
    return [foreign[source]] if source in foreign else wanted


def _import_once(source: str) -> None:
    """Children are forked, so imports made here are made once. One that fails will fail in each child, and be told."""
    try:
        importlib.import_module(f"zoo.sources.{source}")
    except Exception as error:
        print(f"{source}: {error}", file=sys.stderr)


def _run_all(todo: list[Any], arguments: argparse.Namespace) -> int:
    from zoo import isolate, jobs

    out: Path = arguments.output
    out.mkdir(parents=True, exist_ok=True)
    limits = jobs.Limits(arguments.timeout, arguments.memory)
    summary = out / "summary.json"
    entries: dict[str, dict[str, Any]] = json.loads(summary.read_text()) if summary.exists() else {}
    failures = done = 0
    settled = {"ok"} if arguments.retry else {"ok", "failed"}
    missing = [job for job in todo if not _is_settled(job, entries, settled, out)]
    if arguments.within is not None:
        missing.sort(key=lambda job: zlib.crc32(job.stem().encode()))
    for job in missing:
        if done and arguments.within is not None and time.monotonic() - _STARTED > arguments.within:
            break
        key = job.key()
        try:
            entry = {"status": "ok", **jobs.run(job, out, limits)}
        except isolate.ChildFailed as error:
            failures += 1
            entry = {"status": "failed", "network": job.network, "exporter": job.exporter, "reason": str(error)}
        _record(summary, key, entry)
        done += 1
        number = len(todo) - len(missing) + done
        print(f"[{number}/{len(todo)}] {key}: {entry.get('reason') or entry['seconds']}", file=sys.stderr, flush=True)
    return 1 if failures else 0


def _is_settled(job: Any, entries: dict[str, dict[str, Any]], settled: set[str], out: Path) -> bool:
    """What failed wrote no file; what was made is made again where its file is gone."""
    status = entries.get(job.key(), {}).get("status")
    return status in settled and (status == "failed" or job.path(out).exists())


def _record(summary: Path, key: str, entry: dict[str, Any]) -> None:
    """Adds one entry to the summary, which other runs may be writing as well."""
    with open(summary.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        entries = json.loads(summary.read_text()) if summary.exists() else {}
        entries[key] = entry
        part = summary.with_suffix(".part")
        part.write_text(json.dumps(entries, indent=1, sort_keys=True) + "\n")
        part.replace(summary)


def _strip(arguments: argparse.Namespace) -> int:
    import onnx

    from zoo import strip

    model = onnx.load(arguments.input, load_external_data=False)
    dropped = strip.strip(model)
    arguments.output.write_bytes(model.SerializeToString(deterministic=True))
    print(f"{dropped} bytes of weights dropped", file=sys.stderr)
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from zoo import check

    differing = 0
    for path in arguments.files:
        for c in check.compare(path):
            word = "ok" if c.agrees() else "DIFFERS"
            differing += not c.agrees()
            print(f"{word}\t{c.file}\tbatch {c.batch}\ttorch {c.torch_flops}\tonnx {c.onnx_flops}\tunknown {c.unknown}")
    return 1 if differing else 0


def _reference(arguments: argparse.Namespace) -> int:
    name: str = arguments.network
    if name.endswith(".onnx"):
        from zoo import check

        print(check.reference_path(Path(name)).read_text(), end="")
        return 0
    from zoo import network, reference

    options = network.Options(image_size=arguments.image_size, sequence=arguments.sequence)
    print(json.dumps(reference.reference(lambda: network.build(name, options)), indent=1, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
