#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/coverage.md from docs/coverage.json, which `python -m zoo.seen` counted: coverage.py [--check]"""
import collections
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, SEEN = ROOT / "docs/coverage.md", ROOT / "docs/coverage.json"
TITLES = {"pt2": "torch.export (.pt2)", "torchscript": "TorchScript (.pt), calls in its code", "saved_model": "TensorFlow SavedModel",
          "frozen": "TensorFlow frozen GraphDef", "tflite": "TensorFlow Lite", "keras": "Keras (.keras), layers",
          "pdmodel": "Paddle 2 (.pdmodel)", "pir": "Paddle 3 (.json)"}  # fmt: skip

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by tools/docs/coverage.py; don't edit. -->
# What of each framework's operators is known

Operators of the zoo's networks under the names that their framework has for them: in how many networks each occurs, and how often.
An **opaque** one stays in the graph under its own name: its shapes are taken from the file or its inputs, its cost is that of its bytes,
and every output says so. ONNX has [a page of its own](operators.md).

    PYTHONPATH=tools python3 -m zoo.seen build/release/joulecast FOLDER... -o docs/coverage.json   # FOLDER: networks of tools/zoo
    python3 tools/docs/coverage.py
"""


def part(form, networks):
    read = {name: one for name, one in networks.items() if "refused" not in one}
    count, nodes, opaque = collections.Counter(), collections.Counter(), set()
    for one in read.values():
        count.update(one["operators"].keys())
        nodes.update(one["operators"])
        opaque.update(one["unknown"])
    names = sorted(count, key=lambda name: (-count[name], name))
    mapped = [name for name in names if name not in opaque]
    out = [f"\n## {TITLES[form]}\n", f"{len(read)} networks; {len(names)} operators, {len(names) - len(mapped)} of them opaque"
           f"{': ' + ', '.join(f'`{name}`' for name in sorted(opaque)) if opaque else ''}.\n"]  # fmt: skip
    for name, one in sorted(networks.items()):
        if "refused" in one:
            out.append(f"Not read: {name}: `{one['refused']}`\n")
    out += ["| operator | | networks | nodes |", "|---|---|---:|---:|"]
    out += [f"| `{name}` | {'**opaque**' if name in opaque else 'mapped'} | {count[name]} | {nodes[name]} |" for name in names]
    return "\n".join(out) + "\n"


def main():
    seen = json.loads(SEEN.read_text())
    text = HEAD + "".join(part(form, seen[form]) for form in TITLES if form in seen)
    if "--check" not in sys.argv:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit("docs/coverage.md is stale: run tools/docs/coverage.py")


if __name__ == "__main__":
    main()
