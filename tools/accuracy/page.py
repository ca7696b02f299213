#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/accuracy.md from tools/accuracy/page.md.in and the figures in docs/accuracy/*.json.

    tools/accuracy/page.py            writes the page, and operations.json from the shipped pack's own report
    tools/accuracy/page.py --check    fails where the page, operations.json or a chart is not what they make

In the template `{{table NAME}}` is a table of tables.py, `{{chart NAME}}` a chart of charts.py,
`{{percent FILE/KEY/KEY}}` and `{{factor ...}}` a single figure, and lines between `{{if FILE}}` and `{{end}}` stand only
where docs/accuracy/FILE.json exists. Standard library only.
"""

from __future__ import annotations

import json
import math
import pathlib
import re
import sys

import charts
import tables
from errors import rounded

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "accuracy"
PAGE = ROOT / "docs" / "accuracy.md"
TEMPLATE = pathlib.Path(__file__).with_name("page.md.in")
PACK = ROOT / "data" / "packs" / "joulecast.jcpack"


def pack_report(pack: pathlib.Path) -> dict:
    text = pack.read_bytes()
    begin = text.index(b'{\n "schema": "joulecast.pack-report/1"')
    return json.JSONDecoder().raw_decode(text[begin:].decode("utf-8", "replace"))[0]


def operations_json() -> str:
    """What the shipped pack says about operations that it was not fitted on."""
    report = pack_report(PACK)
    kept = {key: report[key] for key in ("fitted_on", "held_out_operations", "held_out_gpus")}
    return json.dumps({"schema": "joulecast.accuracy-operations/1", **rounded(kept)}, indent=1) + "\n"


def read_figures() -> dict[str, dict]:
    return {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


def single(figures: dict[str, dict], path: str) -> float:
    value: object = figures
    for key in path.split("/"):
        value = value[int(key) if isinstance(value, list) else key]
    return value


def without_absent(text: str, figures: dict[str, dict]) -> str:
    """Optional parts, kept or left out."""
    optional = re.compile(r"^\{\{if (\w+)\}\}\n(.*?)^\{\{end\}\}\n", re.MULTILINE | re.DOTALL)
    return optional.sub(lambda match: match[2] if match[1] in figures else "", text)


def page(figures: dict[str, dict]) -> str:
    def filled(match: re.Match) -> str:
        kind, _, rest = match[1].partition(" ")
        if kind == "table":
            return getattr(tables, rest)(figures)
        if kind == "chart":
            return f"![{charts.TITLES[rest]}](accuracy/{rest}.svg)"
        if kind == "percent":
            return f"{100 * single(figures, rest):.1f}"
        if kind == "factor":
            return f"{math.exp(single(figures, rest)):.2f}"
        if kind == "count":
            return str(single(figures, rest))
        sys.exit(f"{TEMPLATE}: what is {match[0]}?")

    return re.sub(r"\{\{([^}]+)\}\}", filled, without_absent(TEMPLATE.read_text(), figures))


def check(figures: dict[str, dict]) -> list[str]:
    stale = []
    if (FOLDER / "operations.json").read_text() != operations_json():
        stale.append("docs/accuracy/operations.json is not the shipped pack's report")
    if PAGE.read_text() != page(figures):
        stale.append("docs/accuracy.md is not what template and figures make")
    for name, spec in charts.specs(figures).items():
        path = FOLDER / f"{name}.svg"
        if not path.exists() or charts.stamp(spec) not in path.read_text():
            stale.append(f"docs/accuracy/{name}.svg was not drawn from these figures")
    return stale


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        stale = check(read_figures())
        for line in stale:
            print(f"{line}: make accuracy", file=sys.stderr)
        return 1 if stale else 0
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    (FOLDER / "operations.json").write_text(operations_json())
    PAGE.write_text(page(read_figures()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
