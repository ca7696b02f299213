#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The constants of TF32's convolutions larger than 1x1 in src/predict/features_conv.cpp (is_large), of their forward passes.

    tools/fit/tf32_convolutions.py heidelberg_operations.csv --joulecast build/release/joulecast

Prints the mean and the mean absolute log error of the bound for the 3x3 convolutions of an A30 that take more than 60 us, with the
program's constants, with those fitted to all of them, and of each fifth by constants fitted to the other four. It stops if its copy of
the law is not the program's. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
import subprocess
import tempfile

import numpy as np
from convolutions import COLUMNS, joined, shape_of
from fp32_products import device
from law_fit import LawFit

PROGRAM = {"rate": 0.6, "evened": 0.8, "fill": 100, "narrow": 0.84, "in": 2.25, "out": 0.6, "filters": 1.1, "start": 14}
TILES = [(128, 128, 0), (128, 64, 1), (64, 64, 2), (256, 64, 1), (64, 32, 3), (128, 32, 4), (256, 128, 5)]
LEAST = 44e-6  # seconds a pass at least: eleven starts of a kernel
HOST, HOST_BIAS = 34.5e-6, 16e-6
PEAK = 82e12
FOLDS = 5


def rows_of(program: str, table: str) -> dict[str, np.ndarray]:
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows.csv"
        subprocess.run([program, "evaluate", table, "--rows", str(rows)], check=True, stdout=subprocess.DEVNULL)
        with rows.open(newline="") as file:
            for row in csv.DictReader(file):
                shape = shape_of(row["subject"]) if (row["gpu"], row["mode"], row["quantity"]) == ("a30", "inference", "time") else None
                if shape and shape[5] == shape[6] == 3 and float(row["measured"]) > 60e-6:
                    found[row["subject"]] = [*shape, float(row["measured"]), float(row["baseline"])]
    return dict(zip(COLUMNS, np.array([found[key] for key in sorted(found)]).T))


def products(places: np.ndarray, cout: np.ndarray, depth: np.ndarray, d: dict[str, float], c: dict[str, float]) -> np.ndarray:
    narrow = c["narrow"]
    reached = [1.0, narrow, 0.70, 0.353, narrow / 2.0, 1.05]
    work = []
    for high, wide, kind in TILES:
        waves = np.ceil(places / high) * np.ceil(cout / wide) / d["sm"]
        counted = (1.0 - c["evened"]) * np.ceil(waves) + c["evened"] * np.maximum(waves, 1.0)
        work.append(counted * 2.0 * high * wide / reached[kind] * (depth + c["fill"]))
    return np.min(work, axis=0) / (PEAK / d["sm"] * c["rate"])


def bound(r: dict[str, np.ndarray], d: dict[str, float], c: dict[str, float]) -> np.ndarray:
    high, wide = ((r[size] + 2 * r[pad] - 3) // r["stride"] + 1 for size, pad in (("high", "ph"), ("wide", "pw")))
    places = r["batch"] * high * wide
    numbers_in, out, filters = r["batch"] * r["high"] * r["wide"] * r["cin"], places * r["cout"], 9.0 * r["cin"] * r["cout"]
    number = 4.0 / d["bandwidth"]
    cached = 1.0 - 0.5 * np.clip((0.72 - 4.0 * (numbers_in + out + filters) / d["l2"]) / 0.2, 0.0, 1.0)
    moved = 0.9 * number * (numbers_in + out + filters) * cached
    busy = joined(products(places, r["cout"], 9.0 * r["cin"], d, c), moved, 2.0)
    busy += number * cached * (c["in"] * numbers_in + c["out"] * out + c["filters"] * filters)
    busy += 2.2 * r["bias"] * number * out + c["start"] * 1e-6
    return joined(np.maximum(busy, LEAST), HOST + HOST_BIAS * r["bias"], 8.0)


class Fit(LawFit):
    program = PROGRAM

    def __init__(self, program: str, table: str) -> None:
        self.rows, self.device = rows_of(program, table), device(program, "a30")

    def keys(self) -> list[int]:
        return list(range(FOLDS))

    def fold(self, key: int) -> dict[str, np.ndarray]:
        return {name: values[key::FOLDS] for name, values in self.rows.items()}

    def off(self, key: int, constants: dict[str, float]) -> np.ndarray:
        return np.log(bound(self.fold(key), self.device, constants) / self.fold(key)["measured"])

    def apart(self, key: int) -> float:
        return float(np.abs(bound(self.fold(key), self.device, PROGRAM) / self.fold(key)["baseline"] - 1.0).max())

    def tell(self, label: str, constants: list[dict[str, float]]) -> None:
        """`constants` for each fold; prints their mean."""
        off = np.concatenate([self.off(key, c) for key, c in zip(self.keys(), constants)])
        print(f"{label}: mean {100 * off.mean():.1f} %, absolute {100 * np.abs(off).mean():.1f} % of {len(off)}", flush=True)
        print("   ", ", ".join(f"{name} {np.mean([c[name] for c in constants]):.3g}" for name in PROGRAM), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    fit = Fit(options.joulecast, options.table)
    fit.check()
    fit.tell("the program", [PROGRAM] * FOLDS)
    fit.tell("fitted", [fit.fitted(fit.keys())] * FOLDS)
    fit.tell("each fifth by the others", [fit.fitted([key for key in fit.keys() if key != out]) for out in fit.keys()])


if __name__ == "__main__":
    main()
