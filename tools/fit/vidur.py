#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The constants of vLLM's gated activations and norms in src/predict/features_pointwise.cpp and features_reduction.cpp.

    tools/fit/vidur.py vidur_llm_ops.csv --joulecast build/release/joulecast

Prints the mean and the mean absolute log error of the bound on each GPU that vidur measured, with the program's constants, with
those fitted, and with one GPU at a time left out of the fit. Of calls under 5 us, whose whole microseconds tell little, none
counts. It stops if its copy of the law is not the program's. Needs numpy and scipy.
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
from law_fit import KernelFit, sample, show_all

LINES = 60000  # of the table
SHORTEST = 5e-6
GATE = {"row": 442, "number": 0.735, "sharpness": 2.42, "turn": 1200}
NORM = {"number": 0.857, "turn": 1430}
THREADS = 1024
LABEL = re.compile(r"(glu|rms_norm) (\d+)x(\d+)")
GPUS = {"A100": "a100-pcie-80gb"}  # as the program reads the table
START = 4600  # cycles of a captured kernel
STREAMED = 0.9


def device(program: str, name: str) -> dict[str, float]:
    text = subprocess.run([program, "gpus", GPUS.get(name, name), "--json"], check=True, stdout=subprocess.PIPE).stdout
    f = json.loads(text)["gpus"][0]["figures"]
    bandwidth = f["memory_bandwidth_gb_per_s"] * 1e9
    if f["memory_type"].startswith("GDDR") and f.get("memory_total_mib", 1e9) * 2**20 < 0.945 * 2**30 * f["memory_gb"]:
        bandwidth *= 0.91  # codes of error correction stand between the data
    return {"sm": f["sm_count"], "clock": f["boost_clock_mhz"] * 1e6, "bandwidth": bandwidth}


def started(busy: np.ndarray, d: dict[str, float]) -> np.ndarray:
    return (busy**16 + (START / d["clock"]) ** 16) ** (1.0 / 16)


def gate(r: np.ndarray, d: dict[str, float], _tile: tuple, c: dict[str, float]) -> np.ndarray:
    rows, numbers = r[:, 0], r[:, 0] * r[:, 1] / 2  # the row holds both halves
    moved = 6.0 * numbers / (STREAMED * d["bandwidth"])
    cycles = (c["row"] * rows + c["number"] * numbers) / d["sm"] / d["clock"]
    p = c["sharpness"]
    row = c["turn"] * np.ceil(r[:, 1] / 2 / THREADS) / d["clock"]
    return started(np.maximum((moved**p + cycles**p) ** (1.0 / p), row), d)


def norm(r: np.ndarray, d: dict[str, float], _tile: tuple, c: dict[str, float]) -> np.ndarray:
    numbers = r[:, 0] * r[:, 1]
    moved = 6.0 * numbers / (STREAMED * d["bandwidth"])  # read twice
    row = c["turn"] * np.ceil(r[:, 1] / THREADS)
    return started(np.maximum(moved, np.maximum(c["number"] * numbers / d["sm"], row) / d["clock"]), d)


def fits(program: str, table: pathlib.Path) -> list[KernelFit]:
    found: dict[str, dict[str, list]] = {"glu": {}, "rms_norm": {}}
    with tempfile.TemporaryDirectory() as name:
        small, rows = sample(table, pathlib.Path(name), LINES), pathlib.Path(name) / "rows.csv"
        subprocess.run([program, "evaluate", small, "--rows", rows], check=True, stdout=subprocess.DEVNULL)
        with rows.open(newline="") as file:
            for row in csv.DictReader(file):
                label = LABEL.match(row["subject"])
                times = [float(row["measured"]), float(row["baseline"])] if label else [0.0]
                if times[0] > SHORTEST:
                    found[label[1]].setdefault(row["gpu"], []).append([int(label[2]), int(label[3]), *times])
    kernels = (("vLLM's gate", "glu", gate, GATE), ("vLLM's norm", "rms_norm", norm, NORM))
    arrays = {label: {gpu: np.array(rows) for gpu, rows in gpus.items()} for label, gpus in found.items()}
    devices = {gpu: device(program, gpu) for gpus in arrays.values() for gpu in gpus}
    return [KernelFit(title, law, (), constants, arrays[label], devices) for title, label, law, constants in kernels]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    show_all(fits(options.joulecast, options.table))


if __name__ == "__main__":
    main()
