#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The constants of linear layers in FP32 in src/predict/law.cpp and features_gemm.cpp; batched_products.py has the others.

    tools/fit/fp32_products.py neusight_gemm.csv heidelberg_operations.csv --joulecast build/release/joulecast

Prints the mean and the mean absolute log error of the bound on every GPU with the program's constants, with those fitted to all
GPUs, and with one kind of GPU at a time left out of the fit (the P100's own constants stay). It stops if its copy of the law is not
the program's. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import pathlib
import re
import subprocess
import tempfile

import numpy as np
from law_fit import LawFit
from power_limit import fed, held

LINEAR = [(64, 128), (32, 128), (128, 32), (128, 128), (64, 64), (32, 32), (32, 64)]
P100 = [(128, 32)]
# Shares of the peak and of the bandwidth, cycles, exponents. `written`: of the results, how much longer they take than their bytes,
# before Ampere. `long`, before Ampere, and `short`: of the clock that the power limit leaves, how much more long calls of a sweep lose
# and how much less those that take less than `short time` seconds. `deep`: of Pascal's linear layers.
PROGRAM = {"efficiency": 1.19, "edge": 10.5, "depth": 45.3, "fixed": 268, "latency": 12.7, "output": 0.097,
           "sharpness": 1.46, "streamed": 0.84, "written": 0.57, "waited": 0.64,
           "long": 0.37, "short": 0.98, "short ampere": 0.36, "short time": 2.5e-3, "p100 efficiency": 1.0,
           "deep p100": 0.73, "deep": 0.25, "deep from": 9720, "deep rows": 0.44}  # fmt: skip
HOLD = 1.34  # before Ampere: of the clock that the power limit leaves, in networks
BUSY = 1.2  # of what a call costs the host: rows that take longer
ROWS = 1500  # of each GPU and kind
LINEAR_LABEL = re.compile(r"linear (\d+)x(\d+) by (\d+)x")
MODULE_LABEL = re.compile(r"Linear\(in_features=(\d+), out_features=(\d+), bias=\w+\) ([\dx]+)x")
BATCHED_LABEL = re.compile(r"matmul (\d+)x(\d+)x(\d+) by \d+x\d+x(\d+)")
# How slow the machines of NeuSight's loops are (src/predict/measured_work.cpp).
LOOPS = {"Tesla V100-PCIE-32GB": 1.24, "Tesla P100-PCIE-16GB": 1.65}
PRODUCT_LOOPS = LOOPS | {"Tesla V100-PCIE-32GB": 1.5}  # of activations


def device(program: str, name: str) -> dict[str, float]:
    name = name.removesuffix("-no-tensor-cores")
    text = subprocess.run([program, "gpus", name, "--json"], check=True, stdout=subprocess.PIPE).stdout
    f = json.loads(text)["gpus"][0]["figures"]
    capability, bandwidth = float(f["compute_capability"]), f["memory_bandwidth_gb_per_s"] * 1e9
    coded = f["memory_type"].startswith("GDDR") and f.get("memory_total_mib", 1e9) * 2**20 < (
        0.945 * 2**30 * f["memory_gb"]
    )
    if capability == 6.0 or coded:
        bandwidth *= 0.91 if capability >= 8.0 else 0.81
    return {"sm": f["sm_count"], "clock": f["boost_clock_mhz"] * 1e6, "bandwidth": bandwidth, "l2": f["l2_cache_mib"] * 2**20,
            "start": 4e-6 if f["memory_type"].startswith("HBM") and capability < 9.0 else 1.4e-6, "peak": f["fp32_tflops"] * 1e12 * fed(capability), "held": held(f, "fp32"), "capability": capability}  # fmt: skip


def floor_of(gpu: str, linear: bool) -> float:
    """Seconds that a call costs the host (src/predict/host.cpp)."""
    if gpu.startswith("a30"):
        return 26.5e-6
    if gpu == "rtx2080ti":
        return 73e-6  # in training state
    return 54e-6 * LOOPS.get(gpu, 1.0) if linear else 32e-6 * PRODUCT_LOOPS.get(gpu, 1.0)


def shape_of(subject: str) -> tuple[str, list[int]] | None:
    """Kind and batch, rows, columns, depth."""
    if found := BATCHED_LABEL.match(subject):
        batch, m, k, n = (int(x) for x in found.groups())
        return ("batched", [batch, m, n, k]) if batch > 1 else None  # one product takes other kernels
    if found := LINEAR_LABEL.match(subject):
        m, k, n = (int(x) for x in found.groups())
        return "linear", [1, m, n, k]
    if found := MODULE_LABEL.match(subject):
        return "linear", [1, math.prod(int(x) for x in found[3].split("x")), int(found[2]), int(found[1])]
    return None


def swept_lines(table: str) -> set[str]:
    """Lines of NeuSight's sweeps, its training halves."""
    with open(table, newline="") as file:
        return {str(line) for line, row in enumerate(csv.DictReader(file), 2) if row.get("split") == "train"}


def products(program: str, tables: list[str], kind: str) -> dict[str, np.ndarray]:
    """By GPU: batch, rows, columns, depth, whether of a sweep, seconds measured and the program's bound; of those that keep the GPU
    busy."""
    out: dict[str, list] = {}
    for table in tables:
        sweep = swept_lines(table)
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder) / "rows.csv"
            subprocess.run([program, "evaluate", table, "--rows", str(rows)], check=True, stdout=subprocess.DEVNULL)
            with rows.open(newline="") as file:
                for row in csv.DictReader(file):
                    wanted = row["quantity"] == "time" and row["mode"] == "inference" and "other-" not in row["cautions"]
                    found = shape_of(row["subject"])
                    if not found or found[0] != kind or not wanted or "MI100" in row["gpu"]:
                        continue
                    if float(row["measured"]) > BUSY * floor_of(row["gpu"], kind == "linear"):
                        times = [float(row["measured"]), float(row["baseline"])]
                        out.setdefault(row["gpu"], []).append([*found[1], row["line"] in sweep, *times])
    draw = np.random.default_rng(1)
    return {gpu: np.array(found)[draw.permutation(len(found))[:ROWS]] for gpu, found in sorted(out.items())}


