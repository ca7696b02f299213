#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The constants of FP32 products in src/predict/law.cpp and features_gemm.cpp, of linear layers and of batched products.

    tools/fit/fp32_products.py neusight_gemm.csv heidelberg_operations.csv --joulecast build/release/joulecast

Prints the mean and the mean absolute log error of the bound on every GPU with the program's constants, with those fitted to all
GPUs, and with one kind of GPU at a time left out of the fit (the P100's own constants stay); and for each GPU which tiles a batched product is best explained by. It
stops if its copy of the law is not the program's. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import csv
import itertools
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
P100 = [(128, 32)]  # linear layers
AMPERE, TURING, VOLTA, PASCAL = [(128, 128)], [(64, 128), (64, 64), (32, 128)], [(128, 32), (64, 64)], [(64, 128)]
ALL = [(128, 128), (128, 64), (64, 128), (64, 64), (32, 128), (128, 32), (32, 64), (64, 32), (32, 32)]
# Shares of the peak and of the bandwidth, cycles, exponents. `long`, before Ampere, and `short`: of the clock that the power limit
# leaves, how much more long calls of a sweep lose and how much less those that take less than `short time` seconds.
# `strided`: of the bandwidth, for rows of a left factor of depth 500, to the power `strided depth`. `few`: of small tiles
# while less than four are on an SM. `deep`: of Pascal's linear layers.
PROGRAM = {"efficiency": 1.19, "edge": 10.5, "depth": 45.3, "fixed": 268, "latency": 12.7, "output": 0.097,
           "sharpness": 1.46, "streamed": 0.84, "batched output": 0.152, "batched output pascal": 0.33,
           "batched sharpness": 18, "batched sharpness volta": 4.3, "batched streamed": 0.78,
           "long": 0.37, "short": 0.98, "short ampere": 0.36, "short time": 2.5e-3,
           "strided": 0.42, "strided depth": 0.24, "strided aligned": 0.57, "few": 0.8, "p100 efficiency": 1.0,
           "deep p100": 0.73, "deep": 0.25, "deep from": 9720, "deep rows": 0.44}  # fmt: skip
HOLD = 1.34  # before Ampere: of the clock that the power limit leaves, in networks
BATCHED = {"efficiency": 1.47, "edge": 23, "depth": 40, "fixed": 240, "latency": 13}  # convolutions by Winograd have them too
ROWS = 1500  # of each GPU and kind
LINEAR_LABEL = re.compile(r"linear (\d+)x(\d+) by (\d+)x")
MODULE_LABEL = re.compile(r"Linear\(in_features=(\d+), out_features=(\d+), bias=\w+\) ([\dx]+)x")
BATCHED_LABEL = re.compile(r"matmul (\d+)x(\d+)x(\d+) by \d+x\d+x(\d+)")
# How slow the machines of NeuSight's loops are (src/predict/measured_work.cpp).
LOOPS = {"Tesla V100-PCIE-32GB": 1.24, "Tesla P100-PCIE-16GB": 1.65}


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
            "peak": f["fp32_tflops"] * 1e12 * fed(capability), "held": held(f, "fp32"), "capability": capability}  # fmt: skip


def floor_of(gpu: str, linear: bool) -> tuple[float, float]:
    """Seconds that a call costs the host (src/predict/host.cpp), and how sharply they meet the GPU's time."""
    if gpu.startswith("a30"):
        return 26.5e-6, 4.0
    if gpu == "rtx2080ti":
        return 73e-6, 4.0  # in training state
    return (54e-6 if linear else 32e-6) * LOOPS.get(gpu, 1.0), 1.3


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


def products(program: str, tables: list[str]) -> dict[tuple[str, str], np.ndarray]:
    """By GPU and kind: batch, rows, columns, depth, whether of a sweep, seconds measured and the program's bound; of those that keep
    the GPU busy."""
    out: dict[tuple[str, str], list] = {}
    for table in tables:
        swept = swept_lines(table)
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder) / "rows.csv"
            subprocess.run([program, "evaluate", table, "--rows", str(rows)], check=True, stdout=subprocess.DEVNULL)
            with rows.open(newline="") as file:
                for row in csv.DictReader(file):
                    wanted = row["quantity"] == "time" and row["mode"] == "inference" and "other-" not in row["cautions"]
                    found = shape_of(row["subject"])
                    if not found or not wanted or "MI100" in row["gpu"]:
                        continue
                    kind, shape = found
                    if float(row["measured"]) > 3.0 * floor_of(row["gpu"], kind == "linear")[0]:
                        times = [float(row["measured"]), float(row["baseline"])]
                        out.setdefault((row["gpu"], kind), []).append([*shape, row["line"] in swept, *times])
    draw = np.random.default_rng(1)
    return {key: np.array(found)[draw.permutation(len(found))[:ROWS]] for key, found in sorted(out.items())}


def tiles_of(kind: str, capability: float) -> list[tuple[int, int]]:
    if kind == "linear":
        return P100 if capability == 6.0 else LINEAR
    return AMPERE if capability >= 8.0 else TURING if capability > 7.0 else VOLTA if capability == 7.0 else PASCAL


def constants_of(linear: bool, capability: float, constants: dict[str, float]) -> dict[str, float]:
    if not linear:
        volta = 7.0 <= capability < 8.0
        output = constants["batched output pascal" if capability < 7.0 else "batched output"]
        sharpness = constants["batched sharpness volta" if volta else "batched sharpness"]
        return BATCHED | {"output": output, "sharpness": sharpness, "streamed": constants["batched streamed"]}
    c = dict(constants)
    if capability == 6.0:
        c["efficiency"] = constants["p100 efficiency"]
    return c


