#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The constants of tensor products in src/predict/law.cpp, from captured products in BF16.

    tools/fit/products.py aic_gemm_bf16.csv --joulecast build/release/joulecast

Prints the mean |log error| of the bound on every GPU, with the program's constants, with those fitted to all GPUs, and with
the A100 or the RTX PRO 6000 left out of the fit. It stops if its copy of the law is not the program's. Needs numpy and scipy.
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
from scipy.optimize import minimize

from power_limit import held

TILES = [(128, 128), (128, 256), (256, 128), (64, 128), (128, 64), (64, 64), (64, 256), (256, 64)]
# src/predict/law.cpp: shares of the peak and the bandwidth, cycles, seconds a split. `wave` is a chip's whose matrix
# instructions are asynchronous, `wave_synchronous` the others'.
PROGRAM = {"efficiency": 0.88, "edge": 2.5, "depth": 59, "fixed": 134, "streamed": 1.0, "split": 3.1e-6, "wave": 210,
           "wave_synchronous": 1220}  # fmt: skip
LATENCY_WAVES, CAPTURED_CYCLES, MEMORY = 4.0, 4600.0, 0.83
A30_TF32 = 82e12 / (56 * 1.44e9)  # src/predict/device.cpp
ROWS = 1500  # of each GPU
LABEL = re.compile(r"linear (\d+)x(\d+) by (\d+)x")


def device(program: str, name: str) -> dict[str, float]:
    text = subprocess.run([program, "gpus", name, "--json"], check=True, stdout=subprocess.PIPE).stdout
    f = json.loads(text)["gpus"][0]["figures"]
    peak, clock = f["bf16_tflops"] * 1e12, f["boost_clock_mhz"] * 1e6
    easy = min(1.42, max(1.0, (A30_TF32 / (peak / (f["sm_count"] * clock))) ** 0.39))
    return {"sm": f["sm_count"], "clock": clock, "bandwidth": f["memory_bandwidth_gb_per_s"] * 1e9,
            "l2": f["l2_cache_mib"] * 2**20, "peak": peak * held(f, "bf16") * easy,
            "asynchronous": 9.0 <= float(f["compute_capability"]) < 12.0}  # fmt: skip


def products(program: str, table: str) -> dict[str, np.ndarray]:
    """Rows, depth, columns, seconds measured and the program's bound."""
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows.csv"
        subprocess.run([program, "evaluate", table, "--rows", str(rows)], check=True, stdout=subprocess.DEVNULL)
        out: dict[str, list] = {}
        with rows.open(newline="") as file:
            for row in csv.DictReader(file):
                label = LABEL.match(row["subject"])
                if label:
                    shape = [int(label[i]) for i in (1, 2, 3)]
                    out.setdefault(row["gpu"], []).append([*shape, float(row["measured"]), float(row["baseline"])])
    draw = np.random.default_rng(1)
    return {gpu: np.array(found)[draw.permutation(len(found))[:ROWS]] for gpu, found in out.items()}


def bound(rows: np.ndarray, d: dict[str, float], c: dict[str, float]) -> np.ndarray:
    m, k, n = rows[:, 0], rows[:, 1], rows[:, 2]
    wave = c["wave"] if d["asynchronous"] else c["wave_synchronous"]
    best = np.full(len(rows), np.inf)
    for high, wide in TILES:
        reach = d["peak"] / d["sm"] * c["efficiency"] / (1.0 + c["edge"] * (high + wide) / (high * wide))
        for split in (1, 2, 4, 8, 16):
            part = k / split
            waves = np.ceil(np.ceil(m / high) * np.ceil(n / wide) * split / d["sm"])
            latency = part / 32.0 * c["depth"] / d["clock"] * np.maximum(1.0, waves / LATENCY_WAVES)
            time = np.maximum(waves * 2.0 * high * wide * part / reach, latency)
            time = time + (c["fixed"] + waves * wave) / d["clock"]
            if split > 1:
                time = time + split * 4.0 * m * n / (d["bandwidth"] * c["streamed"]) + c["split"]
            best = np.minimum(best, np.where((split == 1) | (part >= 32.0), time, np.inf))
    moved = 2.0 * (m * k + n * k + m * n)
    hit = 1.0 / (1.0 + (2.0 * (m * k + m * n + 5.0 * n * k) / (0.6 * d["l2"])) ** 3)
    memory = d["bandwidth"] * MEMORY
    moved = moved * ((1.0 - hit) / memory + hit / max(d["sm"] * d["clock"] * 6.4, memory))
    return (best**1.9 + moved**1.9) ** (1.0 / 1.9) + CAPTURED_CYCLES / d["clock"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    rows = products(options.joulecast, options.table)
    devices = {gpu: device(options.joulecast, gpu) for gpu in rows}
    for gpu in rows:
        off = np.abs(bound(rows[gpu], devices[gpu], PROGRAM) / rows[gpu][:, 4] - 1.0).max()
        if off > 1e-6:
            raise SystemExit(f"{gpu}: this copy of the law differs from the program's by up to {off:.2g}")

    def error(gpu: str, constants: dict[str, float]) -> float:
        return float(np.mean(np.abs(np.log(bound(rows[gpu], devices[gpu], constants) / rows[gpu][:, 3]))))

    def fitted(gpus: list[str]) -> dict[str, float]:
        names, start = list(PROGRAM), np.array(list(PROGRAM.values()))
        at = lambda x: dict(zip(names, start * np.exp(x)))
        cost = lambda x: float(np.mean([error(gpu, at(x)) for gpu in gpus])) + 0.01 * float(np.mean(x**2))
        simplex = np.vstack([np.zeros(len(names)), 0.3 * np.eye(len(names))])
        how = {"maxiter": 600, "xatol": 0.005, "fatol": 2e-5, "initial_simplex": simplex}
        return at(minimize(cost, np.zeros(len(names)), method="Nelder-Mead", options=how).x)

    def show(label: str, constants: dict[str, float]) -> None:
        print(label, ", ".join(f"{n} {v:.3g}" for n, v in constants.items()))
        print("   ", "  ".join(f"{gpu} {100 * error(gpu, constants):.1f} %" for gpu in rows))

    show("the program", PROGRAM)
    show("all", fitted(list(rows)))
    for left in ("a100_sxm", "rtx_pro_6000_server"):
        show(f"without {left}", fitted([gpu for gpu in rows if gpu != left]))


if __name__ == "__main__":
    main()
