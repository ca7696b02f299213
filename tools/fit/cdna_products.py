#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The constants of FP32 products by CDNA's matrix units in src/predict/law.cpp and features_gemm.cpp, from the MI100.

    tools/fit/cdna_products.py neusight_gemm.csv --joulecast build/release/joulecast

Prints how far the bound is off with the program's constants and with those that fit best without a bias. It stops if its copy of
the law is not the program's. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

import numpy as np
from fp32_products import shape_of
from scipy.optimize import minimize

TILES = [(128, 128), (128, 64), (64, 128), (64, 64), (64, 32), (32, 64), (32, 32), (16, 64), (64, 16), (16, 16)]
# Shares of the peak, cycles, an exponent.
PROGRAM = {"efficiency": 0.71, "edge": 4.085, "depth": 846, "latency": 2.98, "output": 0.403, "sharpness": 1.6}
FIXED_CYCLES, STREAMED = 1000, 0.8  # of a product, and of the bandwidth: as elementwise work has them
CALL = {"linear": 54e-6 * 0.68, "batched": 32e-6 * 0.68}  # seconds on the host (src/predict/host.cpp)


def device(program: str) -> dict[str, float]:
    text = subprocess.run([program, "gpus", "mi100", "--json"], check=True, stdout=subprocess.PIPE).stdout
    f = json.loads(text)["gpus"][0]["figures"]
    return {"sm": f["sm_count"], "clock": f["boost_clock_mhz"] * 1e6, "bandwidth": f["memory_bandwidth_gb_per_s"] * 1e9,
            "l2": f["l2_cache_mib"] * 2**20, "peak": f["fp32_tensor_tflops"] * 1e12}  # fmt: skip


def products(program: str, table: str) -> np.ndarray:
    """Batch, rows, columns, depth, seconds on the host, measured and the program's bound."""
    out = []
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows.csv"
        subprocess.run([program, "evaluate", table, "--rows", str(rows)], check=True, stdout=subprocess.DEVNULL)
        with rows.open(newline="") as file:
            for row in csv.DictReader(file):
                if "MI100" in row["gpu"] and (found := shape_of(row["subject"])):
                    out.append([*found[1], CALL[found[0]], float(row["measured"]), float(row["baseline"])])
    return np.array(out)


def bound(rows: np.ndarray, d: dict[str, float], c: dict[str, float]) -> np.ndarray:
    batch, m, n, k, host = rows[:, :5].T
    least, best = np.full(len(rows), np.inf), np.full(len(rows), np.inf)
    for high, wide in TILES:
        reach = d["peak"] / d["sm"] * c["efficiency"] / (1.0 + c["edge"] * (high + wide) / (high * wide))
        tiles = np.ceil(m / high) * np.ceil(n / wide)

        def time(count: np.ndarray) -> np.ndarray:
            waves = np.ceil(count / d["sm"])
            latency = k / 32.0 * c["depth"] / d["clock"] * np.maximum(1.0, waves / c["latency"])
            busy = np.maximum(waves * 2.0 * high * wide * k / reach, latency)
            return busy + (FIXED_CYCLES + waves * c["output"] * high * wide) / d["clock"]

        judged = time(tiles)  # of one product, whatever the batch
        best = np.where(judged < least, time(batch * tiles), best)
        least = np.minimum(least, judged)
    moved = 4.0 * batch * (m * k + n * k + m * n)
    hit = 1.0 / (1.0 + (moved / (0.6 * d["l2"])) ** 3)
    memory = d["bandwidth"] * STREAMED
    moved = moved * ((1.0 - hit) / memory + hit / max(d["sm"] * d["clock"] * 6.4, memory))
    busy = (best ** c["sharpness"] + moved ** c["sharpness"]) ** (1.0 / c["sharpness"])
    return (busy**4 + host**4) ** 0.25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    rows, d = products(options.joulecast, options.table), device(options.joulecast)
    apart = np.abs(bound(rows, d, PROGRAM) / rows[:, 6] - 1.0).max()
    if apart > 1e-6:
        raise SystemExit(f"this copy of the law differs from the program's by up to {apart:.2g}")

    def show(label: str, constants: dict[str, float]) -> None:
        off = bound(rows, d, constants) / rows[:, 5] - 1.0
        print(label, ", ".join(f"{n} {v:.3g}" for n, v in constants.items()))
        print(f"    {len(rows)} rows, MAPE {100 * np.abs(off).mean():.1f} %, bias {100 * off.mean():.1f} %")

    names, start = list(PROGRAM), np.array(list(PROGRAM.values()))
    at = lambda x: dict(zip(names, start * np.exp(x)))

    def cost(x: np.ndarray) -> float:
        ratio = bound(rows, d, at(x)) / rows[:, 5]
        wrong = np.mean(np.abs(np.log(ratio))) + 0.3 * np.mean(np.abs(ratio - 1.0)) + 0.3 * abs(np.mean(ratio - 1.0))
        return float(wrong + 0.002 * np.mean(x**2))

    show("the program", PROGRAM)
    best = np.zeros(len(names))
    for _ in range(3):
        simplex = best + np.vstack([np.zeros(len(names)), 0.4 * np.eye(len(names))])
        how = {"maxfev": 600, "xatol": 0.01, "fatol": 1e-5, "initial_simplex": simplex}
        best = minimize(cost, best, method="Nelder-Mead", options=how).x
    show("fitted", at(best))


if __name__ == "__main__":
    main()
