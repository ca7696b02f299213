#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The constants of FP32 convolutions' forward passes in src/predict/conv_simt.cpp and conv_winograd.cpp.

    tools/fit/convolutions.py neusight_conv.csv heidelberg_operations.csv --joulecast build/release/joulecast

Prints the mean and the mean absolute log error of the bound on every GPU with the program's constants, with those fitted to all GPUs
and with one GPU at a time left out of the fit. The A100 of NeuSight's convolutions has a factor of its own on what its kernels compute,
which is no part of the program: it is slower than the others by the law, and its batched products in another table are not. It stops if its copy of
the law is not the program's. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
import re
import subprocess
import tempfile

import numpy as np
from fp32_products import LOOPS, device
from law_fit import LawFit

# Microseconds: `latency` of a convolution, but for Winograd in modules and 1x1 in those on Turing, `four` and `loop` more of F(4x4) and of any in bare loops.
PROGRAM = {"hold": 0.8, "implicit": 0.985, "implicit fill": 13.8, "fused": 0.98, "fused fill": 18, "fused filters": 2.0,
           "tiled": 0.975, "transforms": 1.025, "filters": 2.28, "latency": 20.4, "four": 20.1, "loop": 20.5, "a100": 0.78,
           "p100": 0.875, "turing": 0.905, "module fused": 1.02, "module tiled": 0.98, "module transforms": 1.1,
           "module filters": 1.32, "module turing": 0.775, "module latency": 10.3, "lone": 213, "lone turing": 175, "crowded": 1.2,
           "turing 1x1": 8, "turing 1x1 streamed": 0.83}  # fmt: skip
IMPLICIT = [(128, 128, 1.0), (128, 64, 0.95), (128, 32, 0.75)]
AMPERE, TURING, VOLTA, PASCAL = [(128, 128)], [(128, 64), (64, 64), (128, 32)], [(64, 64), (32, 128), (128, 32)], [(64, 64), (32, 128)]
STREAMED = 0.79
A100 = "NVIDIA A100 80GB PCIe"
PREFERRED = 1.2  # Winograd runs in modules unless it takes so many times as long
START = {"a30-no-tensor-cores": 4.0e-6, "rtx2080ti": 1.4e-6}  # of a kernel (src/predict/device.cpp)
MODULES = ("a30-no-tensor-cores", "rtx2080ti")  # PyTorch's, and not bare loops
ROWS = 1500  # of each GPU
BARE = re.compile(r"conv (\d+)x(\d+)x(\d+)x(\d+) by (\d+)x\d+x(\d+)x(\d+), stride (\d+), padding (\d+)")
MODULE = re.compile(
    r"Conv2d\((\d+), (\d+), kernel_size=\((\d+), (\d+)\), stride=\((\d+), \d+\)(?:, padding=\((\d+), (\d+)\))?(, bias=0)?\) (\d+)x\d+x(\d+)x(\d+)$"
)
COLUMNS = ("batch", "cin", "high", "wide", "cout", "kh", "kw", "stride", "ph", "pw", "bias", "measured", "baseline")


def shape_of(subject: str) -> list[float] | None:
    """The first of COLUMNS; None for groups, gaps, layers on images and products of vectors, which have constants of their own."""
    if found := BARE.match(subject):
        n, cin, h, w, cout, kh, kw, stride, pad = (int(x) for x in found.groups())
        return [n, cin, h, w, cout, kh, kw, stride, pad, pad, 0]
    if found := MODULE.match(subject):
        cin, cout, kh, kw, stride = (int(x) for x in found.groups()[:5])
        ph, pw = (int(x or 0) for x in found.groups()[5:7])
        n, h, w = (int(x) for x in found.groups()[8:])
        return [n, cin, h, w, cout, kh, kw, stride, ph, pw, found[8] is None] if cin > 4 and h * w > 1 else None
    return None


def convolutions(program: str, tables: list[str]) -> dict[str, dict[str, np.ndarray]]:
    out: dict[str, list] = {}
    for table in tables:
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder) / "rows.csv"
            subprocess.run([program, "evaluate", table, "--rows", str(rows)], check=True, stdout=subprocess.DEVNULL)
            with rows.open(newline="") as file:
                for row in csv.DictReader(file):
                    wanted = row["quantity"] == "time" and row["mode"] == "inference" and row["gpu"] != "a30"
                    if wanted and (shape := shape_of(row["subject"])):
                        out.setdefault(row["gpu"], []).append([*shape, float(row["measured"]), float(row["baseline"])])
    draw = np.random.default_rng(1)
    picked = {gpu: np.array(found)[draw.permutation(len(found))[:ROWS]] for gpu, found in sorted(out.items())}
    return {gpu: dict(zip(COLUMNS, rows.T)) for gpu, rows in picked.items()}


def joined(a: np.ndarray, b: np.ndarray, p: float) -> np.ndarray:
    return (a**p + b**p) ** (1.0 / p)


