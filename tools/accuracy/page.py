#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/accuracy.md from tools/accuracy/page.md.in and the figures in docs/accuracy/*.json.

    tools/accuracy/page.py            writes the page, and the figures that the shipped pack carries
    tools/accuracy/page.py --check    fails where the page, a figure of the pack or a chart is stale

In the template `{{table NAME}}` is a table of tables.py or goals.py, `{{chart NAME}}` a chart of charts.py,
`{{percent FILE/KEY/KEY}}` and `{{count ...}}` a single figure, `{{also FILE/KEY}}` a text that may be absent, `{{goals}}`
how many are met, `{{covered TABLE}}` what intervals hold of another benchmark, and lines between `{{if FILE}}` and `{{end}}` stand only where docs/accuracy/FILE.json exists. Standard library only.
"""

from __future__ import annotations

import json
import pathlib
import re
import struct
import sys
import tempfile

import charts
import goals
import tables
from errors import write_json

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "accuracy"
PAGE = ROOT / "docs" / "accuracy.md"
TEMPLATE = pathlib.Path(__file__).with_name("page.md.in")
TEXT = 3  # the kind of a section
PACK = ROOT / "data" / "packs" / "joulecast.jcpack"


def pack_texts(pack: pathlib.Path) -> dict[str, dict]:
    """The JSON sections of a pack by name (docs/formats/pack.md)."""
    content = pack.read_bytes()
    (sections,) = struct.unpack_from("<I", content, 12)
    out = {}
    for entry in range(32, 32 + 96 * sections, 96):
        name, kind, _, offset, size = struct.unpack_from("<64sIIQQ", content, entry)
        if kind == TEXT:
            out[name.rstrip(b"\0").decode()] = json.loads(content[offset : offset + size])
    return out


def from_pack(folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes figures that the shipped pack carries: operations that it was not fitted on, and sweeps, where it was
    judged on them when it was made."""
    texts = pack_texts(PACK)
    keys = ("fitted_on", "held_out_operations", "held_out_gpus", "calibration")
    found = {"operations": {key: texts["report"][key] for key in keys}}
    if left_out := (texts["report"].get("settings") or {}).get("left_out"):
        found["settings"] = {"left_out": left_out}
    for name, content in found.items():
        write_json(folder / f"{name}.json", f"joulecast.accuracy-{name}/1", content)
    return [folder / f"{name}.json" for name in found]


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
            return getattr(goals if rest.startswith("goals") else tables, rest)(figures)
        if kind == "chart":
            return f"![{charts.TITLES[rest]}](accuracy/{rest}.svg)"
        if kind == "percent":
            return f"{100 * single(figures, rest):.1f}"
        if kind == "goals":
            return goals.goals_met(figures)
        if kind == "covered":
            return f"{100 * tables.covered(figures, rest):.0f}"
        if kind == "count":
            return str(single(figures, rest))
        if kind == "also":
            file, key = rest.split("/")
            return f"; {figures[file][key]}" if key in figures[file] else ""
        sys.exit(f"{TEMPLATE}: what is {match[0]}?")

    return re.sub(r"\{\{([^}]+)\}\}", filled, without_absent(TEMPLATE.read_text(), figures))


def check(figures: dict[str, dict]) -> list[str]:
    stale = []
    with tempfile.TemporaryDirectory() as scratch:
        for path in from_pack(pathlib.Path(scratch)):
            if (FOLDER / path.name).read_text() != path.read_text():
                stale.append(f"docs/accuracy/{path.name} is not what the shipped pack says")
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
    from_pack(FOLDER)
    PAGE.write_text(page(read_figures()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
