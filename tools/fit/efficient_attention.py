#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The constants of PyTorch's "memory-efficient" attention in src/predict/attention_kernels.cpp (kEfficient...), of its way forward.

    tools/fit/efficient_attention.py timings.csv --joulecast build/release/joulecast

`timings.csv` is plain CSV (docs/formats/measurements.md) of single calls, in FP32 or FP16, from Ampere on with a mask of one row,
without which FP16 has another kernel there:

    name,gpu,mode,precision,runtime,operator,operands,attributes,time_s
    b,a100-sxm4-40gb,inference,fp32,pytorch-eager,attention,"f32[64, 16, 1024, 64]; f32[64, 16, 1024, 64]; f32[64, 16, 1024, 64]",causal = true,0.0056018

The constants come from 79 such rows of an A100, a V100 SXM2 and a Quadro GP100 (as p100-sxm2-16gb) that the kernels' authors
published with their changes, https://github.com/facebookresearch/xformers/pull/434, 439, 480 and 587 and
https://github.com/NVIDIA/cutlass/pull/992; of several versions the last.
Prints, for each kernel, the mean and the mean absolute log error of the bound with the program's constants and with those fitted. It
stops if its copy of the law is not the program's. Needs numpy and scipy.
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
from fp32_products import device as plain_device
from law_fit import KernelFit, show_all
from power_limit import held

# Queries and keys of a tile, what heads are filled up to, and constants.
NAMES = ["product", "softmax", "prologue"]
KERNELS = {
    "tf32": (64, 64, 32, [0.63, 0.943, 100]),
    "tf32 wide": (32, 128, 128, [1.88, 0, 140]),
    "fp32": (64, 64, 32, [0.81, 1.17, 110]),
    "fp32 wide": (32, 128, 128, [1.22, 0, 600]),
    "volta": (64, 64, 32, [0.98, 0.603, 920]),
    "volta wide": (32, 128, 128, [2.9, 0, 300]),
    "ampere": (64, 64, 32, [0.61, 0.315, 150]),
    "ampere wide": (32, 128, 128, [1.67, 0.21, 300]),
}
LAUNCH, TAIL, STREAMED = 10000, 0.5, 2.0  # the same for all, and not fitted
HOST = 17e-6  # what a call costs, joined with the kernel's time
WIDE = 64  # heads up to there have the first kernel
BATCH, LENGTH, WIDTH, CAUSAL, BYTES = range(5)
SHAPE = re.compile(r"f(\d+)\[(\d+), (\d+), (\d+), (\d+)\]")


def kernel_of(shape: list[float], d: dict[str, float]) -> str:
    newer = d["capability"] >= 8.0
    kind = ("ampere" if newer else "volta") if shape[BYTES] == 2 else "tf32" if newer else "fp32"
    return kind + (" wide" if shape[WIDTH] > WIDE else "")


def device(program: str, name: str) -> dict[str, float]:
    d = plain_device(program, name)
    text = subprocess.run([program, "gpus", name, "--json"], check=True, stdout=subprocess.PIPE).stdout
    f = json.loads(text)["gpus"][0]["figures"]
    older = d["peak"] * d["held"] ** 1.34
    rates = {2: f["fp16_tflops"] * 1e12 * held(f, "fp16"), 4: older}
    if d["capability"] >= 8.0:
        rates[4] = f["tf32_tflops"] * 1e12 * held(f, "tf32") / 3.0  # three products stand for one in FP32
    cycles = d["sm"] * d["clock"]
    return {**d, "rates": {size: rate / cycles for size, rate in rates.items()}}


def law(rows: np.ndarray, d: dict, tile: tuple, c: dict[str, float]) -> np.ndarray:
    high, keys, filled = tile
    batch, length, width, causal, size = rows[:, :5].T
    rate = np.array([d["rates"][int(s)] for s in size])
    block = high * keys * (c["product"] * 4.0 * filled * np.ceil(width / filled) / rate + c["softmax"])
    all_blocks, whole = np.ceil(length / keys), np.floor(length / keys)
    before = (keys * whole * (whole + 1) / 2 + (length - whole * keys) * (whole + 1)) / length
    before = before + np.where(length > high, max(0.0, high / keys - 1.0) / 2.0, 0.0)
    seen = np.where(causal > 0, np.minimum(all_blocks, before), all_blocks)
    tiles = batch * np.ceil(length / high) / d["sm"]
    longest = all_blocks * block + c["prologue"]
    compute = np.maximum(tiles * (seen * block + c["prologue"]) + TAIL * longest * np.minimum(1.0, tiles), longest) / d["clock"]
    mask = np.where((size == 2) & (d["capability"] >= 8.0), length, 0.0)
    moved = (4.0 * batch * length * width + mask) * size / (d["bandwidth"] * STREAMED)
    return ((compute + moved + LAUNCH / d["clock"]) ** 4 + HOST**4) ** 0.25


def fits_of(program: str, table: pathlib.Path) -> list[KernelFit]:
    grouped: dict[str, dict[str, list]] = {}
    devices: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as name:
        found = pathlib.Path(name) / "rows.csv"
        subprocess.run([program, "evaluate", table, "--rows", found], check=True, stdout=subprocess.DEVNULL)
        with table.open(newline="") as file:
            given = list(csv.DictReader(file))
        with found.open(newline="") as file:
            for row in csv.DictReader(file):
                asked = given[int(row["line"]) - 2]
                bits, batch, heads, length, width = map(int, SHAPE.match(asked["operands"]).groups())
                shape = [batch * heads, length, width, "causal = true" in asked["attributes"], bits // 8]
                d = devices.setdefault(row["gpu"], device(program, row["gpu"]))
                rows = grouped.setdefault(kernel_of(shape, d), {}).setdefault(row["gpu"], [])
                rows.append([*shape, float(row["measured"]), float(row["baseline"])])
    out = []
    for kernel, by_gpu in sorted(grouped.items()):
        *tile, values = KERNELS[kernel]
        rows = {gpu: np.array(of_gpu, dtype=float) for gpu, of_gpu in by_gpu.items()}
        out.append(KernelFit(kernel, law, tuple(tile), dict(zip(NAMES, values)), rows, devices))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    show_all(fits_of(options.joulecast, options.table))


if __name__ == "__main__":
    main()