def peak_of(d: dict[str, float]) -> float:
    return d["peak"] * d["held"] ** (1.0 if d["capability"] >= 8.0 else HOLD)


def swept(time: np.ndarray, rows: np.ndarray, d: dict[str, float], constants: dict[str, float]) -> np.ndarray:
    """Of a sweep's rows, on the clock that a board keeps in them."""
    ampere = d["capability"] >= 8.0
    short = constants["short ampere" if ampere else "short"] / (1.0 + (time / constants["short time"]) ** 1.5)
    return time * d["held"] ** (rows[:, 4] * (short - (0.0 if ampere else constants["long"])))


def finished(products: np.ndarray, moved: np.ndarray, taken: np.ndarray, d: dict[str, float], streamed: float, sharpness: float,
             host: float, waited: float | None) -> np.ndarray:  # fmt: skip
    """Products joined with `taken` bytes, of a working set of `moved`, and with the host, of whose time a loop's calls wait for a
    share (None: modules)."""
    hit = 1.0 / (1.0 + (moved / (0.6 * d["l2"])) ** 3)
    memory = d["bandwidth"] * streamed
    taken = taken * ((1.0 - hit) / memory + hit / max(d["sm"] * d["clock"] * 6.4, memory))
    busy = (products**sharpness + taken**sharpness) ** (1.0 / sharpness)
    if waited is None:
        return (busy**4 + host**4) ** 0.25
    busy = busy + waited * host + d["start"]
    larger = np.maximum(busy, host)
    return larger * (1.0 + (np.minimum(busy, host) / larger) ** 16) ** (1.0 / 16)


def deeper(rows: np.ndarray, capability: float, constants: dict[str, float]) -> np.ndarray:
    """How much longer Pascal's linear layers take, whose rows lie far apart."""
    slope = constants["deep p100" if capability == 6.0 else "deep"]
    apart = rows[:, 3] * (rows[:, 1] / 1000.0) ** constants["deep rows"]
    return 1.0 + slope * np.log(np.maximum(1.0, apart / constants["deep from"]))


def products_time(rows: np.ndarray, d: dict[str, float], c: dict[str, float]) -> np.ndarray:
    m, n, k = rows.T[1:4]
    efficiency = c["p100 efficiency" if d["capability"] == 6.0 else "efficiency"]
    best = np.full(len(rows), np.inf)
    for high, wide in P100 if d["capability"] == 6.0 else LINEAR:
        reach = peak_of(d) / d["sm"] * efficiency / (1.0 + c["edge"] * (high + wide) / (high * wide))
        for split in (1, 2, 4, 8, 16):
            part = k / split
            waves = np.ceil(np.ceil(m / high) * np.ceil(n / wide) * split / d["sm"])
            latency = part / 32.0 * c["depth"] / d["clock"] * np.maximum(1.0, waves / c["latency"])
            time = np.maximum(waves * 2.0 * high * wide * part / reach, latency)
            time = time + (c["fixed"] + waves * c["output"] * high * wide) / d["clock"]
            if split > 1:
                time = time + split * 4.0 * m * n / d["bandwidth"] + 3.1e-6
            best = np.minimum(best, np.where((split == 1) | (part >= 32.0), time, np.inf))
    return best * deeper(rows, d["capability"], c) if d["capability"] < 7.0 else best


def bound(gpu: str, rows: np.ndarray, d: dict[str, float], c: dict[str, float]) -> np.ndarray:
    best = swept(products_time(rows, d, c), rows, d, c)
    _, m, n, k = rows.T[:4]
    moved = 4.0 * (m * k + n * k + m * n)
    taken = moved + (c["written"] if d["capability"] < 8.0 else 0.0) * 4.0 * m * n
    waited = None if gpu.startswith(("a30", "rtx")) else c["waited"]
    return finished(best, moved, taken, d, c["streamed"], c["sharpness"], floor_of(gpu, True), waited)


class Fit(LawFit):
    """Of one kind of product; `law(gpu, rows, device, constants)` is seconds."""

    def __init__(self, program: str, tables: list[str], kind: str, law, constants: dict[str, float]) -> None:
        self.law, self.program = law, constants
        self.rows = products(program, tables, kind)
        self.devices = {gpu: device(program, gpu) for gpu in self.rows}

    def keys(self) -> list[str]:
        return list(self.rows)

    def name(self, key: str) -> str:
        return key

    def times(self, key: str, constants: dict[str, float]) -> np.ndarray:
        return self.law(key, self.rows[key], self.devices[key], constants)

    def off(self, key: str, constants: dict[str, float]) -> np.ndarray:
        return np.log(self.times(key, constants) / self.rows[key][:, 5])

    def apart(self, key: str) -> float:
        return float(np.abs(self.times(key, self.program) / self.rows[key][:, 6] - 1.0).max())

    def report(self, left_out: tuple[str, ...]) -> None:
        self.check()
        self.show("the program", self.program)
        self.show("all", self.fitted(self.keys()))
        for left in left_out:
            self.show(f"without {left}", self.fitted([key for key in self.keys() if not key.startswith(left)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    Fit(options.joulecast, options.tables, "linear", bound, PROGRAM).report(("NVIDIA A100", "Tesla V100", "Tesla P", "Tesla T4"))


if __name__ == "__main__":
    main()