def memory_time(moved: np.ndarray, d: dict[str, float], streamed: float) -> np.ndarray:
    hit = 1.0 / (1.0 + (moved / (0.6 * d["l2"])) ** 3)
    memory = d["bandwidth"] * streamed
    return moved * ((1.0 - hit) / memory + hit / max(d["sm"] * d["clock"] * 6.4, memory))


def tiles_of(capability: float) -> list[tuple[int, int]]:
    return AMPERE if capability >= 8.0 else VOLTA if capability == 7.0 else TURING if capability > 7.0 else PASCAL


def tiled(r: dict[str, np.ndarray], places: tuple[np.ndarray, np.ndarray], d: dict[str, float], c: dict[str, float], sm_rate: float):
    """36 products over squares of 4 x 4 places; the batch is a multiple of 16."""
    squares = 16.0 * np.ceil(r["batch"] / 16.0) * np.ceil(places[0] / 4.0) * np.ceil(places[1] / 4.0)
    cin, cout = r["cin"], r["cout"]
    depth = 8.0 * np.ceil(cin / 8.0)
    stored = 0.33 if 0.0 < d["capability"] < 7.0 else 0.152
    products = np.full(len(cin), np.inf)
    for high, wide in tiles_of(d["capability"]):
        reach = sm_rate * c["tiled"] * 1.47 / (1.0 + 23 * (high + wide) / (high * wide))
        waves = np.ceil(36.0 * np.ceil(squares / high) * np.ceil(cout / wide) / d["sm"])
        few = 0.8 * np.clip((4.0 - waves) / 2.0, 0.0, 1.0) if high * wide <= 4096 else 0.0
        latency = depth / 32.0 * 40 / d["clock"] * np.maximum(1.0, waves / 13.0)
        work = np.maximum(waves * (1.0 + few) * 2.0 * high * wide * depth / reach, latency)
        products = np.minimum(products, work + (240 + waves * stored * high * wide) / d["clock"])
    moved = memory_time(4.0 * 36.0 * (squares * (cin + cout) + cin * cout), d, 0.84)
    numbers_in = r["batch"] * r["high"] * r["wide"] * cin + 36.0 * squares * cin
    numbers_out = r["batch"] * places[0] * places[1] * cout + 36.0 * squares * cout
    streamed = (0.875 if d["capability"] >= 8.0 else 0.925) / c["transforms"]
    transforms = sum(memory_time(4.0 * n, d, streamed) for n in (numbers_in, numbers_out))
    filters = memory_time(4.0 * 45.0 * cin * cout, d, 1.0 / c["filters"])
    return joined(products, moved, 2.95) + transforms + filters


def fused(r: dict[str, np.ndarray], places: tuple[np.ndarray, np.ndarray], d: dict[str, float], c: dict[str, float], sm_rate: float, moved):
    high, wide = np.ceil(places[0] / 2.0), np.ceil(places[1] / 2.0)
    blocks = r["batch"] * np.ceil(high / 4.0) * np.ceil(wide / 8.0)
    if d["capability"] < 7.0 or (d["modules"] and d["capability"] >= 8.0):
        blocks = np.minimum(blocks, np.ceil(r["batch"] / 2.0) * np.ceil(high / 4.0) * np.ceil(wide / 4.0))
    depth = 8.0 * np.ceil(r["cin"] / 8.0) + c["fused fill"]
    reach = sm_rate * c["fused"] * (c["turing"] if d["capability"] == 7.5 else 1.0)
    products = np.ceil(blocks * np.ceil(r["cout"] / 32.0) / d["sm"]) * 2.0 * 16 * 32 * 32 * depth / reach
    return joined(products, moved, 4.0 / 3.0) + c["fused filters"] * 100.0 * r["cin"] * r["cout"] / d["bandwidth"]


def implicit(r: dict[str, np.ndarray], places: tuple[np.ndarray, np.ndarray], d: dict[str, float], c: dict[str, float], sm_rate: float, moved):
    depth = 8.0 * np.ceil(r["cin"] * r["kh"] * r["kw"] / 8.0) + c["implicit fill"]
    rows = r["batch"] * places[0] * places[1]
    work = [np.ceil(np.ceil(rows / h) * np.ceil(r["cout"] / w) / d["sm"]) * 2.0 * h * w / e for h, w, e in IMPLICIT]
    products = np.min(work, axis=0) * depth / (sm_rate * c["implicit"])
    longest, shortest = np.maximum(r["kh"], r["kw"]), np.minimum(r["kh"], r["kw"])
    square = (shortest >= 5) & (shortest == longest) & (r["stride"] == 1)
    other = np.where(square | ((longest >= 5) & (shortest == 1)), 1.5, 1.0)  # FFT, and kernels for 1x7 and 7x1
    products = strided(r, rows, d, c, products / other) if d["modules"] else products / other
    quick = joined(products, moved * STREAMED / c["turing 1x1 streamed"], 8.0)
    return np.where(is_turing_one_by_one(r, d), quick, joined(products, moved, 4.0))


