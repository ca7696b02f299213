#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of docs/accuracy.md: tables.py PACK FAMILIES_REPORT"""

from __future__ import annotations

import json
import math
import pathlib
import sys


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def table(title: str, head: list[str], rows: list[list[str]]) -> None:
    print(f"\n### {title}\n\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def pack_report(pack: pathlib.Path) -> dict:
    text = pack.read_bytes()
    begin = text.index(b'{\n "schema": "joulecast.pack-report/1"')
    return json.JSONDecoder().raw_decode(text[begin:].decode("utf-8", "replace"))[0]


def from_pack(report: dict, section: str, title: str) -> None:
    head = ["table, GPU, mode", "n", "bound alone: MAPE", "time: MAPE", "median", "R2", "power: MAPE", "R2", "energy: MAPE"]
    rows = []
    for key, cell in report[section].items():
        time, power = cell["time"], cell["power"]
        rows.append(
            [key.replace("/", ", "), str(time["n"]), percent(cell["time_bound_alone"]["mape"]), percent(time["mape"])]
            + [percent(time["median_ape"]), number(time["r2"]), percent(power["mape"]), number(power["r2"])]
            + [percent(cell["energy"]["mape"])]
        )
    table(title, head, rows)


def from_families(cells: dict, title: str, baseline: str) -> None:
    head = ["", "n", f"{baseline}: MAPE", "time: MAPE", "median", "bias", "R2", "power: MAPE", "R2", "energy: MAPE"]
    rows = []
    for key in dict.fromkeys(key.rsplit(" ", 1)[0] for key in cells):
        time, power, energy = (cells.get(f"{key} {quantity}", {}) for quantity in ("time", "power", "energy"))
        rows.append(
            [key, str(time["n"]), percent(time.get("baseline_mape")), percent(time["mape"]), percent(time["median_ape"])]
            + [percent(time["bias"]), number(time["r2"]), percent(power.get("mape")), number(power.get("r2"))]
            + [percent(energy.get("mape"))]
        )
    table(title, head, rows)


def intervals(calibration: dict) -> None:
    rows = []
    for key, value in calibration["intervals"].items():
        evidence = calibration["evidence"].get(key, {})
        rows.append(
            [key, f"{math.exp(value):.2f}", str(evidence.get("n", "-")), percent(evidence.get("covers"))]
            + [percent(evidence.get("covers_left_out"))]
        )
    table("Intervals of 90 %", ["", "factor", "rows", "covered", "covered when left out"], rows)


def main() -> None:
    report = pack_report(pathlib.Path(sys.argv[1]))
    families = json.loads(pathlib.Path(sys.argv[2]).read_text())
    from_pack(report, "held_out_operations", "Held-out operations (15 folds over distinct operations)")
    from_pack(report, "held_out_gpus", "Held-out GPUs: operations")
    from_families(families["family_operations"], "Held-out families: operations", "bound")
    from_families(families["family_networks"], "Held-out families: whole networks", "roofline")
    from_families(families["family_networks_by_family"], "Held-out families: whole networks, by family", "roofline")
    from_families(families["gpu_networks"], "Held-out GPUs: whole networks", "roofline")
    from_families(families["outside_networks"], "Whole networks of other GPUs and hosts", "roofline")
    ratio = families["timm_3090_to_4090"]
    table(
        "timm networks from RTX 3090 to RTX 4090",
        ["networks", "predicted ratio: median error", "bias", "constant ratio: median error"],
        [[str(ratio["n"])] + [percent(ratio[k]) for k in ("predicted_median_ape", "predicted_bias", "constant_median_ape")]],
    )
    intervals(families["calibration"])


if __name__ == "__main__":
    main()
