#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The constants of captured products in FP8 and NVFP4 in src/predict/quantised_products.cpp.

    tools/fit/quantised_products.py aic_gemm_fp8.csv aic_power_gemm_h200_sxm.csv aic_power_gemm_b200_sxm.csv \\
        --joulecast build/release/joulecast

Prints, for each kernel, the mean and the mean absolute log error of the bound on every GPU that runs it, with the program's
constants and with those fitted; of kernels of several GPUs also with one GPU at a time left out of the fit. It stops if its copy
of the law is not the program's. Needs numpy and scipy.
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
from power_limit import held

ROWS = 3000  # of each GPU and kernel
LINES = 20000  # of a table
FEW = 256  # rows, up to which SGLang and vLLM take the smaller tile
NAMES = ["start", "product", "wave", "step", "quantised", "streamed", "row"]  # `row` is of FP4 alone
# Rows and columns of a tile; constants in the order of the program's struct. `start` of vLLM's blocks is the host's, in seconds.
KERNELS = {
    "sglang hopper few": (64, 64, [8730, 0.938, 1740, 230, 1.86, 0.746]),
    "sglang hopper": (128, 128, [11600, 1.38, 175, 200, 1.35, 0.599]),
    "sglang blackwell few": (128, 64, [9530, 1.11, 1300, 172, 2.49, 0.815]),
    "sglang blackwell": (128, 128, [11800, 1.33, 26.9, 200, 1.31, 0.421]),
    "sglang synchronous": (128, 128, [10500, 0.978, 2540, 200, 1.09, 1.05]),
    "trtllm": (64, 64, [27400, 1.16, 10.3, 90.4, 3.02, 0.593]),
    "trtllm blocks": (128, 64, [15900, 0.62, 10.3, 219, 4.03, 0.444]),
    "vllm blocks": (64, 64, [90e-6, 0.72, 10, 211, 1.3, 1.0]),
    "vllm fp4 few": (128, 128, [12000, 0.668, 1370, 84, 1.2, 0.621, 335]),
    "vllm fp4": (128, 128, [11200, 1.11, 608, 84, 1.35, 0.773, 238]),
    "trtllm fp4": (128, 256, [9910, 0.979, 1290, 84, 2.07, 0.503, 239]),
}
FIGURES = {"fp8": "fp8_tflops", "nvfp4": "fp4_tflops"}
LABEL = re.compile(r"linear (\d+)x(\d+) by (\d+)x")


def device(program: str, name: str, precision: str) -> dict[str, float]:
    text = subprocess.run([program, "gpus", name, "--json"], check=True, stdout=subprocess.PIPE).stdout
    f = json.loads(text)["gpus"][0]["figures"]
    clock, peak = f["boost_clock_mhz"] * 1e6, f[FIGURES[precision]] * 1e12 * held(f, precision)
    capability = float(f["compute_capability"])
    bandwidth = f["memory_bandwidth_gb_per_s"] * 1e9
    if f["memory_type"].startswith("GDDR") and f.get("memory_total_mib", 1e9) * 2**20 < 0.945 * 2**30 * f["memory_gb"]:
        bandwidth *= 0.91  # codes of error correction stand between the data
    kind = "synchronous" if capability >= 12 or capability < 9 else "blackwell" if capability >= 10 else "hopper"
    return {"sm": f["sm_count"], "clock": clock, "bandwidth": bandwidth, "l2": f["l2_cache_mib"] * 2**20,
            "rate": peak / f["sm_count"] / clock, "kind": kind, "fp4": precision == "nvfp4"}  # fmt: skip


def kernel_of(row: dict[str, str], kind: str, rows: int) -> str:
    """`row` is the table's."""
    engine, blocks = row.get("framework", "sglang"), row.get("dtype") == "fp8_block"
    if blocks:
        return f"{engine} blocks"
    if row.get("dtype") == "nvfp4":
        return f"{engine} fp4{' few' if rows <= FEW and engine != 'trtllm' else ''}"
    if engine == "trtllm":
        return engine
    return f"sglang {kind}{' few' if rows <= FEW and kind != 'synchronous' else ''}"


def law(r: np.ndarray, d: dict[str, float], tile: tuple, c: dict[str, float]) -> np.ndarray:
    high, wide, beside = tile
    m, k, n = r[:, 0], r[:, 1], r[:, 2]
    steps = np.ceil(k / 128.0)
    each = np.maximum(2.0 * high * wide * 128.0 * steps / d["rate"] * c["product"], steps * c["step"])
    tiled = np.ceil(np.ceil(m / high) * np.ceil(n / wide) / d["sm"]) * (each + c["wave"]) / d["clock"]
    size, copies = (0.5625, 1.0) if d["fp4"] else (1.0, 5.0)
    hit = 1.0 / (1.0 + ((size * (m * k + copies * n * k) + 2.0 * m * n) / (0.6 * d["l2"])) ** 3)
    memory = d["bandwidth"] * c["streamed"]
    moved = (size * (m * k + n * k) + 2.0 * m * n) * ((1.0 - hit) / memory + hit / np.maximum(d["sm"] * d["clock"] * 6.4, memory))
    quantise = c["quantised"] * (2.0 + size) * m * k / d["bandwidth"]
    quantise = np.maximum(quantise, np.ceil(m / d["sm"]) * c.get("row", 0.0) / d["clock"])
    busy = (tiled**1.9 + moved**1.9) ** (1.0 / 1.9) + quantise
    return (busy**4 + c["start"] ** 4) ** 0.25 if beside else busy + c["start"] / d["clock"]


def fits(program: str, tables: list[pathlib.Path]) -> list[KernelFit]:
    devices: dict[str, dict] = {}
    grouped: dict[str, dict[str, list]] = {}
    for table in tables:
        with tempfile.TemporaryDirectory() as name:
            small, rows = sample(table, pathlib.Path(name), LINES), pathlib.Path(name) / "rows.csv"
            subprocess.run([program, "evaluate", small, "--rows", rows], check=True, stdout=subprocess.DEVNULL)
            with small.open(newline="") as file:
                sources = list(csv.DictReader(file))
            with rows.open(newline="") as file:
                for row in csv.DictReader(file):
                    label = LABEL.match(row["subject"])
                    if row["quantity"] != "time" or row["precision"] not in FIGURES or not label:
                        continue
                    gpu = row["gpu"] if row["precision"] == "fp8" else f"{row['gpu']} {row['precision']}"
                    if gpu not in devices:
                        devices[gpu] = device(program, row["gpu"], row["precision"])
                    d = devices[gpu]
                    shape = [int(label[i]) for i in (1, 2, 3)]
                    kernel = kernel_of(sources[int(row["line"]) - 2], d["kind"], shape[0])
                    times = [float(row["measured"]), float(row["baseline"])]
                    grouped.setdefault(kernel, {}).setdefault(gpu, []).append([*shape, *times])
    out = []
    for kernel, by_gpu in sorted(grouped.items()):
        high, wide, constants = KERNELS[kernel]
        found = {gpu: np.array(rows[:ROWS], dtype=float) for gpu, rows in by_gpu.items()}
        tile = (high, wide, kernel == "vllm blocks")
        out.append(KernelFit(kernel, law, tile, dict(zip(NAMES, constants)), found, devices))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=pathlib.Path)
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    show_all(fits(options.joulecast, options.tables))


if __name__ == "__main__":
    main()