def is_turing_one_by_one(r: dict[str, np.ndarray], d: dict[str, float]) -> np.ndarray:
    return (r["kh"] == 1) & (r["kw"] == 1) & d["modules"] & (d["capability"] == 7.5)


def strided(r: dict[str, np.ndarray], rows: np.ndarray, d: dict[str, float], c: dict[str, float], usual: np.ndarray) -> np.ndarray:
    """3x3 with padding and a stride of two, where a tile of 128 x 64 takes so many cycles for a number of depth."""
    it = (r["kh"] == 3) & (r["kw"] == 3) & (r["stride"] == 2) & (r["ph"] > 0)
    depth = 9.0 * r["cin"] / d["clock"]
    if d["capability"] < 8.0:
        return np.where(it, np.maximum(usual, c["lone turing"] * depth), usual)
    tiles, wide = (np.ceil(rows / 128.0) * np.ceil(r["cout"] / columns) / d["sm"] for columns in (64.0, 128.0))
    slow = it & ((r["cout"] <= 128) | (wide < 1.0))
    return np.where(slow, c["lone"] * depth * np.maximum(1.0, c["crowded"] * tiles), usual)


def bound(gpu: str, r: dict[str, np.ndarray], d: dict[str, float], c: dict[str, float]) -> np.ndarray:
    modules = gpu in MODULES
    d = {**d, "modules": modules}
    start = 1e-6 * (c["latency"] + c["four"])
    fused_start = 1e-6 * c["latency"]
    if modules:
        c = {**c, **{name: c[f"module {name}"] for name in ("fused", "tiled", "transforms", "filters", "turing")}}
        start, fused_start = 4.0 * START[gpu], 1e-6 * c["module latency"]
    places = ((r["high"] + 2 * r["ph"] - r["kh"]) // r["stride"] + 1, (r["wide"] + 2 * r["pw"] - r["kw"]) // r["stride"] + 1)
    sm_rate = d["peak"] * d["held"] ** c["hold"] / d["sm"] * (c["a100"] if gpu == A100 else 1.0)
    sm_rate *= c["p100"] if d["capability"] == 6.0 else 1.0
    weights = r["cin"] * r["cout"] * r["kh"] * r["kw"]
    out = r["batch"] * places[0] * places[1] * r["cout"]
    moved = 4.0 * (r["batch"] * r["high"] * r["wide"] * r["cin"] + out + weights) / d["bandwidth"] / STREAMED
    winograd = (r["kh"] == 3) & (r["kw"] == 3) & (r["stride"] == 1)
    fastest = np.minimum(fused(r, places, d, c, sm_rate, moved) + fused_start, tiled(r, places, d, c, sm_rate) + start)
    latency = np.where(is_turing_one_by_one(r, d), c["turing 1x1"], c["latency"])
    plain = implicit(r, places, d, c, sm_rate, moved) + 1e-6 * latency
    takes = winograd & (fastest < (PREFERRED if modules else 1.0) * plain)
    busy = np.where(takes, fastest, plain) + r["bias"] * 2.2 * 4.0 * out / d["bandwidth"]
    if gpu.startswith("a30"):
        return joined(busy, 26.5e-6 + 16e-6 * r["bias"], 8.0)
    if gpu == "rtx2080ti":
        second = (r["kh"] == 1) & (r["kw"] == 1) & (r["stride"] > 1) & (places[0] * places[1] > 1)  # kernel
        return joined(busy, 75e-6 + 37e-6 * r["bias"] + 19e-6 * second, 8.0)
    return busy + c["loop"] * 1e-6 * LOOPS.get(gpu, 1.0)


class Fit(LawFit):
    program = PROGRAM
    evaluations = 4000

    def __init__(self, program: str, tables: list[str]) -> None:
        self.rows = convolutions(program, tables)
        self.devices = {gpu: device(program, gpu) for gpu in self.rows}

    def keys(self) -> list[str]:
        return list(self.rows)

    def name(self, key: str) -> str:
        return key

    def off(self, key: str, constants: dict[str, float]) -> np.ndarray:
        return np.log(bound(key, self.rows[key], self.devices[key], constants) / self.rows[key]["measured"])

    def apart(self, key: str) -> float:
        own = {**PROGRAM, "a100": 1.0}
        return float(np.abs(bound(key, self.rows[key], self.devices[key], own) / self.rows[key]["baseline"] - 1.0).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    fit = Fit(options.joulecast, options.tables)
    fit.check()
    fit.show("the program", PROGRAM)
    fit.show("all", fit.fitted(fit.keys()))
    for gpu in fit.keys():
        fit.show(f"without {gpu}", fit.fitted([key for key in fit.keys() if key != gpu]))


if __name__ == "__main__":
    main()
