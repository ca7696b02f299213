#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The constants of batched FP32 products in src/predict/law.cpp and features_gemm.cpp, but Turing's.

    tools/fit/batched_products.py neusight_gemm.csv --joulecast build/release/joulecast

Prints the mean and the mean absolute log error of the bound on every GPU with the program's constants, with those fitted to all
GPUs but the T4, and with one kind of GPU at a time left out of the fit: what a generation has for itself is then the program's. The
T4's errors come in runs of rows, as its board heats up and cools down, so Turing has other constants. The tiles and Volta's
choice among them are from the kernels' names in the table; how many of the names it hits is printed first. It stops if its copy of
the law is not the program's. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import csv
import re

import fp32_products
import numpy as np

# Shares of the peak and of the bandwidth, cycles, exponents. `first steps`: of the depth, by which every tile takes longer. `few`: how
# much longer a tile of 64 x 64 or 64 x 128, of few warps, takes alone on an SM. `waited`: of what a call costs the host. `strided`: of
# the bandwidth, for rows of a left factor of depth 500, to the power `strided depth`.
PROGRAM = {"efficiency": 1.202, "efficiency pascal": 1.099, "edge": 5.73, "first steps": 8.41,
           "output volta": 0.075, "output pascal": 0.191, "few 64": 1.44, "few 128": 0.193,
           "streamed ampere": 0.917, "streamed volta": 0.885, "streamed pascal": 0.825,
           "sharpness ampere": 4.9, "sharpness volta": 2.68, "sharpness pascal": 12.1,
           "waited": 0.56, "strided": 0.371, "strided depth": 0.298, "strided aligned": 0.324}  # fmt: skip


def generation(capability: float) -> str:
    return "ampere" if capability >= 8.0 else "volta" if capability == 7.0 else "pascal"


def tiles_of(rows: np.ndarray, d: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of each product's tile."""
    batch, m, n = rows.T[:3]
    tiles = lambda high, wide: batch * np.ceil(m / high) * np.ceil(n / wide)
    at = generation(d["capability"])
    if at != "volta":
        high, wide = (128, 128) if at == "ampere" else (64, 128)
        return np.full(len(rows), float(high)), np.full(len(rows), float(wide))
    waves = tiles(32, 128) / d["sm"]
    flat, tall = waves <= 1.25, (waves > 7.8) & (tiles(128, 32) <= tiles(64, 64))
    return np.select([flat, tall], [32.0, 128.0], 64.0), np.select([flat, tall], [128.0, 32.0], 64.0)


def products_time(rows: np.ndarray, d: dict[str, float], c: dict[str, float]) -> np.ndarray:
    batch, m, n, k = rows.T[:4]
    at = generation(d["capability"])
    high, wide = tiles_of(rows, d)
    area = high * wide
    waves = np.ceil(batch * np.ceil(m / high) * np.ceil(n / wide) / d["sm"])
    few = np.select([(high == 64) & (wide == 64), area == 64 * 128], [c["few 64"], c["few 128"]], 0.0)
    few = few * np.clip((3.4 - waves) / 2.4, 0.0, 1.0)
    efficiency = c["efficiency pascal" if at == "pascal" else "efficiency"]
    reach = fp32_products.peak_of(d) / d["sm"] * efficiency / (1.0 + c["edge"] * (high + wide) / area)
    between = waves * c.get(f"output {at}", 0.0) * area
    return waves * (1.0 + few) * 2.0 * area * (8.0 * np.ceil(k / 8.0) + c["first steps"]) / reach + between / d["clock"]


def strided(depth: np.ndarray, c: dict[str, float]) -> np.ndarray:
    """How much more of the bandwidth rows of the left factor take: whole ones of `depth` numbers, a few of which are read at once."""
    more = np.maximum(0.0, (depth / 500.0) ** c["strided depth"] / c["strided"] - 1.0)
    whole = depth.astype(np.int64)
    return more * (1.0 - c["strided aligned"] * np.log2(np.minimum(64, whole & -whole)) / 6.0)


def bound(gpu: str, rows: np.ndarray, d: dict[str, float], c: dict[str, float]) -> np.ndarray:
    best = fp32_products.swept(products_time(rows, d, c), rows, d, fp32_products.PROGRAM)
    batch, m, n, k = rows.T[:4]
    moved = 4.0 * batch * (m * k + n * k + m * n)
    taken = moved + 4.0 * batch * m * k * strided(k, c)
    at = generation(d["capability"])
    host = fp32_products.floor_of(gpu, False)
    return fp32_products.finished(best, moved, taken, d, c[f"streamed {at}"], c[f"sharpness {at}"], host, c["waited"])


def named(table: str) -> float:
    """Of the V100's batched products, the share whose kernel has the name of the tile that the law takes: rows and columns the other
    way round."""
    tile, rows = [], []
    with open(table, newline="") as file:
        for row in csv.DictReader(file):
            found = re.search(r"_(\d+)x(\d+)", row["kernel"])
            if "V100" in row["gpu"] and row["op"] == "bmm" and int(row["batch"]) > 1 and found:
                tile.append([int(found[2]), int(found[1])])
                rows.append([float(row[key]) for key in ("batch", "m", "k")])
    taken = np.stack(tiles_of(np.array(rows), {"capability": 7.0, "sm": 80}), axis=1)
    return float(np.mean((taken == np.array(tile)).all(axis=1)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    fit = fp32_products.Fit(options.joulecast, [options.table], "batched", bound, PROGRAM)
    fit.rows.pop("Tesla T4", None)
    print(f"V100: {100 * named(options.table):.0f} % of the kernels' names are those of the tiles taken")
    fit.report(("NVIDIA A100", "Tesla V100", "Tesla P4", "Tesla P100"))


if __name__ == "__main__":
    main()
