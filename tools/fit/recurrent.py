#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a step of a recurrent layer takes beside its product: the constants in src/predict/features_recurrent.cpp.

    tools/fit/recurrent.py deepbench_ops.csv --joulecast build/release/joulecast

Prints the mean and the mean absolute log error of the bound on each GPU of which DeepBench has recurrent layers, with the program's
constants, with those fitted, and with one GPU at a time left out of the fit. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import re
import subprocess
import tempfile

import numpy as np
from law_fit import KernelFit, show_all

LABEL = re.compile(r"Recurrent Layers - (\w+) (\d+) units, (\d+) x (\d+)")
# Seconds, and cycles for a number of depth; forward, and backward to the inputs.
OLDER = {"forward": 31e-6, "forward_depth": 26, "backward": 76e-6, "backward_depth": 85}
VOLTA = {"forward": 23e-6, "forward_depth": 21, "backward": 31e-6, "backward_depth": 9}
STEPS, UNITS, TRAINING, REST = range(4)  # columns; behind them what was measured and the program's bound


def figures(program: str, name: str) -> dict[str, float]:
    text = subprocess.run([program, "gpus", name, "--json"], check=True, stdout=subprocess.PIPE).stdout
    found = json.loads(text)["gpus"][0]["figures"]
    return {"clock": found["boost_clock_mhz"] * 1e6, "capability": float(found.get("compute_capability", 0.0))}


def beside(rows: np.ndarray, device: dict[str, float], c: dict[str, float]) -> np.ndarray:
    depth = rows[:, UNITS] / device["clock"]
    forward = c["forward"] + c["forward_depth"] * depth
    backward = c["backward"] + c["backward_depth"] * depth
    return rows[:, STEPS] * (forward + rows[:, TRAINING] * backward)


def law(rows: np.ndarray, device: dict[str, float], _tile: tuple, c: dict[str, float]) -> np.ndarray:
    return rows[:, REST] + beside(rows, device, c)


def rows_of(program: str, table: pathlib.Path) -> dict[str, list]:
    found: dict[str, list] = {}
    with tempfile.TemporaryDirectory() as name:
        rows = pathlib.Path(name) / "rows.csv"
        subprocess.run([program, "evaluate", table, "--rows", rows], check=True, stdout=subprocess.DEVNULL)
        with rows.open(newline="") as file:
            for row in csv.DictReader(file):
                label = LABEL.match(row["subject"])
                # A layer of one step is a call and little else.
                if not label or row["quantity"] != "time" or int(label[3]) < 2:
                    continue
                training = float(row["mode"] == "training")
                numbers = [int(label[3]), int(label[2]), training, 0.0, float(row["measured"]), float(row["baseline"])]
                found.setdefault(f"{row['gpu']}, {row['precision']}", []).append(numbers)
    return found


def fits(program: str, table: pathlib.Path) -> list[KernelFit]:
    rows = {key: np.array(found) for key, found in rows_of(program, table).items()}
    devices = {key: figures(program, key.split(", ")[0]) for key in rows}
    out = []
    for title, constants, wanted in (
        ("Before Volta", OLDER, lambda d: 0.0 < d["capability"] < 7.0),
        ("From Volta on", VOLTA, lambda d: d["capability"] >= 7.0),
    ):
        own = {key: found for key, found in rows.items() if wanted(devices[key])}
        for key, found in own.items():
            found[:, REST] = found[:, -1] - beside(found, devices[key], constants)
            if (found[:, REST] <= 0.0).any():
                raise SystemExit(f"{key}: the constants here are not the program's")
        out.append(KernelFit(title, law, (), constants, own, devices))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    show_all(fits(options.joulecast, options.table))


if __name__ == "__main__":
    main()