def deeper(rows: np.ndarray, capability: float, constants: dict[str, float]) -> np.ndarray:
    """How much longer Pascal's linear layers take, whose rows lie far apart."""
    slope = constants["deep p100" if capability == 6.0 else "deep"]
    apart = rows[:, 3] * (rows[:, 1] / 1000.0) ** constants["deep rows"]
    return 1.0 + slope * np.log(np.maximum(1.0, apart / constants["deep from"]))


def products_time(kind: str, rows: np.ndarray, d: dict[str, float], constants: dict[str, float], tiles) -> np.ndarray:
    linear = kind == "linear"
    c = constants_of(linear, d["capability"], constants)
    batch, m, n, k = rows.T[:4]
    peak = d["peak"] * d["held"] ** (1.0 if d["capability"] >= 8.0 else HOLD)
    best = np.full(len(rows), np.inf)
    for high, wide in tiles or tiles_of(kind, d["capability"]):
        reach = peak / d["sm"] * c["efficiency"] / (1.0 + c["edge"] * (high + wide) / (high * wide))
        for split in (1, 2, 4, 8, 16) if linear else (1,):
            part = k / split if linear else 8.0 * np.ceil(k / 8.0)
            waves = np.ceil(batch * np.ceil(m / high) * np.ceil(n / wide) * split / d["sm"])
            few = 0.0 if linear or high * wide > 4096 else constants["few"]
            latency = part / 32.0 * c["depth"] / d["clock"] * np.maximum(1.0, waves / c["latency"])
            time = waves * (1.0 + few * np.clip((4.0 - waves) / 2.0, 0.0, 1.0)) * 2.0 * high * wide * part / reach
            time = np.maximum(time, latency) + (c["fixed"] + waves * c["output"] * high * wide) / d["clock"]
            if split > 1:
                time = time + split * 4.0 * m * n / d["bandwidth"] + 3.1e-6
            best = np.minimum(best, np.where((split == 1) | (part >= 32.0), time, np.inf))
    return best * deeper(rows, d["capability"], constants) if linear and d["capability"] < 7.0 else best


def strided(depth: np.ndarray, constants: dict[str, float]) -> np.ndarray:
    """How much more of the bandwidth rows of the left factor take: whole ones of `depth` numbers, a few of which are read at once."""
    more = np.maximum(0.0, (depth / 500.0) ** constants["strided depth"] / constants["strided"] - 1.0)
    whole = depth.astype(np.int64)
    return more * (1.0 - constants["strided aligned"] * np.log2(np.minimum(64, whole & -whole)) / 6.0)


def bound(key: tuple[str, str], rows: np.ndarray, d: dict[str, float], constants: dict[str, float], tiles=None) -> np.ndarray:
    gpu, kind = key
    linear, ampere = kind == "linear", d["capability"] >= 8.0
    c = constants_of(linear, d["capability"], constants)
    best = products_time(kind, rows, d, constants, tiles)
    short = constants["short ampere" if ampere else "short"] / (1.0 + (best / constants["short time"]) ** 1.5)
    best = best * d["held"] ** (rows[:, 4] * (short - (0.0 if ampere else constants["long"])))
    batch, m, n, k = rows.T[:4]
    more = np.zeros(len(rows)) if linear else strided(k, constants)
    moved, taken = 4.0 * batch * (m * k + n * k + m * n), 4.0 * batch * (m * k * (1.0 + more) + n * k + m * n)
    hit = 1.0 / (1.0 + (moved / (0.6 * d["l2"])) ** 3)
    memory = d["bandwidth"] * c["streamed"]
    taken = taken * ((1.0 - hit) / memory + hit / max(d["sm"] * d["clock"] * 6.4, memory))
    busy = (best ** c["sharpness"] + taken ** c["sharpness"]) ** (1.0 / c["sharpness"])
    host, sharpness = floor_of(gpu, linear)
    return (busy**sharpness + host**sharpness) ** (1.0 / sharpness)


class Fit(LawFit):
    program = PROGRAM

    def __init__(self, program: str, tables: list[str]) -> None:
        self.rows = products(program, tables)
        self.devices = {key: device(program, key[0]) for key in self.rows}

    def keys(self) -> list[tuple[str, str]]:
        return list(self.rows)

    def name(self, key: tuple[str, str]) -> str:
        return f"{key[0]:24} {key[1]}"

    def off(self, key: tuple[str, str], constants: dict[str, float], tiles=None) -> np.ndarray:
        return np.log(bound(key, self.rows[key], self.devices[key], constants, tiles) / self.rows[key][:, 5])

    def apart(self, key: tuple[str, str]) -> float:
        return float(np.abs(bound(key, self.rows[key], self.devices[key], PROGRAM) / self.rows[key][:, 6] - 1.0).max())

    def show_tiles(self, constants: dict[str, float]) -> None:
        """Sets of up to three tiles, judged beside the GPU's own factor."""
        for key in self.rows:
            if key[1] != "batched":
                continue
            found = []
            for count in (1, 2, 3):
                for tiles in itertools.combinations(ALL, count):
                    off = self.off(key, constants, tiles)
                    found.append((float(np.mean(np.abs(off - np.median(off)))), tiles))
            print(f"{key[0]}: " + ", ".join(f"{100 * off:.1f} % {tiles}" for off, tiles in sorted(found)[:3]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    fit = Fit(options.joulecast, options.tables)
    fit.check()
    fit.show("the program", PROGRAM)
    fit.show("all", fit.fitted(fit.keys()))
    for left in ("NVIDIA A100", "Tesla V100", "Tesla P", "Tesla T4"):
        fit.show(f"without {left}", fit.fitted([key for key in fit.keys() if not key[0].startswith(left)]))
    fit.show_tiles(PROGRAM)


if __name__ == "__main__":
    main()
